#include "base/fiber.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fiber_hooks.h"
#include "base/limits.h"

/* In fiber_x86_64.S and fiber_aarch64.S. The switch leaves this stack for `load_sp`, writes `value` to `*mark` when it
 * is no longer needed, and returns `value` over there. (A bool, because only lt_fiber_resume looks at it.) */
bool lt_fiber_switch(void **save_sp, void *load_sp, unsigned *mark, unsigned value);
/* The stack pointer to load for a first switch to `main(arg)` on a stack that ends at `top`. */
void *lt_fiber_prepare(void *top, void (*main)(void *), void *arg);

enum fiber_state { FIBER_ENDED = false, FIBER_SUSPENDED = true, FIBER_RUNNING = 2 };

/* What is in lt_fiber.opaque. */
typedef struct __attribute__((may_alias)) fiber_impl {
  void *sp;         /* the fiber's, while it is suspended */
  void *resumer_sp; /* its resumer's, while it runs */
  lt_fiber *resumer;
  unsigned state;
  lt_fiber_fn fn;
  void *arg;
  void *stack;
  size_t size;
  fiber_hooks hooks;
} fiber_impl;

_Static_assert(sizeof(fiber_impl) <= LT_FIBER_SIZE, "LT_FIBER_SIZE is too small");
_Static_assert(_Alignof(fiber_impl) <= _Alignof(lt_fiber), "lt_fiber is not aligned enough");

static __thread lt_fiber *running;

/* A fiber may go on under another thread, so the address of `running` must not outlive a switch in a register: only
 * these two know it, and neither is inlined or found to have no side effects. */
__attribute__((noinline)) lt_fiber *lt_fiber_current(void) {
  __asm__ volatile("" ::: "memory");
  return running;
}

static __attribute__((noinline)) lt_fiber *fiber_exchange_current(lt_fiber *fiber) {
  __asm__ volatile("" ::: "memory");
  lt_fiber *before = running;
  running = fiber;
  return before;
}

static fiber_impl *fiber_impl_of(lt_fiber *fiber) {
  return (fiber_impl *)(void *)fiber->opaque;
}

/* The first function on a fiber's stack. */
static void fiber_main(void *arg) {
  fiber_impl *f = arg;
  asan_entered(&f->hooks);
  f->fn(f->arg); /* no LT_YIELDS: there is no caller that it could leave waiting */
  fiber_exchange_current(f->resumer);
  asan_leave_forever(&f->hooks);
  tsan_leave(&f->hooks);
  lt_fiber_switch(&f->sp, f->resumer_sp, &f->state, FIBER_ENDED);
  __builtin_unreachable();
}

void lt_fiber_init(lt_fiber *fiber, void *stack, size_t size, lt_fiber_fn fn, void *arg) {
  fiber_impl *f = fiber_impl_of(fiber);
  uintptr_t unaligned = ((uintptr_t)stack + size) & 15U;
  memset(fiber, 0, sizeof *fiber);
  f->fn = fn;
  f->arg = arg;
  f->stack = stack;
  f->size = size;
  f->sp = lt_fiber_prepare((char *)stack + size - unaligned, fiber_main, f);
  f->state = FIBER_SUSPENDED;
}

void lt_fiber_release(lt_fiber *fiber) {
  fiber_impl *f = fiber_impl_of(fiber);
  LT_CHECK(f->state != FIBER_RUNNING);
  if (f->state == FIBER_SUSPENDED) {
    asan_abandon(&f->hooks, f->stack, f->size, f->sp);
    tsan_destroy(&f->hooks);
    f->state = FIBER_ENDED;
  }
}

/* Here and in lt_fiber_yield, whatever can be done before the switch is: without a sanitizer nothing is left to do
 * after it, the compiler makes it a tail call, and control goes from caller to caller. */
bool lt_fiber_resume(lt_fiber *fiber) {
  fiber_impl *f = fiber_impl_of(fiber);
  LT_CHECK(f->state == FIBER_SUSPENDED);
  f->resumer = fiber_exchange_current(fiber);
  asan_enter(&f->hooks, f->stack, f->size);
  tsan_enter(&f->hooks);
  bool more = lt_fiber_switch(&f->resumer_sp, f->sp, &f->state, FIBER_RUNNING);
  asan_left(&f->hooks);
  tsan_left(&f->hooks, more);
  return more;
}

void lt_fiber_yield(void) {
  lt_fiber *fiber = lt_fiber_current();
  LT_CHECK(fiber != NULL);
  fiber_impl *f = fiber_impl_of(fiber);
  fiber_exchange_current(f->resumer);
  asan_leave(&f->hooks);
  tsan_leave(&f->hooks);
  lt_fiber_switch(&f->sp, f->resumer_sp, &f->state, FIBER_SUSPENDED);
  asan_entered(&f->hooks);
}

