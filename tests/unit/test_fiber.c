/* Fibers and their stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fiber.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cross/fiber_regs.h"

#if defined(__SANITIZE_THREAD__)
#define MANY_FIBERS 2000 /* ThreadSanitizer knows about 8000 threads and fibers at most, and is slow with them */
#else
#define MANY_FIBERS 10000
#endif
#define STACK_BYTES (64 * LT_KIB)

/* A fiber with a stack of its own. */
typedef struct strand {
  lt_fiber fiber;
  void *stack;
  size_t size;
} strand;

static void strand_open(strand *s, size_t size, lt_fiber_fn fn, void *arg) {
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_fiber_stacks_new(size, 1, &s->stack, &s->size, &err), LT_OK);
  lt_fiber_init(&s->fiber, s->stack, s->size, fn, arg);
}

static void strand_close(strand *s) {
  lt_fiber_release(&s->fiber);
  lt_fiber_stack_free(s->stack, s->size);
}

/* --- order -------------------------------------------------------------------------------------------------------- */

typedef struct trace {
  char text[64];
  size_t n;
} trace;

static void note(trace *t, char c) {
  assert_true(t->n < sizeof t->text - 1);
  t->text[t->n++] = c;
  t->text[t->n] = '\0';
}

static void three_steps(void *arg) {
  note(arg, 'a');
  lt_fiber_yield();
  note(arg, 'b');
  lt_fiber_yield();
  note(arg, 'c');
}

static void runs_in_turns(void **state) {
  (void)state;
  trace t = {0};
  strand s;
  strand_open(&s, STACK_BYTES, three_steps, &t);
  assert_int_equal(t.n, 0);
  assert_true(lt_fiber_resume(&s.fiber));
  note(&t, '1');
  assert_true(lt_fiber_resume(&s.fiber));
  note(&t, '2');
  assert_false(lt_fiber_resume(&s.fiber));
  assert_string_equal(t.text, "a1b2c");
  strand_close(&s);
}

static void interleaves(void **state) {
  (void)state;
  trace t = {0};
  strand a;
  strand b;
  strand_open(&a, STACK_BYTES, three_steps, &t);
  strand_open(&b, STACK_BYTES, three_steps, &t);
  for (bool more = true; more;) {
    more = lt_fiber_resume(&a.fiber);
    assert_int_equal(lt_fiber_resume(&b.fiber), more);
  }
  assert_string_equal(t.text, "aabbcc");
  strand_close(&a);
  strand_close(&b);
}

static void runs_again_on_the_same_storage(void **state) {
  (void)state;
  trace t = {0};
  strand s;
  strand_open(&s, STACK_BYTES, three_steps, &t);
  while (lt_fiber_resume(&s.fiber)) {
  }
  lt_fiber_release(&s.fiber);
  lt_fiber_init(&s.fiber, s.stack, s.size, three_steps, &t);
  while (lt_fiber_resume(&s.fiber)) {
  }
  assert_string_equal(t.text, "abcabc");
  strand_close(&s);
}

/* --- nesting ------------------------------------------------------------------------------------------------------ */

enum { NEST_DEPTH = 8 };

typedef struct nest {
  strand strands[NEST_DEPTH];
  int level;
  trace t;
} nest;

/* Each level starts the next one, which yields once and ends, around a yield of its own. */
static void nested(void *arg) {
  nest *n = arg;
  int level = n->level++;
  lt_fiber *self = lt_fiber_current();
  assert_ptr_equal(self, &n->strands[level].fiber);
  note(&n->t, (char)('a' + level));
  if (level + 1 < NEST_DEPTH) {
    strand *inner = &n->strands[level + 1];
    strand_open(inner, STACK_BYTES, nested, n);
    assert_true(lt_fiber_resume(&inner->fiber));
    assert_ptr_equal(lt_fiber_current(), self);
    lt_fiber_yield();
    assert_ptr_equal(lt_fiber_current(), self);
    assert_false(lt_fiber_resume(&inner->fiber));
    assert_ptr_equal(lt_fiber_current(), self);
    strand_close(inner);
  } else {
    lt_fiber_yield();
  }
  note(&n->t, (char)('A' + level));
}

