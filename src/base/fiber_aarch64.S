/* The fiber switch for aarch64 (AAPCS64). base/fiber.c says how it is used.
 *
 * A suspended context is its stack pointer; what it points at, from there upwards:
 *
 *     0  x29  x30 (where to go on)  x19 to x28
 *    96  d8 to d15
 *   160  fpcr, unused
 */

        .text

/* bool lt_fiber_switch(void **save_sp, void *load_sp, unsigned *mark, unsigned value)
 *
 * The call frame information holds on both sides of the change of sp, because both stacks have the same layout there. */
        .globl  lt_fiber_switch
        .hidden lt_fiber_switch
        .type   lt_fiber_switch, %function
        .balign 16
lt_fiber_switch:
        .cfi_startproc
        hint    #34                     /* bti c */
        stp     x29, x30, [sp, #-176]!
        .cfi_def_cfa_offset 176
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        stp     x19, x20, [sp, #16]
        .cfi_rel_offset x19, 16
        .cfi_rel_offset x20, 24
        stp     x21, x22, [sp, #32]
        .cfi_rel_offset x21, 32
        .cfi_rel_offset x22, 40
        stp     x23, x24, [sp, #48]
        .cfi_rel_offset x23, 48
        .cfi_rel_offset x24, 56
        stp     x25, x26, [sp, #64]
        .cfi_rel_offset x25, 64
        .cfi_rel_offset x26, 72
        stp     x27, x28, [sp, #80]
        .cfi_rel_offset x27, 80
        .cfi_rel_offset x28, 88
        stp     d8, d9, [sp, #96]
        .cfi_rel_offset d8, 96
        .cfi_rel_offset d9, 104
        stp     d10, d11, [sp, #112]
        .cfi_rel_offset d10, 112
        .cfi_rel_offset d11, 120
        stp     d12, d13, [sp, #128]
        .cfi_rel_offset d12, 128
        .cfi_rel_offset d13, 136
        stp     d14, d15, [sp, #144]
        .cfi_rel_offset d14, 144
        .cfi_rel_offset d15, 152
        mrs     x9, fpcr
        str     x9, [sp, #160]

        mov     x10, sp
        str     x10, [x0]
        mov     sp, x1
        stlr    w3, [x2]                /* after all that was stored on the stack that was left */
        mov     w0, w3

        ldr     x10, [sp, #160]
        cmp     x10, x9                 /* writing fpcr is slow, and seldom needed */
        b.eq    1f
        msr     fpcr, x10
1:      ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x23, x24, [sp, #48]
        ldp     x25, x26, [sp, #64]
        ldp     x27, x28, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        ldp     x29, x30, [sp], #176
        .cfi_def_cfa_offset 0
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x21
        .cfi_restore x22
        .cfi_restore x23
        .cfi_restore x24
        .cfi_restore x25
        .cfi_restore x26
        .cfi_restore x27
        .cfi_restore x28
        .cfi_restore d8
        .cfi_restore d9
        .cfi_restore d10
        .cfi_restore d11
        .cfi_restore d12
        .cfi_restore d13
        .cfi_restore d14
        .cfi_restore d15
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   lt_fiber_switch, . - lt_fiber_switch

/* void *lt_fiber_prepare(void *top, void (*main)(void *), void *arg)
 *
 * Writes a context that goes on in fiber_entry; returns its stack pointer. `top` is a multiple of 16. */
        .globl  lt_fiber_prepare
        .hidden lt_fiber_prepare
        .type   lt_fiber_prepare, %function
        .balign 16
lt_fiber_prepare:
        .cfi_startproc
        hint    #34                     /* bti c */
        stp     xzr, xzr, [x0, #-16]!   /* the end for those who only look at the stack */
        sub     x0, x0, #176
        adr     x9, fiber_entry
        stp     xzr, x9, [x0]           /* x29: the end for those who follow frame pointers */
        stp     x1, x2, [x0, #16]       /* x19: main, x20: arg */
        stp     xzr, xzr, [x0, #32]
        stp     xzr, xzr, [x0, #48]
        stp     xzr, xzr, [x0, #64]
        stp     xzr, xzr, [x0, #80]
        stp     xzr, xzr, [x0, #96]
        stp     xzr, xzr, [x0, #112]
        stp     xzr, xzr, [x0, #128]
        stp     xzr, xzr, [x0, #144]
        stp     xzr, xzr, [x0, #160]    /* fpcr as it is at process start */
        ret
        .cfi_endproc
        .size   lt_fiber_prepare, . - lt_fiber_prepare

/* The outermost frame of a fiber: unwinders stop here, as the return address is undefined. */
        .type   fiber_entry, %function
        .balign 16
fiber_entry:
        .cfi_startproc
        .cfi_undefined x30
        hint    #36                     /* bti j */
        mov     x0, x20
        blr     x19
        brk     #1                      /* main never returns */
        .cfi_endproc
        .size   fiber_entry, . - fiber_entry

/* Every indirect branch lands on a bti. Return addresses are not signed here. */
        .section .note.gnu.property, "a"
        .balign 8
        .long   4, 16, 5                /* name size, description size, NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000000, 4, 1, 0     /* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI */

        .section .note.GNU-stack, "", %progbits
