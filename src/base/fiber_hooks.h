/* Announces stack switches to the sanitizers. Private to base/fiber.c.
 *
 * Without a sanitizer all of it is empty. The hooks are forced inline: ThreadSanitizer counts function entries and
 * exits per fiber, so no hook may be entered on one fiber and left on another.
 */
#ifndef LT_BASE_FIBER_HOOKS_H
#define LT_BASE_FIBER_HOOKS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __has_feature
#define LT_HAS_FEATURE(name) __has_feature(name)
#else
#define LT_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || LT_HAS_FEATURE(address_sanitizer)
#define LT_FIBER_ASAN 1
#else
#define LT_FIBER_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || LT_HAS_FEATURE(thread_sanitizer)
#define LT_FIBER_TSAN 1
#else
#define LT_FIBER_TSAN 0
#endif

#define LT_FIBER_HOOK static inline __attribute__((always_inline))

/* What the hooks remember about one fiber. */
typedef struct fiber_hooks {
  void *asan_fake;         /* the fiber's own fake stack while it is suspended */
  void *asan_resumer_fake; /* its resumer's, while it runs */
  const void *asan_bottom; /* its resumer's stack */
  size_t asan_size;
  void *tsan_self; /* NULL until it first runs: ThreadSanitizer has room for about 8000 threads and fibers */
  void *tsan_resumer;
  sigset_t tsan_mask; /* its resumer's */
} fiber_hooks;

#if LT_FIBER_ASAN

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/* On the resumer's stack, before it goes to the fiber's. */
LT_FIBER_HOOK void asan_enter(fiber_hooks *h, const void *stack, size_t size) {
  __sanitizer_start_switch_fiber(&h->asan_resumer_fake, stack, size);
}

/* On the fiber's stack, immediately after the switch. */
LT_FIBER_HOOK void asan_entered(fiber_hooks *h) {
  __sanitizer_finish_switch_fiber(h->asan_fake, &h->asan_bottom, &h->asan_size);
}

/* On the fiber's stack, before it goes back. */
LT_FIBER_HOOK void asan_leave(fiber_hooks *h) {
  __sanitizer_start_switch_fiber(&h->asan_fake, h->asan_bottom, h->asan_size);
}

/* The same for a fiber that ends. The NULL makes AddressSanitizer free the fiber's fake stack. */
LT_FIBER_HOOK void asan_leave_forever(fiber_hooks *h) {
  __sanitizer_start_switch_fiber(NULL, h->asan_bottom, h->asan_size);
  h->asan_fake = NULL;
}

/* Back on the resumer's stack. */
LT_FIBER_HOOK void asan_left(fiber_hooks *h) {
  __sanitizer_finish_switch_fiber(h->asan_resumer_fake, NULL, NULL);
}

/* The memory shall not be checked any more: it is copied, or used by another fiber. Frames that are copied back have no
 * red zones. */
LT_FIBER_HOOK void asan_forget(const void *at, size_t size) {
  __asan_unpoison_memory_region(at, size);
}

/* Cleans up an abandoned fiber. Its frames in [sp, top) never return, so their red zones are cleared here. Its fake
 * stack is freed by announcing a switch to the fiber and a final switch back. */
LT_FIBER_HOOK void asan_abandon(fiber_hooks *h, const void *stack, size_t size, const void *sp) {
  size_t below = (size_t)((const char *)sp - (const char *)stack);
  __asan_unpoison_memory_region(sp, size - below);
  if (h->asan_fake != NULL) {
    asan_enter(h, stack, size);
    asan_entered(h);
    asan_leave_forever(h);
    asan_left(h);
  }
}

#else

LT_FIBER_HOOK void asan_enter(fiber_hooks *h, const void *stack, size_t size) {
  (void)h, (void)stack, (void)size;
}

LT_FIBER_HOOK void asan_entered(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void asan_leave(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void asan_leave_forever(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void asan_left(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void asan_forget(const void *at, size_t size) {
  (void)at, (void)size;
}

LT_FIBER_HOOK void asan_abandon(fiber_hooks *h, const void *stack, size_t size, const void *sp) {
  (void)h, (void)stack, (void)size, (void)sp;
}

#endif

#if LT_FIBER_TSAN

#include <sanitizer/tsan_interface.h>

/* ThreadSanitizer holds back a signal that arrives in plain code until the same fiber makes a library call. If the
 * fiber is suspended first, the signal is lost (SIGTERM, or the SIGCHLD of a child that a fiber waits for). Therefore
 * all signals except faults are blocked while a fiber runs. */
LT_FIBER_HOOK void tsan_hold_signals(sigset_t *ret_before) {
  sigset_t held;
  sigfillset(&held);
  for (size_t i = 0; i < 5; i++) {
    sigdelset(&held, ((const int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})[i]);
  }
  pthread_sigmask(SIG_BLOCK, &held, ret_before);
}

/* Flags 0: a switch orders what was done before it before what is done after it. */
LT_FIBER_HOOK void tsan_enter(fiber_hooks *h) {
  tsan_hold_signals(&h->tsan_mask);
  if (h->tsan_self == NULL) {
    h->tsan_self = __tsan_create_fiber(0);
  }
  h->tsan_resumer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(h->tsan_self, 0);
}

LT_FIBER_HOOK void tsan_leave(fiber_hooks *h) {
  __tsan_switch_to_fiber(h->tsan_resumer, 0);
}

LT_FIBER_HOOK void tsan_destroy(fiber_hooks *h) {
  if (h->tsan_self != NULL) {
    __tsan_destroy_fiber(h->tsan_self);
    h->tsan_self = NULL;
  }
}

/* Back on the resumer's side. */
LT_FIBER_HOOK void tsan_left(fiber_hooks *h, bool more) {
  if (!more) {
    tsan_destroy(h);
  }
  pthread_sigmask(SIG_SETMASK, &h->tsan_mask, NULL);
}

#else

LT_FIBER_HOOK void tsan_enter(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void tsan_leave(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void tsan_destroy(fiber_hooks *h) {
  (void)h;
}

LT_FIBER_HOOK void tsan_left(fiber_hooks *h, bool more) {
  (void)h, (void)more;
}

#endif

#endif
