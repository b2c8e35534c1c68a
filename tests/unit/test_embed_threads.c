/* The library and its process: many threads, several environments, fork, signals. */
#include "embed_fix.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 40 };
#else
enum { ROUNDS = 150 };
#endif

/* --- Many threads, one environment -------------------------------------------------------------------------------- */
typedef struct crowd {
  lathe_env *env;
  atomic_uint served, failures;
  atomic_bool is_over;
} crowd;

/* One of those who answer what runs of the queue ask. */
static void serve(crowd *c, const lathe_event *event) {
  if (event->type == LATHE_EVENT_CALL) {
    c->failures += lathe_answer(c->env, event->call, event->json, NULL) != LATHE_OK;
  } else if (event->type == LATHE_EVENT_APPROVAL) {
    c->failures += lathe_approve(c->env, event->call, NULL, NULL) != LATHE_OK;
  } else if (event->type == LATHE_EVENT_END) {
    c->failures += event->status != LATHE_OK || strstr(event->json, "\"result\":3") == NULL;
    c->served++;
  }
}

static void *serving_thread(void *arg) {
  crowd *c = arg;
  const lathe_event *event;
  while (!c->is_over) {
    if (lathe_next(c->env, 5, &event) == LATHE_OK) {
      serve(c, event);
      lathe_event_free(event);
    }
  }
  return NULL;
}

static void answer_own(lathe_env *env, const lathe_event *event, void *arg) {
  crowd *c = arg;
  if (event->type == LATHE_EVENT_CALL) {
    c->failures += lathe_answer(env, event->call, event->json, NULL) != LATHE_OK;
  } else if (event->type == LATHE_EVENT_APPROVAL) {
    c->failures += lathe_approve(env, event->call, NULL, NULL) != LATHE_OK;
  }
}

static const char crowd_program[] = "tPlain({n: 1}).n + tAsked({n: 2}).n";

static void *running_thread(void *arg) {
  crowd *c = arg;
  const lathe_run_options options = {.size = sizeof options, .code = crowd_program};
  for (int i = 0; i < ROUNDS; i++) {
    char *report = NULL;
    if (i % 2 == 0) {
      c->failures += lathe_start(c->env, &options, NULL, NULL) != LATHE_OK;
      continue;
    }
    c->failures += lathe_run(c->env, &options, answer_own, c, &report, NULL) != LATHE_OK;
    c->failures += report == NULL || strstr(report, "\"result\":3") == NULL;
    lathe_free(report);
  }
  return NULL;
}

static void start_threads(pthread_t *threads, size_t count, void *(*fn)(void *arg), void *arg) {
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, fn, arg), 0);
  }
}

static void join_threads(const pthread_t *threads, size_t count) {
  for (size_t i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
  }
}

static void test_eight_threads(void **state) {
  (void)state;
  enum { RUNNERS = THREADS - 3, SERVERS = 3 };
  pthread_t runners[RUNNERS], servers[SERVERS];
  crowd c = {.env = embed_open(NULL)};
  embed_add_tool(c.env, "t.plain", NULL);
  embed_add_tool(c.env, "t.asked", "it is asked about");
  start_threads(servers, SERVERS, serving_thread, &c);
  start_threads(runners, RUNNERS, running_thread, &c);
  join_threads(runners, RUNNERS);
  while (c.served < RUNNERS * ROUNDS / 2) {
    usleep(1000);
  }
  c.is_over = true;
  join_threads(servers, SERVERS);
  assert_int_equal(c.failures, 0);
  lathe_close(c.env);
}

/* Each takes one event, and answers nothing. */
static void *taking_thread(void *arg) {
  crowd *c = arg;
  const lathe_event *event;
  if (lathe_next(c->env, -1, &event) == LATHE_OK) {
    c->failures += event->type != LATHE_EVENT_CALL;
    c->served++;
    lathe_event_free(event);
  }
  return NULL;
}

