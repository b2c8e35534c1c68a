/* Fibers on another architecture: the essentials of tests/unit/test_fiber.c as one static program that needs nothing
 * but the C library, so that an emulator can run it. Prints "ok N checks", or the first one that failed and exits 1. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fiber.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cross/fiber_regs.h"

static unsigned checks;

#define CHECK(cond)                                             \
  do {                                                          \
    checks++;                                                   \
    if (!(cond)) {                                              \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
      exit(1);                                                  \
    }                                                           \
  } while (0)

#define STACK_BYTES (64 * LT_KIB)

typedef struct strand {
  lt_fiber fiber;
  void *stack;
  size_t size;
} strand;

static void strand_open(strand *s, size_t size, lt_fiber_fn fn, void *arg) {
  CHECK(lt_fiber_stacks_new(size, 1, &s->stack, &s->size, NULL) == LT_OK);
  lt_fiber_init(&s->fiber, s->stack, s->size, fn, arg);
}

static void strand_close(strand *s) {
  lt_fiber_release(&s->fiber);
  lt_fiber_stack_free(s->stack, s->size);
}

/* --- order and nesting -------------------------------------------------------------------------------------------- */

typedef struct trace {
  char text[32];
  size_t n;
} trace;

static void note(trace *t, char c) {
  CHECK(t->n < sizeof t->text - 1);
  t->text[t->n++] = c;
}

static void inner(void *arg) {
  note(arg, 'i');
  lt_fiber_yield();
  note(arg, 'j');
}

static void outer(void *arg) {
  strand s;
  lt_fiber *self = lt_fiber_current();
  strand_open(&s, STACK_BYTES, inner, arg);
  note(arg, 'o');
  CHECK(lt_fiber_resume(&s.fiber));
  CHECK(lt_fiber_current() == self);
  lt_fiber_yield();
  note(arg, 'p');
  CHECK(!lt_fiber_resume(&s.fiber));
  CHECK(lt_fiber_current() == self);
  strand_close(&s);
}

static void check_order(void) {
  trace t = {.n = 0};
  strand s;
  strand_open(&s, STACK_BYTES, outer, &t);
  CHECK(t.n == 0);
  CHECK(lt_fiber_resume(&s.fiber));
  CHECK(lt_fiber_current() == NULL);
  note(&t, '-');
  CHECK(!lt_fiber_resume(&s.fiber));
  CHECK(lt_fiber_current() == NULL);
  CHECK(strcmp(t.text, "oi-pj") == 0);
  strand_close(&s);
}

/* --- registers and floating point --------------------------------------------------------------------------------- */

static void regs_fill(uint64_t *regs, uint64_t seed) {
  for (size_t i = 0; i < REGS_COUNT; i++) {
    regs[i] = seed * (i + 1);
  }
}

static void call_yield(void *arg) {
  (void)arg;
  lt_fiber_yield();
}

static void call_resume(void *arg) {
  CHECK(lt_fiber_resume(arg));
}

static void yields_with_regs(void *arg) {
  uint64_t in[REGS_COUNT];
  uint64_t out[REGS_COUNT] = {0};
  (void)arg;
  for (uint64_t seed = 0x1111111111111111U;; seed += 0x0101010101010101U) {
    regs_fill(in, seed);
    regs_across(call_yield, NULL, in, out);
    CHECK(memcmp(in, out, sizeof in) == 0);
  }
}

static void check_registers(void) {
  uint64_t in[REGS_COUNT];
  uint64_t out[REGS_COUNT] = {0};
  strand s;
  strand_open(&s, STACK_BYTES, yields_with_regs, NULL);
  for (uint64_t seed = 0xfedcba9876543210U, i = 0; i < 10; i++, seed += 0x0123456789abcdefU) {
    regs_fill(in, seed);
    regs_across(call_resume, &s.fiber, in, out);
    CHECK(memcmp(in, out, sizeof in) == 0);
  }
  strand_close(&s);
}

static double third(void) {
  volatile double three = 3.0;
  return 1.0 / three;
}

static void rounds_to_zero(void *arg) {
  double *got = arg;
  got[0] = third();
  CHECK(fp_control_get() == FP_DEFAULT);
  fp_control_set(FP_TO_ZERO);
  lt_fiber_yield();
  got[1] = third();
  CHECK(fp_control_get() == FP_TO_ZERO);
}

static void check_floating_point(void) {
  double got[2];
  strand s;
  fp_control_set(FP_UP);
  strand_open(&s, STACK_BYTES, rounds_to_zero, got);
  CHECK(lt_fiber_resume(&s.fiber));
  CHECK(fp_control_get() == FP_UP);
  double up = third();
  CHECK(!lt_fiber_resume(&s.fiber));
  CHECK(fp_control_get() == FP_UP);
  fp_control_set(FP_DEFAULT);
  CHECK(got[0] == third());
  CHECK(got[1] < up);
  strand_close(&s);
}

/* --- the stack ---------------------------------------------------------------------------------------------------- */

static void checks_its_stack(void *arg) {
  const strand *s = arg;
  char text[64];
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  CHECK(here % 16 == 0);
  CHECK(here > (uintptr_t)s->stack && here < (uintptr_t)s->stack + s->size);
  snprintf(text, sizeof text, "%.3f %Lg %d", 1.5, 2.5L, 7);
  CHECK(strcmp(text, "1.500 2.5 7") == 0);
}