static void nests(void **state) {
  (void)state;
  nest n = {0};
  strand_open(&n.strands[0], STACK_BYTES, nested, &n);
  assert_null(lt_fiber_current());
  assert_true(lt_fiber_resume(&n.strands[0].fiber));
  assert_null(lt_fiber_current());
  assert_string_equal(n.t.text, "abcdefgh");
  assert_false(lt_fiber_resume(&n.strands[0].fiber));
  assert_null(lt_fiber_current());
  assert_string_equal(n.t.text, "abcdefghHGFEDCBA");
  strand_close(&n.strands[0]);
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
  assert_true(lt_fiber_resume(arg));
}

static void yields_with_regs(void *arg) {
  uint64_t in[REGS_COUNT];
  uint64_t out[REGS_COUNT] = {0};
  (void)arg;
  for (uint64_t seed = 0x1111111111111111U;; seed += 0x0101010101010101U) {
    regs_fill(in, seed);
    regs_across(call_yield, NULL, in, out);
    assert_memory_equal(in, out, sizeof in);
  }
}

static void keeps_registers_on_both_sides(void **state) {
  (void)state;
  uint64_t in[REGS_COUNT];
  uint64_t out[REGS_COUNT] = {0};
  strand s;
  strand_open(&s, STACK_BYTES, yields_with_regs, NULL);
  for (uint64_t seed = 0xfedcba9876543210U, i = 0; i < 10; i++, seed += 0x0123456789abcdefU) {
    regs_fill(in, seed);
    regs_across(call_resume, &s.fiber, in, out);
    assert_memory_equal(in, out, sizeof in);
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
  assert_int_equal(fp_control_get(), FP_DEFAULT); /* a fiber starts with the ABI's, not with its maker's */
  fp_control_set(FP_TO_ZERO);
  lt_fiber_yield();
  got[1] = third();
  assert_int_equal(fp_control_get(), FP_TO_ZERO);
}

static void keeps_floating_point_state(void **state) {
  (void)state;
  double got[2];
  strand s;
  fp_control_set(FP_UP);
  strand_open(&s, STACK_BYTES, rounds_to_zero, got);
  bool more = lt_fiber_resume(&s.fiber);
  uint64_t control = fp_control_get();
  double up = third();
  bool again = lt_fiber_resume(&s.fiber);
  uint64_t at_end = fp_control_get();
  fp_control_set(FP_DEFAULT);
  assert_true(more);
  assert_false(again);
  assert_int_equal(control, FP_UP);
  assert_int_equal(at_end, FP_UP);
  assert_true(got[0] == third());
  assert_true(got[1] < up);
  strand_close(&s);
}

/* --- the stack ---------------------------------------------------------------------------------------------------- */

static void checks_its_stack(void *arg) {
  const strand *s = arg;
  char text[64];
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  assert_int_equal(here % 16, 0);
  assert_in_range(here, (uintptr_t)s->stack, (uintptr_t)s->stack + s->size);
  /* The C library uses aligned stores for these. */
  snprintf(text, sizeof text, "%.3f %Lg %d", 1.5, 2.5L, 7);
  assert_string_equal(text, "1.500 2.5 7");
}

static void aligns_any_stack(void **state) {
  (void)state;
  strand s;
  strand_open(&s, STACK_BYTES, checks_its_stack, &s);
  for (size_t cut = 0; cut < 40; cut++) {
    lt_fiber_init(&s.fiber, (char *)s.stack + cut / 3, s.size - cut, checks_its_stack, &s);
    assert_false(lt_fiber_resume(&s.fiber));
    lt_fiber_release(&s.fiber);
  }
  strand_close(&s);
}

/* Not a loop for the compiler, and more than a few bytes per frame. */
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
  *sum = deep(5000);
}

static uint64_t deep_sum(void) {
  uint64_t sum = 0;
  for (unsigned n = 1; n <= 5000; n++) {
    sum += n & 0xff;
  }
  return sum;
}

