/* lathe_run on its caller's thread: what the thread is like meanwhile and afterwards, and what ends a program there. */
#include "embed_fix.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STACK_BYTES = 256 * 1024, ROUNDS = 20 };
#else
enum { STACK_BYTES = 48 * 1024, ROUNDS = 100 }; /* lathe.h says 32 KiB; the rest is cmocka's and the test's */
#endif
#define ENDLESS "for (;;) {}"

static lathe_status run(lathe_env *env, const char *code, lathe_event_fn *on_event, void *arg) {
  const lathe_run_options options = {.size = sizeof options, .code = code, .timeout_ms = EMBED_EVENT_MS};
  return lathe_run(env, &options, on_event, arg, NULL, NULL);
}

/* --- The thread stays as it is ------------------------------------------------------------------------------------ */
typedef struct thread_state {
  pthread_t thread;
  stack_t signal_stack;
  sigset_t mask;
} thread_state;

static void take_state(thread_state *ret) {
  ret->thread = pthread_self();
  sigaltstack(NULL, &ret->signal_stack);
  pthread_sigmask(SIG_SETMASK, NULL, &ret->mask);
}

static void assert_state(const thread_state *before) {
  thread_state now;
  take_state(&now);
  assert_true(pthread_equal(now.thread, before->thread));
  assert_ptr_equal(now.signal_stack.ss_sp, before->signal_stack.ss_sp);
  assert_int_equal(now.signal_stack.ss_flags, before->signal_stack.ss_flags);
  for (int signum = 1; signum < NSIG; signum++) {
    assert_int_equal(sigismember(&now.mask, signum), sigismember(&before->mask, signum));
  }
}

static void check_and_answer(lathe_env *env, const lathe_event *event, void *arg) {
  assert_state(arg);
  if (event->type == LATHE_EVENT_CALL) {
    assert_int_equal(lathe_answer(env, event->call, "20", NULL), LATHE_OK);
  }
}

static void run_all_kinds(lathe_env *env, thread_state *state) {
  static const lathe_run_options stopped = {.size = sizeof stopped, .code = ENDLESS, .timeout_ms = 20};
  take_state(state);
  assert_int_equal(run(env, "output('x'); t({}) + 1", check_and_answer, state), LATHE_OK);
  assert_int_equal(lathe_run(env, &stopped, NULL, NULL, NULL, NULL), LATHE_E_TIMEOUT);
  assert_state(state);
}

static void test_thread_stays_as_it_is(void **test) {
  (void)test;
  static char own[64 * 1024];
  const stack_t mine = {.ss_sp = own, .ss_size = sizeof own}, none = {.ss_flags = SS_DISABLE};
  stack_t first;
  thread_state state;
  sigset_t some, before;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  assert_int_equal(sigaltstack(&none, &first), 0);
  run_all_kinds(env, &state);
  sigemptyset(&some);
  sigaddset(&some, SIGSEGV);
  sigaddset(&some, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &some, &before);
  assert_int_equal(sigaltstack(&mine, NULL), 0);
  run_all_kinds(env, &state);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  assert_int_equal(sigaltstack(&first, NULL), 0);
  lathe_close(env);
}

/* With keeps_signals. Another run, which has a visit of its own, changes nothing. */
static void check_signals_are_kept(lathe_env *env, const lathe_event *event, void *arg) {
  const thread_state *own = arg;
  thread_state now;
  take_state(&now);
  assert_int_equal(now.signal_stack.ss_flags, 0);
  assert_ptr_not_equal(now.signal_stack.ss_sp, own->signal_stack.ss_sp);
  assert_false(sigismember(&now.mask, SIGSEGV));
  assert_int_equal(sigismember(&now.mask, SIGUSR1), sigismember(&own->mask, SIGUSR1));
  assert_int_equal(run(env, "u({})", check_and_answer, &now), LATHE_OK);
  assert_state(&now);
  assert_int_equal(lathe_answer(env, event->call, "1", NULL), LATHE_OK);
}