static void check_alignment(void) {
  strand s;
  strand_open(&s, STACK_BYTES, checks_its_stack, &s);
  for (size_t cut = 0; cut < 40; cut++) {
    lt_fiber_init(&s.fiber, (char *)s.stack + cut / 3, s.size - cut, checks_its_stack, &s);
    CHECK(!lt_fiber_resume(&s.fiber));
    lt_fiber_release(&s.fiber);
  }
  strand_close(&s);
}

static __attribute__((noinline)) uint64_t deep(unsigned n) {
  volatile unsigned char frame[100];
  frame[n % sizeof frame] = (unsigned char)n;
  if (n == 0) {
    lt_fiber_yield();
    return 0;
  }
  uint64_t below = deep(n - 1);
  return below + frame[n % sizeof frame];
}

static void goes_deep(void *arg) {
  uint64_t *sum = arg;
  *sum = deep(1000);
}

static void check_deep_recursion(void) {
  uint64_t sum = 0;
  uint64_t want = 0;
  strand s;
  for (unsigned n = 1; n <= 1000; n++) {
    want += n & 0xff;
  }
  strand_open(&s, LT_MIB, goes_deep, &sum);
  CHECK(lt_fiber_resume(&s.fiber));
  CHECK(!lt_fiber_resume(&s.fiber));
  CHECK(sum == want);
  strand_close(&s);
}

typedef struct walk {
  void *frames[64];
  int n;
} walk;

static void walks_back(void *arg) {
  walk *w = arg;
  w->n = backtrace(w->frames, 64);
}

static void check_unwinding(void) {
  walk w = {.n = 0};
  strand s;
  strand_open(&s, LT_LOOP_STACK_BYTES, walks_back, &w);
  CHECK(!lt_fiber_resume(&s.fiber));
  CHECK(w.n >= 2 && w.n <= 6);
  strand_close(&s);
}

/* --- many, abandoned, and on other threads ------------------------------------------------------------------------ */

enum { MANY = 2000 };

static void yields_so_often(void *arg) {
  unsigned *left = arg;
  while ((*left)-- > 0) {
    lt_fiber_yield();
  }
}

static void check_many(void) {
  static strand strands[MANY];
  static unsigned left[MANY];
  for (unsigned i = 0; i < MANY; i++) {
    left[i] = i % 5;
    strand_open(&strands[i], STACK_BYTES, yields_so_often, &left[i]);
  }
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < MANY; i++) {
      if (round <= i % 5) {
        CHECK(lt_fiber_resume(&strands[i].fiber) == (round < i % 5));
      }
    }
  }
  for (unsigned i = 0; i < MANY; i++) {
    strand_close(&strands[i]); /* some have ended, some are abandoned */
  }
}

static __thread int thread_number;

static __attribute__((noinline)) int number_here(void) {
  __asm__ volatile("" ::: "memory");
  return thread_number;
}

enum { HOPS = 20 };

typedef struct hopper {
  strand s;
  int resumed_by;
  int hops;
  bool more;
} hopper;

static void hops(void *arg) {
  hopper *h = arg;
  for (; h->hops < HOPS; h->hops++) {
    CHECK(number_here() == h->resumed_by);
    CHECK(lt_fiber_current() == &h->s.fiber);
    lt_fiber_yield();
  }
}

static void *resumes_once(void *arg) {
  hopper *h = arg;
  thread_number = ++h->resumed_by;
  h->more = lt_fiber_resume(&h->s.fiber);
  CHECK(lt_fiber_current() == NULL);
  return NULL;
}

static void check_threads(void) {
  hopper h = {.hops = 0};
  strand_open(&h.s, STACK_BYTES, hops, &h);
  for (int i = 0; i <= HOPS; i++) {
    pthread_t id;
    CHECK(pthread_create(&id, NULL, resumes_once, &h) == 0);
    pthread_join(id, NULL);
    CHECK(h.more == (i < HOPS));
  }
  strand_close(&h.s);
}

/* --- the guard ---------------------------------------------------------------------------------------------------- */

static strand doomed;

static void on_segv(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)context;
  const char *at = info->si_addr;
  const char *stack = doomed.stack;
  _exit(at < stack && at >= stack - LT_FIBER_GUARD_BYTES ? 42 : 43);
}

static void goes_too_deep(void *arg) {
  (void)arg;
  deep(UINT32_MAX);
}

static void overflow(void) {
  static char alternate[64 * 1024];
  stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&ss, NULL);
  sigaction(SIGSEGV, &action, NULL);
  strand_open(&doomed, STACK_BYTES, goes_too_deep, NULL);
  lt_fiber_resume(&doomed.fiber);
  _exit(0);
}

static void check_guard(void) {
  int status = 0;
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    overflow();
  }
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

int main(void) {
  check_order();
  check_registers();
  check_floating_point();
  check_alignment();
  check_deep_recursion();
  check_unwinding();
  check_many();
  check_threads();
  check_guard();
  printf("ok %u checks\n", checks);
  return 0;
}