static void recurses_deeply(void **state) {
  (void)state;
  uint64_t sums[2] = {0, 0};
  strand a;
  strand b;
  strand_open(&a, 8 * LT_MIB, goes_deep, &sums[0]);
  strand_open(&b, 8 * LT_MIB, goes_deep, &sums[1]);
  assert_true(lt_fiber_resume(&a.fiber));
  assert_true(lt_fiber_resume(&b.fiber));
  assert_false(lt_fiber_resume(&a.fiber));
  assert_false(lt_fiber_resume(&b.fiber));
  assert_int_equal(sums[0], deep_sum());
  assert_int_equal(sums[1], deep_sum());
  strand_close(&a);
  strand_close(&b);
}

typedef struct walk {
  void *frames[64];
  int n;
} walk;

static void walks_back(void *arg) {
  walk *w = arg;
  w->n = backtrace(w->frames, 64);
}

/* Unwinders find this fiber's few frames and know that there are no more. */
static void backtrace_ends_at_the_entry(void **state) {
  (void)state;
  walk w = {.n = 0};
  strand s;
  strand_open(&s, LT_LOOP_STACK_BYTES, walks_back, &w);
  assert_false(lt_fiber_resume(&s.fiber));
  assert_in_range(w.n, 2, 6);
  for (int i = 0; i < w.n; i++) {
    assert_non_null(w.frames[i]);
  }
  strand_close(&s);
}

/* --- many --------------------------------------------------------------------------------------------------------- */

typedef struct counter {
  unsigned rounds; /* it yields so many times */
  unsigned done;
} counter;

static void counts(void *arg) {
  counter *c = arg;
  for (; c->done < c->rounds; c->done++) {
    lt_fiber_yield();
  }
}

static void runs_ten_thousand(void **state) {
  (void)state;
  strand *strands = lt_mem_zalloc(MANY_FIBERS, sizeof *strands);
  counter *counters = lt_mem_zalloc(MANY_FIBERS, sizeof *counters);
  assert_true(strands != NULL && counters != NULL);
  for (unsigned i = 0; i < MANY_FIBERS; i++) {
    counters[i].rounds = i % 7;
    strand_open(&strands[i], 16 * LT_KIB, counts, &counters[i]);
  }
  for (unsigned round = 0; round < 7; round++) {
    for (unsigned i = 0; i < MANY_FIBERS; i++) {
      if (round <= counters[i].rounds) {
        assert_int_equal(lt_fiber_resume(&strands[i].fiber), round < counters[i].rounds);
      }
    }
  }
  for (unsigned i = 0; i < MANY_FIBERS; i++) {
    assert_int_equal(counters[i].done, counters[i].rounds);
    strand_close(&strands[i]);
  }
  lt_mem_free(strands);
  lt_mem_free(counters);
}

/* --- between threads ---------------------------------------------------------------------------------------------- */

enum { HOPS = 200, HOPPERS = 50, HOP_THREADS = 3 };

static __thread int thread_number;

static __attribute__((noinline)) int number_here(void) {
  __asm__ volatile("" ::: "memory");
  return thread_number;
}

typedef struct hopper {
  strand s;
  int resumed_by; /* plain, on purpose: the switch itself must order it */
  int hops;
} hopper;

static void hops(void *arg) {
  hopper *h = arg;
  for (; h->hops < HOPS; h->hops++) {
    assert_int_equal(number_here(), h->resumed_by);
    assert_ptr_equal(lt_fiber_current(), &h->s.fiber);
    lt_fiber_yield();
  }
}

typedef struct pool {
  pthread_mutex_t lock;
  hopper *ready[HOPPERS]; /* a ring, so that each one is taken by whoever comes next */
  unsigned first;
  unsigned n;
  int alive;
} pool;

/* Returns false when all have ended; *ret_hopper may be NULL for now. */
static bool pool_take(pool *p, hopper **ret_hopper) {
  hopper *h = NULL;
  pthread_mutex_lock(&p->lock);
  bool alive = p->alive > 0;
  if (p->n > 0) {
    h = p->ready[p->first];
    p->first = (p->first + 1) % HOPPERS;
    p->n--;
  }
  pthread_mutex_unlock(&p->lock);
  *ret_hopper = h;
  return alive;
}

