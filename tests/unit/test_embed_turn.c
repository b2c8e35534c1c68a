/* lathe_turn: a run that a thread of the host turns from one event to the next, and may leave to the environment. */
#include "embed_fix.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 20 };
#else
enum { ROUNDS = 200 };
#endif
#define ENDLESS "for (;;) {}"

static uint64_t start(lathe_env *env, const char *code) {
  uint64_t run = 0;
  const lathe_run_options options = {.size = sizeof options, .code = code, .timeout_ms = EMBED_EVENT_MS, .by_turns = 1};
  assert_int_equal(lathe_start(env, &options, &run, NULL), LATHE_OK);
  return run;
}

/* The next event of the run, which has this type. */
static const lathe_event *turn(lathe_env *env, uint64_t run, lathe_event_type type) {
  const lathe_event *event = NULL;
  assert_int_equal(lathe_turn(env, run, -1, EMBED_EVENT_MS, &event), LATHE_OK);
  assert_int_equal(event->type, type);
  assert_int_equal(event->run, run);
  return event;
}

static uint64_t turn_to_call(lathe_env *env, uint64_t run) {
  const lathe_event *event = turn(env, run, LATHE_EVENT_CALL);
  uint64_t call = event->call;
  lathe_event_free(event);
  return call;
}

static void assert_turn_end(lathe_env *env, uint64_t run, lathe_status status, const char *report) {
  const lathe_event *event = turn(env, run, LATHE_EVENT_END);
  assert_int_equal(event->status, status);
  assert_has(event->json, report);
  lathe_event_free(event);
  assert_int_equal(lathe_turn(env, run, -1, -1, &event), LATHE_E_NOTFOUND);
  assert_null(event);
}

static lathe_status turn_without_event(lathe_env *env, uint64_t run, int work_ms, int wait_ms) {
  const lathe_event *event = NULL;
  lathe_status status = lathe_turn(env, run, work_ms, wait_ms, &event);
  assert_null(event);
  return status;
}

/* The cancel may come when the run has done something more. */
static void assert_cancelled(lathe_env *env, uint64_t run) {
  const lathe_event *event;
  int type = 0;
  while (type != LATHE_EVENT_END) {
    assert_int_equal(lathe_turn(env, run, -1, EMBED_EVENT_MS, &event), LATHE_OK);
    type = event->type;
    assert_int_equal(event->status, type == LATHE_EVENT_END ? LATHE_E_CANCELLED : LATHE_OK);
    lathe_event_free(event);
  }
}

/* --- Turning ------------------------------------------------------------------------------------------------------ */
static void test_events(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  uint64_t run = start(env, "output('x'); let n = 0; for (let i = 0; i < 3; i++) n += t({i}); n"),
           other = start(env, "7");
  const lathe_event *event = turn(env, run, LATHE_EVENT_OUTPUT);
  assert_string_equal(event->text, "x");
  lathe_event_free(event);
  for (int i = 0; i < 3; i++) {
    uint64_t call = turn_to_call(env, run);
    assert_int_equal(turn_without_event(env, run, -1, 0), LATHE_E_TIMEOUT); /* it waits for the answer */
    assert_int_equal(lathe_answer(env, call, "5", NULL), LATHE_OK);
  }
  assert_turn_end(env, run, LATHE_OK, "\"result\":15");
  assert_turn_end(env, other, LATHE_OK, "\"result\":7");
  assert_turn_end(env, start(env, "null.x"), LATHE_E_PROGRAM, "\"line\":1");
  assert_int_equal(lathe_next(env, 0, &event), LATHE_E_TIMEOUT); /* none of all that is in the queue */
  lathe_close(env);
}

/* Its own limit of time counts beside those of the turns. */
static void test_time(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  uint64_t run = start(env, ENDLESS);
  assert_int_equal(turn_without_event(env, run, 5, -1), LATHE_E_TIMEOUT);
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_OK);
  assert_cancelled(env, run);
  const lathe_run_options options = {.size = sizeof options, .code = ENDLESS, .timeout_ms = 50, .by_turns = 1};
  assert_int_equal(lathe_start(env, &options, &run, NULL), LATHE_OK);
  assert_turn_end(env, run, LATHE_E_TIMEOUT, "timeout");
  run = start(env, "sleep(500); 4");
  assert_int_equal(turn_without_event(env, run, -1, 0), LATHE_E_TIMEOUT);
  assert_int_equal(turn_without_event(env, run, -1, 1), LATHE_E_TIMEOUT);
  assert_turn_end(env, run, LATHE_OK, "\"result\":4");
  lathe_close(env);
}

static atomic_int signals;

static void on_alarm(int signum) {
  (void)signum;
  signals++;
}