/* For several events one thread is woken. It takes one event, and wakes the next thread for the others. */
static void test_event_for_each_thread(void **state) {
  (void)state;
  enum { TAKERS = 40 };
  pthread_t takers[TAKERS];
  crowd c = {.env = embed_open(NULL)};
  embed_add_tool(c.env, "t.plain", NULL);
  start_threads(takers, TAKERS, taking_thread, &c);
  for (int i = 0; i < TAKERS; i++) {
    embed_start(c.env, "tPlain({})");
  }
  for (int ms = 0; ms < EMBED_EVENT_MS && c.served < TAKERS; ms++) {
    usleep(1000);
  }
  assert_int_equal(c.served, TAKERS);
  join_threads(takers, TAKERS);
  assert_int_equal(c.failures, 0);
  lathe_close(c.env);
}

/* --- Everything at once, also what is wrong ----------------------------------------------------------------------- */
/* The same numbers in every run of the test: a failure can be repeated, as far as threads allow. */
typedef struct stranger {
  lathe_env *env;
  uint64_t random;
  char *snapshot; /* the last one; NULL: none */
} stranger;

static unsigned stranger_random(stranger *s, unsigned below) {
  s->random = s->random * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(s->random >> 33) % below;
}

/* A number that is or was of a run or a call, or will be. */
static uint64_t stranger_number(stranger *s) {
  return stranger_random(s, 400);
}

static const char *stranger_program(stranger *s) {
  static const char *const programs[] = {"1",
                                         "tPlain({})",
                                         "tAsked({})",
                                         "for (;;) {}",
                                         "null.x",
                                         "tGone({})",
                                         "output('a'); log('b')",
                                         "syntax error",
                                         "tPlain()",
                                         "parallel([{tool: 't.plain'}, {tool: 't.asked'}])"};
  return programs[stranger_random(s, sizeof programs / sizeof programs[0])];
}

static void stranger_run(stranger *s) {
  const lathe_run_options options = {.size = sizeof options - (stranger_random(s, 20) == 0 ? 1 : 0),
                                     .code = stranger_program(s),
                                     .timeout_ms = 1 + stranger_random(s, 30),
                                     .can_snapshot = stranger_random(s, 2) == 0};
  if (stranger_random(s, 3) > 0) {
    (void)lathe_start(s->env, &options, NULL, NULL);
  } else {
    char *report;
    (void)lathe_run(s->env, &options, NULL, NULL, &report, NULL);
    lathe_free(report);
  }
}

static void stranger_prompt(stranger *s) {
  const lathe_prompt_options options = {.size = sizeof options, .input = stranger_program(s)};
  (void)lathe_prompt(s->env, &options, NULL, NULL);
}

/* Writes down a run of its own as soon as it waits, and lets one go on. */
static void stranger_move(stranger *s) {
  char *snapshot = NULL;
  uint64_t run = 0;
  const lathe_run_options options = {
      .size = sizeof options, .code = stranger_program(s), .timeout_ms = 30, .can_snapshot = 1};
  (void)lathe_start(s->env, &options, &run, NULL);
  while (lathe_snapshot(s->env, run, &snapshot, NULL) == LATHE_E_INVALID) { /* it does not wait so far */
  }
  if (snapshot != NULL) {
    lathe_free(s->snapshot);
    s->snapshot = snapshot;
  }
  (void)lathe_restore(s->env, s->snapshot, NULL, NULL, NULL);
}

static void stranger_change_tools(stranger *s) {
  static const char *const names[] = {"t.plain", "t.gone", "", "artifact.x"};
  const lathe_tool_options tool = {.size = sizeof tool, .name = names[stranger_random(s, 4)]};
  if (stranger_random(s, 2) == 0) {
    (void)lathe_add_tool(s->env, &tool, NULL);
  } else {
    (void)lathe_remove_tool(s->env, "t.gone", NULL);
  }
}

static void stranger_take(stranger *s) {
  const lathe_event *event;
  if (lathe_next(s->env, (int)stranger_random(s, 3), &event) == LATHE_OK) {
    uint64_t number = stranger_random(s, 4) == 0 ? stranger_number(s) : event->call;
    lathe_status (*const answers[])(lathe_env *, uint64_t, const char *, lathe_error *) = {lathe_answer, lathe_fail,
                                                                                           lathe_approve, lathe_reject};
    for (unsigned left = stranger_random(s, 4); left > 0; left--) {
      (void)answers[stranger_random(s, 4)](s->env, number, stranger_random(s, 3) == 0 ? "{" : NULL, NULL);
    }
    lathe_event_free(event);
  }
}