static void pool_give(pool *p, hopper *h, bool more) {
  pthread_mutex_lock(&p->lock);
  if (more) {
    p->ready[(p->first + p->n) % HOPPERS] = h;
    p->n++;
  } else {
    p->alive--;
  }
  pthread_mutex_unlock(&p->lock);
}

typedef struct hop_thread {
  pthread_t id;
  pool *pool;
  int number;
} hop_thread;

static void *hop_main(void *arg) {
  hop_thread *t = arg;
  hopper *h;
  thread_number = t->number;
  while (pool_take(t->pool, &h)) {
    if (h == NULL) {
      sched_yield();
      continue;
    }
    h->resumed_by = t->number;
    bool more = lt_fiber_resume(&h->s.fiber);
    assert_null(lt_fiber_current());
    pool_give(t->pool, h, more);
  }
  return NULL;
}

static void moves_between_threads(void **state) {
  (void)state;
  pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .n = HOPPERS, .alive = HOPPERS};
  hopper *hoppers = lt_mem_zalloc(HOPPERS, sizeof *hoppers);
  hop_thread threads[HOP_THREADS];
  for (int i = 0; i < HOPPERS; i++) {
    p.ready[i] = &hoppers[i];
    strand_open(&hoppers[i].s, STACK_BYTES, hops, &hoppers[i]);
  }
  for (int i = 0; i < HOP_THREADS; i++) {
    threads[i] = (hop_thread){.pool = &p, .number = i + 1};
    assert_int_equal(pthread_create(&threads[i].id, NULL, hop_main, &threads[i]), 0);
  }
  for (int i = 0; i < HOP_THREADS; i++) {
    pthread_join(threads[i].id, NULL);
  }
  for (int i = 0; i < HOPPERS; i++) {
    assert_int_equal(hoppers[i].hops, HOPS);
    strand_close(&hoppers[i].s);
  }
  lt_mem_free(hoppers);
}

static void *resumes_once(void *arg) {
  hopper *h = arg;
  thread_number = ++h->resumed_by;
  bool more = lt_fiber_resume(&h->s.fiber);
  assert_int_equal(more, h->hops < HOPS);
  return NULL;
}

/* A new thread for each step: the one that the fiber yielded on is gone each time. */
static void outlives_its_threads(void **state) {
  (void)state;
  hopper h = {0};
  strand_open(&h.s, STACK_BYTES, hops, &h);
  for (int i = 0; i <= HOPS; i++) {
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, resumes_once, &h), 0);
    pthread_join(id, NULL);
  }
  assert_int_equal(h.hops, HOPS);
  strand_close(&h.s);
}

/* --- abandoned ---------------------------------------------------------------------------------------------------- */

/* Frames with red zones, for AddressSanitizer, up to the last one. */
static __attribute__((noinline)) void yields_below(int depth) {
  char frame[300];
  memset(frame, depth, sizeof frame);
  __asm__ volatile("" : : "r"(frame) : "memory");
  if (depth == 0) {
    lt_fiber_yield();
  } else {
    yields_below(depth - 1);
  }
  __asm__ volatile("" : : "r"(frame) : "memory");
}

static void yields_deep_down(void *arg) {
  (void)arg;
  yields_below(20);
}

static void fills_its_stack(void *arg) {
  char frame[24 * 1024];
  (void)arg;
  memset(frame, 7, sizeof frame);
  __asm__ volatile("" : : "r"(frame) : "memory");
}

static void abandons(void **state) {
  (void)state;
  strand s;
  strand_open(&s, STACK_BYTES, yields_deep_down, NULL);
  for (int i = 0; i < 100; i++) {
    assert_true(lt_fiber_resume(&s.fiber));
    lt_fiber_release(&s.fiber);
    /* As plain memory, byte by byte: no red zone of a frame that is gone may be left. */
    for (volatile char *p = s.stack; p < (char *)s.stack + s.size; p += 8) {
      *p = 0;
    }
    lt_fiber_init(&s.fiber, s.stack, s.size, fills_its_stack, NULL);
    assert_false(lt_fiber_resume(&s.fiber));
    lt_fiber_init(&s.fiber, s.stack, s.size, yields_deep_down, NULL);
  }
  strand_close(&s); /* one that never ran */
}