static void test_signal_ends_a_wait(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  uint64_t run = start(env, "t({})"), call = turn_to_call(env, run);
  struct sigaction before, alarm = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval soon = {.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}};
  sigaction(SIGALRM, &alarm, &before);
  setitimer(ITIMER_REAL, &soon, NULL); /* the library's threads block it */
  assert_int_equal(turn_without_event(env, run, -1, 3600000), LATHE_E_TIMEOUT);
  assert_true(signals > 0);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  sigaction(SIGALRM, &before, NULL);
  assert_int_equal(lathe_answer(env, call, "1", NULL), LATHE_OK);
  assert_turn_end(env, run, LATHE_OK, "\"result\":1");
  lathe_close(env);
}

static void test_cancel(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  uint64_t unbegun = start(env, "t({})"), computing = start(env, ENDLESS), waiting = start(env, "t({})");
  (void)turn_to_call(env, waiting);
  assert_int_equal(turn_without_event(env, computing, 1, 0), LATHE_E_TIMEOUT);
  assert_int_equal(lathe_cancel(env, unbegun, NULL), LATHE_OK);
  assert_int_equal(lathe_cancel(env, computing, NULL), LATHE_OK);
  assert_int_equal(lathe_cancel(env, waiting, NULL), LATHE_OK);
  assert_cancelled(env, unbegun);
  assert_cancelled(env, computing);
  assert_cancelled(env, waiting);
  lathe_close(env);
}

/* --- Leaving ------------------------------------------------------------------------------------------------------ */
static void detach(lathe_env *env, uint64_t run) {
  assert_int_equal(lathe_detach(env, run, NULL), LATHE_OK);
  assert_int_equal(turn_without_event(env, run, -1, -1), LATHE_E_NOTFOUND);
  assert_int_equal(lathe_detach(env, run, NULL), LATHE_E_NOTFOUND);
}