static void stranger_ask(stranger *s) {
  char *text = NULL;
  const lathe_run_options options = {.size = sizeof options, .code = "let a = tPlain({}); b"};
  switch (stranger_random(s, 3)) {
    case 0:
      (void)lathe_tools(s->env, "plain", stranger_random(s, 3), &text, NULL);
      break;
    case 1:
      (void)lathe_declare(s->env, "ts", 0, &text, NULL);
      break;
    default:
      (void)lathe_check(s->env, &options, &text, NULL);
      break;
  }
  lathe_free(text);
}

static void *stranger_thread(void *arg) {
  stranger *s = arg;
  void (*const acts[])(stranger *) = {stranger_run,    stranger_run,  stranger_take,
                                      stranger_take,   stranger_take, stranger_move,
                                      stranger_prompt, stranger_ask,  stranger_change_tools};
  for (int i = 0; i < ROUNDS; i++) {
    acts[stranger_random(s, sizeof acts / sizeof acts[0])](s);
    (void)lathe_cancel(s->env, stranger_number(s), NULL);
  }
  lathe_free(s->snapshot);
  return NULL;
}

static void test_any_order_of_calls(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  stranger strangers[THREADS];
  /* Prompts that are programs ask no model. */
  lathe_env *env = embed_open(
      "{models: [{ref: none, baseUrl: 'http://127.0.0.1:1/v1'}],"
      " defaults: {mode: program}, sandbox: {timeoutMs: 100}}");
  embed_add_tool(env, "t.plain", NULL);
  embed_add_tool(env, "t.asked", "it is asked about");
  for (size_t i = 0; i < THREADS; i++) {
    strangers[i] = (stranger){.env = env, .random = i + 1};
    start_threads(&threads[i], 1, stranger_thread, &strangers[i]);
  }
  join_threads(threads, THREADS);
  lathe_close(env);
}

/* --- Closing while others are inside ------------------------------------------------------------------------------ */
typedef struct endless {
  lathe_env *env;
  atomic_uint events, calls;
} endless;

static void *waiting_thread(void *arg) {
  endless *e = arg;
  const lathe_event *event = NULL;
  lathe_status status;
  while ((status = lathe_next(e->env, -1, &event)) == LATHE_OK) {
    lathe_event_free(event);
    e->events++;
  }
  return status == LATHE_E_CLOSED ? arg : NULL;
}

static void never_answer(lathe_env *env, const lathe_event *event, void *arg) {
  (void)env;
  if (event->type == LATHE_EVENT_CALL) {
    ++*(atomic_uint *)arg;
  }
}

static void *endless_thread(void *arg) {
  endless *e = arg;
  const lathe_run_options options = {.size = sizeof options, .code = "t({})"};
  return lathe_run(e->env, &options, never_answer, &e->calls, NULL, NULL) == LATHE_E_CANCELLED ? arg : NULL;
}

static void test_close_ends_those_that_wait(void **state) {
  (void)state;
  pthread_t waiting, running;
  void *closed = NULL, *cancelled = NULL;
  endless e = {.env = embed_open(NULL)};
  embed_add_tool(e.env, "t", NULL);
  start_threads(&waiting, 1, waiting_thread, &e);
  start_threads(&running, 1, endless_thread, &e);
  embed_start(e.env, "1");
  while (e.calls == 0 || e.events == 0) {
    usleep(1000);
  }
  usleep(50000); /* until the other thread waits again */
  lathe_close(e.env);
  pthread_join(waiting, &closed);
  pthread_join(running, &cancelled);
  assert_ptr_equal(closed, &e);
  assert_ptr_equal(cancelled, &e);
}

