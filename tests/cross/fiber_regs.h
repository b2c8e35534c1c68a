/* What a fiber switch must preserve, per architecture: for the tests only. */
#ifndef LT_TESTS_CROSS_FIBER_REGS_H
#define LT_TESTS_CROSS_FIBER_REGS_H

#include <stdint.h>

/* Fills the callee-saved registers from `in`, calls `fn(arg)`, and puts what is in them then into `out`. */
void regs_across(void (*fn)(void *), void *arg, const uint64_t *in, uint64_t *out);

#if defined(__x86_64__)

#define REGS_COUNT 6 /* rbp rbx r12 to r15 */

__asm__(
    ".text\n"
    ".globl regs_across\n"
    ".type regs_across, @function\n"
    "regs_across:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  pushq %rcx\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  movq 0(%rdx), %rbp\n  movq 8(%rdx), %rbx\n  movq 16(%rdx), %r12\n"
    "  movq 24(%rdx), %r13\n  movq 32(%rdx), %r14\n  movq 40(%rdx), %r15\n"
    "  call *%rax\n"
    "  popq %rcx\n"
    "  movq %rbp, 0(%rcx)\n  movq %rbx, 8(%rcx)\n  movq %r12, 16(%rcx)\n"
    "  movq %r13, 24(%rcx)\n  movq %r14, 32(%rcx)\n  movq %r15, 40(%rcx)\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size regs_across, . - regs_across\n");

/* mxcsr, and the x87 control word above it. */
#define FP_DEFAULT 0x037f00001f80U
#define FP_UP      0x0a7f00005f80U /* round up; x87 to double precision */
#define FP_TO_ZERO 0x0f7f0000ff80U /* round to zero, denormals to zero */

static inline uint64_t fp_control_get(void) {
  uint32_t sse;
  uint16_t x87;
  __asm__ volatile("stmxcsr %0\n fnstcw %1" : "=m"(sse), "=m"(x87));
  return (uint64_t)x87 << 32 | (sse & ~0x3fU); /* without the flags: those are nobody's */
}

static inline void fp_control_set(uint64_t control) {
  uint32_t sse = (uint32_t)control;
  uint16_t x87 = (uint16_t)(control >> 32);
  __asm__ volatile("ldmxcsr %0\n fldcw %1" : : "m"(sse), "m"(x87));
}

#elif defined(__aarch64__)

#define REGS_COUNT 19 /* x19 to x29, d8 to d15 */

__asm__(
    ".text\n"
    ".globl regs_across\n"
    ".type regs_across, %function\n"
    "regs_across:\n"
    "  stp x29, x30, [sp, #-176]!\n"
    "  stp x19, x20, [sp, #16]\n  stp x21, x22, [sp, #32]\n  stp x23, x24, [sp, #48]\n"
    "  stp x25, x26, [sp, #64]\n  stp x27, x28, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  str x3, [sp, #160]\n"
    "  mov x9, x0\n"
    "  mov x0, x1\n"
    "  ldp x19, x20, [x2, #0]\n  ldp x21, x22, [x2, #16]\n  ldp x23, x24, [x2, #32]\n"
    "  ldp x25, x26, [x2, #48]\n  ldp x27, x28, [x2, #64]\n  ldr x29, [x2, #80]\n"
    "  ldp d8, d9, [x2, #88]\n  ldp d10, d11, [x2, #104]\n  ldp d12, d13, [x2, #120]\n  ldp d14, d15, [x2, #136]\n"
    "  blr x9\n"
    "  ldr x3, [sp, #160]\n"
    "  stp x19, x20, [x3, #0]\n  stp x21, x22, [x3, #16]\n  stp x23, x24, [x3, #32]\n"
    "  stp x25, x26, [x3, #48]\n  stp x27, x28, [x3, #64]\n  str x29, [x3, #80]\n"
    "  stp d8, d9, [x3, #88]\n  stp d10, d11, [x3, #104]\n  stp d12, d13, [x3, #120]\n  stp d14, d15, [x3, #136]\n"
    "  ldp x19, x20, [sp, #16]\n  ldp x21, x22, [sp, #32]\n  ldp x23, x24, [sp, #48]\n"
    "  ldp x25, x26, [sp, #64]\n  ldp x27, x28, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  ldp x29, x30, [sp], #176\n"
    "  ret\n"
    ".size regs_across, . - regs_across\n");

/* fpcr */
#define FP_DEFAULT 0U
#define FP_UP      0x00400000U
#define FP_TO_ZERO 0x01c00000U /* and denormals to zero */

static inline uint64_t fp_control_get(void) {
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}

static inline void fp_control_set(uint64_t control) {
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
}

#endif

#endif