static void test_detach(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  detach(env, start(env, "1 + 2")); /* before it has begun */
  embed_assert_end(env, LATHE_OK, "\"result\":3", "");

  uint64_t run = start(env, "t({}) + t({})"), call = turn_to_call(env, run); /* in a call */
  detach(env, run);
  assert_int_equal(lathe_answer(env, call, "1", NULL), LATHE_OK);
  usleep(1500000); /* after a second it leaves its box, as those that were never turned */
  assert_int_equal(lathe_answer(env, embed_next_call(env, LATHE_EVENT_CALL), "2", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_OK, "\"result\":3", "");

  run = start(env, "let n = 0; for (let i = 0; i < 3e6; i++) n += i % 2; n"); /* while it computes */
  assert_int_equal(turn_without_event(env, run, 1, 0), LATHE_E_TIMEOUT);
  detach(env, run);
  embed_assert_end(env, LATHE_OK, "\"result\":1500000", "");

  run = start(env, "sleep(300); 5"); /* while it sleeps */
  assert_int_equal(turn_without_event(env, run, -1, 0), LATHE_E_TIMEOUT);
  detach(env, run);
  embed_assert_end(env, LATHE_OK, "\"result\":5", "");

  run = start(env, "output('x'); 6"); /* with events that were not taken */
  call = start(env, ENDLESS);
  assert_int_equal(lathe_cancel(env, call, NULL), LATHE_OK);
  lathe_event_free(turn(env, run, LATHE_EVENT_OUTPUT));
  detach(env, run);
  embed_assert_end(env, LATHE_OK, "\"result\":6", "");
  detach(env, call);
  embed_assert_end(env, LATHE_E_CANCELLED, "{", "cancelled");
  lathe_close(env);
}

/* After one turn, after two, and so on, until a run ends before it is left: so it is left, too, between the last step
 * of its program on this thread and what follows from that. */
static void test_detach_after_each_turn(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const lathe_event *event = NULL;
  for (int turns = 0; event == NULL; turns++) {
    assert_in_range(turns, 0, 100);
    uint64_t run = start(env, "1 + 2");
    for (int i = 0; i < turns && event == NULL; i++) {
      (void)lathe_turn(env, run, 0, 0, &event);
    }
    if (event == NULL) {
      detach(env, run);
      embed_assert_end(env, LATHE_OK, "\"result\":3", "");
    }
  }
  assert_int_equal(event->type, LATHE_EVENT_END);
  lathe_event_free(event);
  lathe_close(env);
}

static void test_close(void **state) {
  (void)state;
  for (int turns = 0; turns < 3; turns++) {
    lathe_env *env = embed_open(NULL);
    embed_add_tool(env, "t", NULL);
    uint64_t waiting = start(env, "output('x'); t({})"), computing = start(env, ENDLESS), left = start(env, "t({})");
    const lathe_event *event;
    for (int i = 0; i < turns; i++) {
      assert_int_equal(lathe_turn(env, waiting, -1, 0, &event), LATHE_OK);
      lathe_event_free(event);
      assert_int_equal(turn_without_event(env, computing, 1, 0), LATHE_E_TIMEOUT);
    }
    detach(env, left);
    lathe_close(env);
  }
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */
typedef struct crowd {
  lathe_env *env;
  atomic_uint ends;
} crowd;

static int take(crowd *c, const lathe_event *event) {
  int type = event->type;
  if (type == LATHE_EVENT_CALL) {
    (void)lathe_answer(c->env, event->call, "1", NULL);
  }
  c->ends += type == LATHE_EVENT_END && event->status == LATHE_OK && strstr(event->json, "\"result\":6") != NULL;
  lathe_event_free(event);
  return type;
}

static void *queue_thread(void *arg) {
  crowd *c = arg;
  const lathe_event *event;
  while (c->ends < ROUNDS && lathe_next(c->env, EMBED_EVENT_MS, &event) == LATHE_OK) {
    (void)take(c, event);
  }
  return NULL;
}

/* Each run is left at another moment, or ends before; another thread answers those that were left. */
static void test_detach_at_any_time(void **state) {
  (void)state;
  crowd c = {.env = embed_open(NULL)};
  pthread_t queue;
  embed_add_tool(c.env, "t", NULL);
  assert_int_equal(pthread_create(&queue, NULL, queue_thread, &c), 0);
  for (unsigned i = 0; i < ROUNDS; i++) {
    uint64_t run = start(
        c.env,
        "let n = t({}) + t({}); sleep(1); n += parallel([{tool: 't', input: {}}, {tool: 't', input: {}}])[1] + t({});"
        " for (let i = 0; i < 1e4; i++); n + 2");
    int type = 0;
    for (unsigned k = 0; k < i % 10 && type != LATHE_EVENT_END; k++) {
      const lathe_event *event;
      if (lathe_turn(c.env, run, k % 2 == 0 ? -1 : 0, k % 3 == 0 ? 0 : 2, &event) == LATHE_OK) {
        type = take(&c, event);
      }
    }
    if (type != LATHE_EVENT_END) {
      detach(c.env, run);
    }
  }
  for (int ms = 0; c.ends < ROUNDS && ms < EMBED_EVENT_MS; ms++) {
    usleep(1000);
  }
  assert_int_equal(c.ends, ROUNDS);
  lathe_close(c.env); /* ends the wait of the thread, if it did not take the last end */
  pthread_join(queue, NULL);
}

typedef struct one_run {
  lathe_env *env;
  uint64_t run;
  atomic_uint ends, refused;
} one_run;

static void *turning_thread(void *arg) {
  one_run *r = arg;
  const lathe_event *event;
  lathe_status status;
  while ((status = lathe_turn(r->env, r->run, 1, 1, &event)) != LATHE_E_NOTFOUND) {
    r->refused += status == LATHE_E_INVALID;
    r->ends += event != NULL && event->type == LATHE_EVENT_END;
    lathe_event_free(event);
  }
  return NULL;
}

/* One after the other they may turn it; at the same time only one does. */
static void test_several_threads(void **state) {
  (void)state;
  pthread_t threads[4];
  one_run r = {.env = embed_open(NULL)};
  r.run = start(r.env, "for (let i = 0; i < 20; i++) { sleep(1); for (let k = 0; k < 1e5; k++); } 1");
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, turning_thread, &r), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
  assert_int_equal(r.ends, 1);
  lathe_close(r.env);
}

static void test_bad_arguments(void **state) {
  (void)state;
  const lathe_event *event = NULL;
  lathe_env *env = embed_open(NULL);
  uint64_t run = embed_start(env, "1");
  assert_int_equal(lathe_turn(NULL, run, -1, -1, &event), LATHE_E_INVALID);
  assert_int_equal(lathe_turn(env, run, -1, -1, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_turn(env, run, -1, -1, &event), LATHE_E_NOTFOUND); /* it was not started for that */
  assert_int_equal(lathe_turn(env, 0, -1, -1, &event), LATHE_E_NOTFOUND);
  lathe_error error = {.size = sizeof error};
  assert_int_equal(lathe_detach(env, run, &error), LATHE_E_NOTFOUND);
  assert_has(error.message, "to be turned");
  lathe_close(env);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_time),
      cmocka_unit_test(test_signal_ends_a_wait),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_detach),
      cmocka_unit_test(test_detach_after_each_turn),
      cmocka_unit_test(test_close),
      cmocka_unit_test(test_detach_at_any_time),
      cmocka_unit_test(test_several_threads),
      cmocka_unit_test(test_bad_arguments),
  };
  if (!embed_install_handlers()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