/* --- Several environments ----------------------------------------------------------------------------------------- */
static void *own_environment_thread(void *arg) {
  atomic_uint *failures = arg;
  for (int i = 0; i < 3; i++) {
    char *report = NULL;
    lathe_env *env = embed_open("{\"tools\": {\"policy\": [{\"match\": \"t.no\", \"action\": \"deny\"}]}}");
    const lathe_run_options options = {.size = sizeof options, .code = "new Intl.NumberFormat('de').format(1234.5)"};
    *failures += lathe_run(env, &options, NULL, NULL, &report, NULL) != LATHE_OK;
    *failures += report == NULL || strstr(report, "1.234,5") == NULL;
    lathe_free(report);
    lathe_close(env);
  }
  return NULL;
}

static void test_several_environments(void **state) {
  (void)state;
  pthread_t threads[THREADS / 2];
  atomic_uint failures = 0;
  lathe_env *one = embed_open(NULL), *other = embed_open(NULL);
  embed_add_tool(one, "t.mine", NULL);
  start_threads(threads, THREADS / 2, own_environment_thread, &failures);
  embed_start(one, "tMine({})");
  uint64_t call = embed_next_call(one, LATHE_EVENT_CALL);
  assert_int_equal(lathe_answer(other, call, "1", NULL), LATHE_E_NOTFOUND);
  embed_start(other, "tMine({})");
  embed_assert_end(other, LATHE_E_PROGRAM, "", "tMine");
  lathe_close(other);
  assert_int_equal(lathe_answer(one, call, "1", NULL), LATHE_OK);
  embed_assert_end(one, LATHE_OK, "\"result\":1", "");
  lathe_close(one);
  join_threads(threads, THREADS / 2);
  assert_int_equal(failures, 0);
}

/* --- fork --------------------------------------------------------------------------------------------------------- */
static int child_of(lathe_env *env) {
  const lathe_event *event = NULL;
  uint64_t run = 1;
  char *text = NULL;
  lathe_error error = {.size = sizeof error};
  const lathe_run_options options = {.size = sizeof options, .code = "1"};
  const lathe_prompt_options prompt = {.size = sizeof prompt, .input = "1"};
  bool is_told =
      lathe_prompt(env, &prompt, &run, NULL) == LATHE_E_FORKED &&
      lathe_snapshot(env, 1, &text, NULL) == LATHE_E_FORKED &&
      lathe_restore(env, "{}", NULL, &run, NULL) == LATHE_E_FORKED && lathe_next(env, -1, &event) == LATHE_E_FORKED &&
      lathe_start(env, &options, &run, &error) == LATHE_E_FORKED &&
      lathe_run(env, &options, NULL, NULL, &text, NULL) == LATHE_E_FORKED &&
      lathe_answer(env, 1, "1", NULL) == LATHE_E_FORKED && lathe_tools(env, NULL, 0, &text, NULL) == LATHE_E_FORKED &&
      lathe_cancel(env, 1, NULL) == LATHE_E_FORKED && lathe_fd(env) == -1;
  lathe_close(env);
  return is_told && strstr(error.message, "parent") != NULL ? 0 : 1;
}

static int await_child(pid_t child) {
  int how = -1;
  assert_int_not_equal(child, -1);
  assert_int_equal(waitpid(child, &how, 0), child);
  return how;
}

static void test_fork(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_start(env, "1");
  pid_t child = fork();
  if (child == 0) {
    _exit(child_of(env));
  }
  assert_int_equal(await_child(child), 0);
  embed_assert_end(env, LATHE_OK, "\"result\":1", "");
  lathe_close(env);
}

/* ThreadSanitizer does not follow threads of a child of a process with threads. */
#ifndef __SANITIZE_THREAD__
static int child_with_its_own(void) {
  lathe_env *env = NULL;
  const lathe_run_options options = {.size = sizeof options, .code = "1"};
  bool has_run =
      lathe_open(NULL, &env, NULL) == LATHE_OK && lathe_run(env, &options, NULL, NULL, NULL, NULL) == LATHE_OK;
  lathe_close(env);
  return has_run ? 0 : 1;
}