/* The program's end is a fault, after its call. */
static void run_with_kept_signals(lathe_env *env) {
  const lathe_run_options options = {.size = sizeof options,
                                     .code = "t({}); new Array(3e6).fill(0).map((v, i) => -i).sort(); " ENDLESS,
                                     .timeout_ms = 100,
                                     .memory_bytes = 512u << 20,
                                     .keeps_signals = 1};
  thread_state state;
  take_state(&state);
  assert_int_equal(lathe_run(env, &options, check_signals_are_kept, &state, NULL, NULL), LATHE_E_TIMEOUT);
  assert_state(&state);
}

static void test_signals_are_kept(void **test) {
  (void)test;
  static char own[64 * 1024];
  const stack_t mine = {.ss_sp = own, .ss_size = sizeof own}, none = {.ss_flags = SS_DISABLE};
  stack_t first;
  sigset_t some, before;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  embed_add_tool(env, "u", NULL);
  assert_int_equal(sigaltstack(&none, &first), 0);
  run_with_kept_signals(env);
  sigemptyset(&some);
  sigaddset(&some, SIGSEGV);
  sigaddset(&some, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &some, &before);
  assert_int_equal(sigaltstack(&mine, NULL), 0);
  run_with_kept_signals(env);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  assert_int_equal(sigaltstack(&first, NULL), 0);
  lathe_close(env);
}

/* --- Little stack ------------------------------------------------------------------------------------------------- */
static void answer(lathe_env *env, const lathe_event *event, void *arg) {
  (void)arg;
  if (event->type == LATHE_EVENT_CALL) {
    lathe_answer(env, event->call, event->json, NULL);
  }
}

static void *thread_with_little_stack(void *arg) {
  static const char *const programs[] = {
      "t({a: [1, {b: 2}]}).a[1].b", "function f(n) { return n ? 1 + f(n - 1) : 0 } f(3000)",
      "JSON.parse('['.repeat(5000) + ']'.repeat(5000)).length", "'x'.repeat(1e4).replace(/x/g, 'yy').length"};
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    if (run(arg, programs[i], answer, NULL) != LATHE_OK) {
      return NULL;
    }
  }
  return run(arg, "function f() { f() } f()", NULL, NULL) == LATHE_E_PROGRAM ? arg : NULL;
}

static void test_little_stack(void **test) {
  (void)test;
  pthread_t thread;
  pthread_attr_t attr;
  void *ret = NULL;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  pthread_attr_init(&attr);
  assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
  assert_int_equal(pthread_create(&thread, &attr, thread_with_little_stack, env), 0);
  pthread_join(thread, &ret);
  pthread_attr_destroy(&attr);
  assert_ptr_equal(ret, env);
  lathe_close(env);
}

/* --- Ends --------------------------------------------------------------------------------------------------------- */
/* Programs that do not poll are ended by a fault on this thread. */
static void test_programs_that_do_not_poll(void **test) {
  (void)test;
  static const char *const programs[] = {ENDLESS, "new Array(3e6).fill(0).map((v, i) => -i).sort()",
                                         "JSON.stringify(new Array(2e6).fill({a: [1, 2]})); " ENDLESS};
  lathe_env *env = embed_open(NULL);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    const lathe_run_options options = {
        .size = sizeof options, .code = programs[i], .timeout_ms = 30, .memory_bytes = 512u << 20};
    assert_int_equal(lathe_run(env, &options, NULL, NULL, NULL, NULL), LATHE_E_TIMEOUT);
    assert_int_equal(run(env, "1", NULL, NULL), LATHE_OK);
  }
  const lathe_run_options greedy = {.size = sizeof greedy, .code = "let a = []; for (;;) a.push('x'.repeat(1e6) + a)"};
  assert_int_equal(lathe_run(env, &greedy, NULL, NULL, NULL, NULL), LATHE_E_NOMEM);
  lathe_close(env);
}

/* What a program puts out reaches the host while it computes: so the host learns whom it may cancel. */
typedef struct canceller {
  lathe_env *env;
  atomic_ullong run;
  atomic_uint answered;
} canceller;

static void note_run(lathe_env *env, const lathe_event *event, void *arg) {
  canceller *c = arg;
  if (event->type == LATHE_EVENT_OUTPUT) {
    c->run = event->run;
  } else if (event->type == LATHE_EVENT_CALL) {
    c->answered++;
    lathe_answer(env, event->call, "1", NULL);
  }
}