/* --- Stacks ------------------------------------------------------------------------------------------------------- */
size_t lt_fiber_stack_used(const lt_fiber *fiber) {
  const fiber_impl *f = (const fiber_impl *)(const void *)fiber->opaque;
  LT_CHECK(f->state == FIBER_SUSPENDED);
  return (size_t)((const char *)f->stack + f->size - (const char *)f->sp);
}

/* The frames that the fiber returns to, and room for those that it calls next. */
void lt_fiber_prefetch(const lt_fiber *fiber) {
  enum { LINE_BYTES = 64, LINES_ABOVE = 32, LINES_BELOW = 8 };
  const fiber_impl *f = (const fiber_impl *)(const void *)fiber->opaque;
  const char *sp = f->sp;
  for (int line = -LINES_BELOW; line < LINES_ABOVE; line++) {
    __builtin_prefetch(sp + line * LINE_BYTES, 1);
  }
}

void lt_fiber_stack_save(lt_fiber *fiber, void *to) {
  fiber_impl *f = fiber_impl_of(fiber);
  size_t used = lt_fiber_stack_used(fiber);
  asan_forget(f->sp, used);
  memcpy(to, f->sp, used);
}

void lt_fiber_stack_load(lt_fiber *fiber, const void *from) {
  fiber_impl *f = fiber_impl_of(fiber);
  size_t used = lt_fiber_stack_used(fiber);
  asan_forget(f->sp, used);
  memcpy(f->sp, from, used);
}

static size_t fiber_page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t fiber_round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

void lt_fiber_stack_trim(lt_fiber *fiber) {
  fiber_impl *f = fiber_impl_of(fiber);
  size_t unused = f->size - lt_fiber_stack_used(fiber);
  size_t page = fiber_page_size();
  (void)madvise(f->stack, unused / page * page, MADV_DONTNEED);
}

static lt_status fiber_no_stack(lt_err *err, size_t size) {
  return lt_fail(err, LT_E_NOMEM,
                 "no room for a stack of %zu bytes: %s (before Linux 6.13 each takes two of the process's "
                 "vm.max_map_count mappings: raise it, or the limit of address space, ulimit -v)",
                 size, strerror(errno));
}

/* With Linux 6.13 a guard needs no mapping of its own: then thousands of stacks are one mapping. qemu-user answers
 * every advice with success and does nothing: there even advice that does not exist succeeds. */
static bool fiber_guard(void *at, size_t size) {
  enum { GUARD_INSTALL = 102, NO_ADVICE = 0x7fffffff }; /* MADV_GUARD_INSTALL, which glibc does not name yet */
  enum { UNKNOWN, OBEYS, IGNORES };
  static _Atomic int system_kind = UNKNOWN;
  if (atomic_load_explicit(&system_kind, memory_order_relaxed) == UNKNOWN) {
    atomic_store(&system_kind, madvise(at, size, NO_ADVICE) != 0 ? OBEYS : IGNORES);
  }
  bool obeys = atomic_load_explicit(&system_kind, memory_order_relaxed) == OBEYS;
  return (obeys && madvise(at, size, GUARD_INSTALL) == 0) || mprotect(at, size, PROT_NONE) == 0;
}

lt_status lt_fiber_stacks_new(size_t size, size_t count, void **ret_stacks, size_t *ret_size, lt_err *err) {
  size_t guard = fiber_round_up(LT_FIBER_GUARD_BYTES, fiber_page_size());
  if (size > SIZE_MAX / 2 / count) {
    errno = ENOMEM;
    return fiber_no_stack(err, size);
  }
  size_t usable = fiber_round_up(size > 0 ? size : 1, fiber_page_size());
  size_t bytes = count * (guard + usable);
  int protection = PROT_READ | PROT_WRITE;
  char *map = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    return fiber_no_stack(err, usable);
  }
  /* A huge page would make two megabytes of the first byte touched. Kernels without them refuse: just as well. */
  (void)madvise(map, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < count; i++) {
    char *at = map + i * (guard + usable);
    if (!fiber_guard(at, guard)) {
      lt_status status = fiber_no_stack(err, usable);
      munmap(map, bytes);
      return status;
    }
    ret_stacks[i] = at + guard;
  }
  *ret_size = usable;
  return LT_OK;
}

void lt_fiber_stack_free(void *stack, size_t size) {
  size_t guard = fiber_round_up(LT_FIBER_GUARD_BYTES, fiber_page_size());
  if (stack == NULL || munmap((char *)stack - guard, guard + size) == 0) {
    return;
  }
  /* Its guard may have become one mapping with a neighbour's, and splitting that needs one mapping more than the
   * process may have. The memory goes back all the same; the addresses are lost. */
  LT_CHECK(errno == ENOMEM);
  (void)madvise(stack, size, MADV_DONTNEED);
}