static void abandoning_does_not_add_up(void **state) {
  (void)state;
  strand s;
  strand_open(&s, STACK_BYTES, yields_deep_down, NULL);
  for (int i = 0; i < 20000; i++) { /* far more than ThreadSanitizer can have at once */
    assert_true(lt_fiber_resume(&s.fiber));
    lt_fiber_release(&s.fiber);
    lt_fiber_init(&s.fiber, s.stack, s.size, yields_deep_down, NULL);
  }
  strand_close(&s);
}

/* --- stacks ------------------------------------------------------------------------------------------------------- */

static void stack_sizes(void **state) {
  (void)state;
  const size_t sizes[] = {0, 1, 4095, 4096, 4097, LT_LOOP_STACK_BYTES, LT_BOX_STACK_BYTES, LT_GIB};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char *stack;
    void *p;
    size_t size = 0;
    assert_int_equal(lt_fiber_stacks_new(sizes[i], 1, &p, &size, NULL), LT_OK);
    stack = p;
    assert_true(size >= sizes[i] && size > 0 && size < sizes[i] + 65536);
    stack[0] = 1;
    stack[size - 1] = 1;
    lt_fiber_stack_free(p, size);
  }
  lt_fiber_stack_free(NULL, 0);
}

/* Each stack has a guard of its own, and is freed without the others. */
static void stacks_at_once(void **state) {
  enum { COUNT = 5 };
  void *stacks[COUNT];
  size_t size = 0;
  (void)state;
  assert_int_equal(lt_fiber_stacks_new(STACK_BYTES, COUNT, stacks, &size, NULL), LT_OK);
  for (int i = 0; i < COUNT; i++) {
    memset(stacks[i], i + 1, size);
  }
  for (int i = 0; i < COUNT; i++) {
    int order = (i * 3) % COUNT; /* not that of their addresses */
    const unsigned char *stack = stacks[order];
    unsigned char in_guard;
    ssize_t n = process_vm_readv(getpid(), &(struct iovec){.iov_base = &in_guard, .iov_len = 1}, 1,
                                 &(struct iovec){.iov_base = (char *)stacks[order] - 1, .iov_len = 1}, 1, 0);
    assert_int_equal(n, -1);
    assert_int_equal(stack[0], order + 1);
    assert_int_equal(stack[size - 1], order + 1);
    lt_fiber_stack_free(stacks[order], size);
  }
}

static void stack_that_cannot_be(void **state) {
  (void)state;
  const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2, (size_t)1 << 50};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    void *stack = &stack;
    size_t size = 42;
    lt_err err = LT_ERR_INIT;
    assert_int_equal(lt_fiber_stacks_new(sizes[i], 1, &stack, &size, &err), LT_E_NOMEM);
    assert_int_equal(err.status, LT_E_NOMEM);
    assert_ptr_equal(stack, &stack);
    assert_int_equal(size, 42);
    assert_int_equal(lt_fiber_stacks_new(sizes[i], 1, &stack, &size, NULL), LT_E_NOMEM);
  }
}

/* --- what must end the process: in a child ------------------------------------------------------------------------ */

static strand doomed;

static void on_segv(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)context;
  const char *at = info->si_addr;
  const char *stack = doomed.stack;
  _exit(at < stack && at >= stack - LT_FIBER_GUARD_BYTES ? 42 : 43);
}

static void handle_segv(void) {
  static char alternate[64 * 1024];
  stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&ss, NULL);
  sigaction(SIGSEGV, &action, NULL);
}

static void goes_too_deep(void *arg) {
  (void)arg;
  deep(UINT32_MAX);
}

static void child_overflows(void) {
  handle_segv();
  strand_open(&doomed, STACK_BYTES, goes_too_deep, NULL);
  lt_fiber_resume(&doomed.fiber);
}

static void child_writes_below(void) {
  handle_segv();
  strand_open(&doomed, STACK_BYTES, goes_too_deep, NULL);
  *((volatile char *)doomed.stack - LT_FIBER_GUARD_BYTES) = 1;
}

static void child_yields_nowhere(void) {
  lt_fiber_yield();
}