static void *cancelling_thread(void *arg) {
  canceller *c = arg;
  while (c->run == 0) {
    usleep(500);
  }
  return lathe_cancel(c->env, c->run, NULL) == LATHE_OK ? arg : NULL;
}

static void test_cancel(void **test) {
  (void)test;
  static const char *const programs[] = {"output('x'); " ENDLESS,
                                         "const p = t({}); p.then(() => 0); output('x'); " ENDLESS};
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    pthread_t thread;
    void *ret = NULL;
    canceller c = {.env = embed_open(NULL)};
    embed_add_tool(c.env, "t", NULL);
    assert_int_equal(pthread_create(&thread, NULL, cancelling_thread, &c), 0);
    assert_int_equal(run(c.env, programs[i], note_run, &c), LATHE_E_CANCELLED);
    pthread_join(thread, &ret);
    assert_ptr_equal(ret, &c);
    assert_int_equal(c.answered, i);
    lathe_close(c.env);
  }
}

static void *endless_thread(void *arg) {
  canceller *c = arg;
  return run(c->env, "output('x'); " ENDLESS, note_run, c) == LATHE_E_CANCELLED ? arg : NULL;
}

static void test_close(void **test) {
  (void)test;
  pthread_t thread;
  void *ret = NULL;
  canceller c = {.env = embed_open(NULL)};
  assert_int_equal(pthread_create(&thread, NULL, endless_thread, &c), 0);
  while (c.run == 0) {
    usleep(500);
  }
  lathe_close(c.env);
  pthread_join(thread, &ret);
  assert_ptr_equal(ret, &c);
}

/* --- Others meanwhile --------------------------------------------------------------------------------------------- */
static void *answering_thread(void *arg) {
  lathe_env *env = arg;
  const lathe_event *event;
  unsigned ends = 0, answers = 0;
  while (ends < ROUNDS && lathe_next(env, EMBED_EVENT_MS, &event) == LATHE_OK) {
    answers += event->type == LATHE_EVENT_CALL && lathe_answer(env, event->call, "1", NULL) == LATHE_OK;
    ends += event->type == LATHE_EVENT_END && event->status == LATHE_OK;
    lathe_event_free(event);
  }
  return answers == ROUNDS ? arg : NULL;
}

/* Answers later, from another thread than the one that runs. */
static void pass_on(lathe_env *env, const lathe_event *event, void *arg) {
  (void)env;
  if (event->type == LATHE_EVENT_CALL) {
    *(atomic_ullong *)arg = event->call;
  }
}

static void *late_thread(void *arg) {
  canceller *c = arg;
  for (unsigned i = 0; i < ROUNDS; i++) {
    while (c->run == 0) {
      sched_yield();
    }
    uint64_t call = atomic_exchange(&c->run, 0);
    c->answered += lathe_answer(c->env, call, "1", NULL) == LATHE_OK;
  }
  return NULL;
}

/* Timers and runs of the queue go on, also while the host's function sleeps. */
static void test_others_meanwhile(void **test) {
  (void)test;
  pthread_t answering, late;
  void *ret = NULL;
  canceller c = {.env = embed_open(NULL)};
  embed_add_tool(c.env, "t", NULL);
  assert_int_equal(pthread_create(&answering, NULL, answering_thread, c.env), 0);
  assert_int_equal(pthread_create(&late, NULL, late_thread, &c), 0);
  for (unsigned i = 0; i < ROUNDS; i++) {
    embed_start(c.env, "t({})");
    assert_int_equal(run(c.env, "await new Promise(r => setTimeout(r, 1)); t({}) + 1", pass_on, &c.run), LATHE_OK);
  }
  pthread_join(answering, &ret);
  pthread_join(late, NULL);
  assert_ptr_equal(ret, c.env);
  assert_int_equal(c.answered, ROUNDS);
  lathe_close(c.env);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thread_stays_as_it_is),
      cmocka_unit_test(test_signals_are_kept),
      cmocka_unit_test(test_little_stack),
      cmocka_unit_test(test_programs_that_do_not_poll),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_close),
      cmocka_unit_test(test_others_meanwhile),
  };
  if (!embed_install_handlers()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
