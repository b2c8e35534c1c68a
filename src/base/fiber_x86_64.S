/* The fiber switch for x86-64 (System V ABI). base/fiber.c says how it is used.
 *
 * A suspended context is its stack pointer; what it points at, from there upwards:
 *
 *     0  mxcsr (4 bytes), x87 control word (2), unused (2)
 *     8  r15  r14  r13  r12  rbx  rbp
 *    56  where to go on
 */

        .text

/* bool lt_fiber_switch(void **save_sp, void *load_sp, unsigned *mark, unsigned value)
 *
 * The call frame information holds on both sides of the change of rsp, because both stacks have the same layout there.
 *
 * It goes on by a jump: a `ret` would be predicted to go back to where this was called, and be wrong every time (7 ns). */
        .globl  lt_fiber_switch
        .hidden lt_fiber_switch
        .type   lt_fiber_switch, @function
        .balign 16
lt_fiber_switch:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)

        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        movl    %ecx, (%rdx)
        movl    %ecx, %eax

        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmp *%rcx
        .cfi_endproc
        .size   lt_fiber_switch, . - lt_fiber_switch

/* void *lt_fiber_prepare(void *top, void (*main)(void *), void *arg)
 *
 * Writes a context that goes on in fiber_entry; returns its stack pointer. `top` is a multiple of 16. */
        .globl  lt_fiber_prepare
        .hidden lt_fiber_prepare
        .type   lt_fiber_prepare, @function
        .balign 16
lt_fiber_prepare:
        .cfi_startproc
        endbr64
        leaq    -80(%rdi), %rax
        movl    $0x1f80, (%rax)         /* mxcsr and the x87 control word as the ABI has them at process start */
        movl    $0x037f, 4(%rax)
        movq    $0, 8(%rax)             /* r15 */
        movq    $0, 16(%rax)            /* r14 */
        movq    $0, 24(%rax)            /* r13 */
        movq    %rdx, 32(%rax)          /* r12: arg */
        movq    %rsi, 40(%rax)          /* rbx: main */
        movq    $0, 48(%rax)            /* rbp: the end for those who follow frame pointers */
        leaq    fiber_entry(%rip), %rcx
        movq    %rcx, 56(%rax)
        movq    $0, 64(%rax)            /* the end for those who only look at the stack */
        movq    $0, 72(%rax)
        ret
        .cfi_endproc
        .size   lt_fiber_prepare, . - lt_fiber_prepare

/* The outermost frame of a fiber: unwinders stop here, as the return address is undefined. rsp is a multiple of 16. */
        .type   fiber_entry, @function
        .balign 16
fiber_entry:
        .cfi_startproc
        .cfi_undefined %rip
        endbr64
        movq    %r12, %rdi
        call    *%rbx
        ud2                             /* main never returns */
        .cfi_endproc
        .size   fiber_entry, . - fiber_entry

/* Every indirect branch lands on an endbr64. Not compatible with shadow stacks: they would need a switch of their own. */
        .section .note.gnu.property, "a"
        .balign 8
        .long   4, 16, 5                /* name size, description size, NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0     /* GNU_PROPERTY_X86_FEATURE_1_AND: IBT */

        .section .note.GNU-stack, "", @progbits