static void test_environment_of_a_child(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_start(env, "1");
  embed_assert_end(env, LATHE_OK, "\"result\":1", "");
  pid_t child = fork();
  if (child == 0) {
    _exit(child_with_its_own());
  }
  assert_int_equal(await_child(child), 0);
  lathe_close(env);
}
#endif

/* --- What it does to its process ---------------------------------------------------------------------------------- */
static atomic_uint faults, alarms;
static pthread_t alarmed;

static void on_fault(int signum) {
  (void)signum;
  faults++;
}

static void on_alarm(int signum) {
  (void)signum;
  alarmed = pthread_self();
  alarms++;
}

static void set_handler(int signum, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  assert_int_equal(sigaction(signum, &action, NULL), 0);
}

/* Faults of the host reach the handler that was there before the library's, before and after programs were ended by a
 * fault. */
static void test_faults_are_the_hosts(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const lathe_run_options loops = {.size = sizeof loops, .code = "for (;;) {}", .timeout_ms = 20};
  const lathe_run_options sorts = {.size = sizeof sorts,
                                   .code = "const a = new Array(3e5).fill(0).map((_, i) => -i); for (;;) a.sort()",
                                   .timeout_ms = 60};
  for (unsigned i = 1; i <= 2; i++) {
    assert_int_equal(lathe_run(env, &loops, NULL, NULL, NULL, NULL), LATHE_E_TIMEOUT);
    assert_int_equal(lathe_run(env, &sorts, NULL, NULL, NULL, NULL), LATHE_E_TIMEOUT);
    assert_int_equal(raise(SIGSEGV), 0);
    assert_int_equal(faults, i);
  }
  lathe_close(env);
}

/* The handlers of all signals but those of faults. */
static void read_handlers(void (*ret[32])(int)) {
  for (int signum = 1; signum < 32; signum++) {
    if (signum != SIGSEGV && signum != SIGBUS && signum != SIGKILL && signum != SIGSTOP) {
      struct sigaction action;
      assert_int_equal(sigaction(signum, NULL, &action), 0);
      ret[signum] = action.sa_handler;
    }
  }
}

static void test_process_is_left_alone(void **state) {
  (void)state;
  static void (*before[32])(int), (*now[32])(int);
  struct rlimit files_before, files_now;
  sigset_t mask_before, mask_now;
  char folder_before[300], folder_now[300];
  set_handler(SIGALRM, on_alarm);
  read_handlers(before);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files_before), 0);
  pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
  assert_non_null(getcwd(folder_before, sizeof folder_before));
  lathe_env *env = embed_open(NULL);
  embed_start(env, "1");
  embed_assert_end(env, LATHE_OK, "\"result\":1", "");
  read_handlers(now);
  assert_memory_equal(before, now, sizeof before);
  for (unsigned i = 1; i <= 20; i++) { /* to the process: the kernel may choose any thread that does not block it */
    assert_int_equal(kill(getpid(), SIGALRM), 0);
    while (alarms < i) {
      usleep(100);
    }
    assert_true(pthread_equal(alarmed, pthread_self()));
  }
  lathe_close(env);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files_now), 0);
  assert_memory_equal(&files_before, &files_now, sizeof files_now);
  pthread_sigmask(SIG_SETMASK, NULL, &mask_now);
  assert_int_equal(sigismember(&mask_before, SIGPIPE), sigismember(&mask_now, SIGPIPE));
  assert_non_null(getcwd(folder_now, sizeof folder_now));
  assert_string_equal(folder_before, folder_now);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_process_is_left_alone),  cmocka_unit_test(test_faults_are_the_hosts),
      cmocka_unit_test(test_eight_threads),          cmocka_unit_test(test_event_for_each_thread),
      cmocka_unit_test(test_any_order_of_calls),     cmocka_unit_test(test_close_ends_those_that_wait),
      cmocka_unit_test(test_several_environments),   cmocka_unit_test(test_fork),
#ifndef __SANITIZE_THREAD__
      cmocka_unit_test(test_environment_of_a_child),
#endif
  };
  set_handler(SIGSEGV, on_fault); /* before the library's, which the first program installs for good */
  return embed_install_handlers() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