static void child_resumes_ended(void) {
  strand s;
  counter c = {0, 0};
  strand_open(&s, STACK_BYTES, counts, &c);
  lt_fiber_resume(&s.fiber);
  lt_fiber_resume(&s.fiber);
}

static void resumes_itself(void *arg) {
  lt_fiber_resume(arg);
}

static void child_resumes_itself(void) {
  strand s;
  strand_open(&s, STACK_BYTES, resumes_itself, &s.fiber);
  lt_fiber_resume(&s.fiber);
}

static void releases_itself(void *arg) {
  lt_fiber_release(arg);
}

static void child_releases_running(void) {
  strand s;
  strand_open(&s, STACK_BYTES, releases_itself, &s.fiber);
  lt_fiber_resume(&s.fiber);
}

/* The wait status of a child that runs `fn`. */
static int fate_of(void (*fn)(void)) {
  int status = 0;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    signal(SIGABRT, SIG_DFL);
    if (freopen("/dev/null", "w", stderr) == NULL) { /* the check's message is not this test's output */
      _exit(1);
    }
    fn();
    _exit(0);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return status;
}

static void overflow_hits_the_guard(void **state) {
  (void)state;
  int status = fate_of(child_overflows);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 42);
  status = fate_of(child_writes_below);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 42);
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t signals_seen;

static void on_usr1(int signum) {
  (void)signum;
  signals_seen++;
}

typedef struct signalled {
  pthread_t by;
  pthread_t to;
  atomic_bool go, sent;
} signalled;

static void *send_usr1(void *arg) {
  signalled *s = arg;
  while (!atomic_load(&s->go)) {
    sched_yield();
  }
  pthread_kill(s->to, SIGUSR1);
  atomic_store(&s->sent, true);
  return NULL;
}

/* No library call between the signal and the switch. */
static void is_signalled(void *arg) {
  signalled *s = arg;
  atomic_store(&s->go, true);
  while (!atomic_load(&s->sent)) {
  }
  lt_fiber_yield();
}

/* Also under ThreadSanitizer, which would keep it for the fiber until that runs again. */
static void a_signal_outlasts_its_fiber(void **state) {
  (void)state;
  signalled s = {.to = pthread_self()};
  strand fiber;
  struct sigaction action = {.sa_handler = on_usr1}, before;
  assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
  signals_seen = 0;
  strand_open(&fiber, STACK_BYTES, is_signalled, &s);
  assert_int_equal(pthread_create(&s.by, NULL, send_usr1, &s), 0);
  assert_true(lt_fiber_resume(&fiber.fiber));
  (void)usleep(1000);
  assert_int_equal(signals_seen, 1);
  assert_false(lt_fiber_resume(&fiber.fiber));
  assert_int_equal(pthread_join(s.by, NULL), 0);
  strand_close(&fiber);
  assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static void misuse_aborts(void **state) {
  (void)state;
  void (*const children[])(void) = {child_yields_nowhere, child_resumes_ended, child_resumes_itself,
                                    child_releases_running};
  for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
    int status = fate_of(children[i]);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_in_turns),
      cmocka_unit_test(interleaves),
      cmocka_unit_test(runs_again_on_the_same_storage),
      cmocka_unit_test(nests),
      cmocka_unit_test(keeps_registers_on_both_sides),
      cmocka_unit_test(keeps_floating_point_state),
      cmocka_unit_test(aligns_any_stack),
      cmocka_unit_test(recurses_deeply),
      cmocka_unit_test(backtrace_ends_at_the_entry),
      cmocka_unit_test(runs_ten_thousand),
      cmocka_unit_test(moves_between_threads),
      cmocka_unit_test(outlives_its_threads),
      cmocka_unit_test(abandons),
      cmocka_unit_test(abandoning_does_not_add_up),
      cmocka_unit_test(stack_sizes),
      cmocka_unit_test(stacks_at_once),
      cmocka_unit_test(stack_that_cannot_be),
      cmocka_unit_test(overflow_hits_the_guard),
      cmocka_unit_test(a_signal_outlasts_its_fiber),
      cmocka_unit_test(misuse_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
