/* A thread that waits in lathe_next without an end runs the only program itself. What must not suffer from that: other
 * threads, limits, and hosts that do something else instead. */
#include "embed_fix.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { CALLS = 300, HABIT = 5 };

static const char endless[] = "output('on'); for (;;) {}";

/* The type of the next event, without an end. */
static lathe_event_type next_type(lathe_env *env, lathe_status *ret_status) {
  const lathe_event *event = NULL;
  assert_int_equal(lathe_next(env, -1, &event), LATHE_OK);
  lathe_event_type type = event->type;
  *ret_status = event->status;
  lathe_event_free(event);
  return type;
}

static uint64_t next_call(lathe_env *env) {
  const lathe_event *event = NULL;
  assert_int_equal(lathe_next(env, -1, &event), LATHE_OK);
  assert_int_equal(event->type, LATHE_EVENT_CALL);
  uint64_t call = event->call;
  lathe_event_free(event);
  return call;
}

static void expect_end(lathe_env *env, lathe_status expected) {
  lathe_status status;
  assert_int_equal(next_type(env, &status), LATHE_EVENT_END);
  assert_int_equal(status, expected);
}

/* An environment in which this thread is known to help. */
static lathe_env *open_with_helper(void) {
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t.add", NULL);
  for (int i = 0; i < HABIT; i++) {
    embed_start(env, "1");
    expect_end(env, LATHE_OK);
  }
  return env;
}

static void test_calls_in_a_row(void **state) {
  (void)state;
  lathe_env *env = open_with_helper();
  char code[100], end[40];
  snprintf(code, sizeof code, "let n = 0; for (let i = 0; i < %d; i++) n = tAdd({n}).n; n", CALLS);
  embed_start(env, code);
  for (int i = 1; i <= CALLS; i++) {
    char answer[40];
    snprintf(answer, sizeof answer, "{\"n\": %d}", i);
    assert_int_equal(lathe_answer(env, next_call(env), answer, NULL), LATHE_OK);
  }
  snprintf(end, sizeof end, "\"result\":%d", CALLS);
  embed_assert_end(env, LATHE_OK, end, "");
  lathe_close(env);
}

/* The time limit, and the end of the environment. */
static void test_endless_programs(void **state) {
  (void)state;
  lathe_env *env = open_with_helper();
  lathe_status status;
  const lathe_run_options options = {.size = sizeof options, .code = endless, .timeout_ms = 100};
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_OK);
  assert_int_equal(next_type(env, &status), LATHE_EVENT_OUTPUT);
  expect_end(env, LATHE_E_TIMEOUT);
  embed_start(env, endless);
  assert_int_equal(next_type(env, &status), LATHE_EVENT_OUTPUT);
  lathe_close(env);
}

typedef struct other {
  lathe_env *env;
  uint64_t run;
  lathe_status status;
} other;

static void *cancelling_thread(void *arg) {
  other *o = arg;
  usleep(20000); /* the other thread is inside the program then, or will be */
  o->status = lathe_cancel(o->env, o->run, NULL);
  return NULL;
}

static void *starting_thread(void *arg) {
  other *o = arg;
  const lathe_run_options options = {.size = sizeof options, .code = "tAdd({})"};
  usleep(20000);
  o->status = lathe_start(o->env, &options, NULL, NULL);
  return NULL;
}

static void *closing_thread(void *arg) {
  other *o = arg;
  usleep(20000);
  lathe_close(o->env);
  return NULL;
}

/* While this thread runs an endless program. */
static void test_other_threads(void **state) {
  (void)state;
  pthread_t thread;
  lathe_status status;
  other o = {.env = open_with_helper()};
  o.run = embed_start(o.env, endless);
  assert_int_equal(next_type(o.env, &status), LATHE_EVENT_OUTPUT);
  assert_int_equal(pthread_create(&thread, NULL, starting_thread, &o), 0);
  uint64_t call = next_call(o.env); /* of the other program */
  pthread_join(thread, NULL);
  assert_int_equal(o.status, LATHE_OK);
  assert_int_equal(lathe_answer(o.env, call, "1", NULL), LATHE_OK);
  expect_end(o.env, LATHE_OK);
  assert_int_equal(pthread_create(&thread, NULL, cancelling_thread, &o), 0);
  expect_end(o.env, LATHE_E_CANCELLED);
  pthread_join(thread, NULL);
  assert_int_equal(o.status, LATHE_OK);
  embed_start(o.env, endless);
  assert_int_equal(next_type(o.env, &status), LATHE_EVENT_OUTPUT);
  assert_int_equal(pthread_create(&thread, NULL, closing_thread, &o), 0);
  const lathe_event *event = NULL;
  assert_int_equal(lathe_next(o.env, -1, &event), LATHE_E_CLOSED);
  pthread_join(thread, NULL);
}

/* A host that has always waited begins to look at the descriptor. */
static void test_helper_does_not_come(void **state) {
  (void)state;
  lathe_env *env = open_with_helper();
  struct pollfd fd = {.fd = lathe_fd(env), .events = POLLIN};
  embed_start(env, "tAdd({n: 1})");
  assert_int_equal(poll(&fd, 1, EMBED_EVENT_MS), 1);
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(lathe_answer(env, call, "7", NULL), LATHE_OK);
  assert_int_equal(poll(&fd, 1, EMBED_EVENT_MS), 1);
  embed_assert_end(env, LATHE_OK, "\"result\":7", "");
  lathe_close(env);
}

/* Cancelled before a worker, or of many at once the loop, has looked at it. */
static void test_cancelled_at_once(void **state) {
  (void)state;
  enum { MANY = 50 };
  uint64_t runs[MANY];
  lathe_env *env = open_with_helper();
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(lathe_cancel(env, embed_start(env, "for (;;) {}"), NULL), LATHE_OK);
    expect_end(env, LATHE_E_CANCELLED);
  }
  for (int i = 0; i < MANY; i++) {
    runs[i] = embed_start(env, "for (;;) {}");
  }
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(lathe_cancel(env, runs[i], NULL), LATHE_OK);
  }
  for (int i = 0; i < MANY; i++) {
    expect_end(env, LATHE_E_CANCELLED);
  }
  lathe_close(env);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_in_a_row),    cmocka_unit_test(test_endless_programs),
      cmocka_unit_test(test_other_threads),     cmocka_unit_test(test_helper_does_not_come),
      cmocka_unit_test(test_cancelled_at_once),
  };
  if (!embed_install_handlers()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
