/* Completions: what is tried again and what is not, how long is waited, what is remembered. */
#include "unit/model_fix.h"

#include "model/dialect.h"
#include "model/attempt_failure.h"

#define HELLO "Hello, w\xC3\xB6rld"

static size_t tries_of(const char *name) {
  char *sent = asked_under(name);
  size_t n = count_in(sent, "\"path\":");
  lt_mem_free(sent);
  return n;
}

/* Asks under a name of its own and expects the usual text after so many tries. */
static void comes_after(const char *behaviour, unsigned retries) {
  asked k;
  char name[64];
  snprintf(name, sizeof name, "after-%s", behaviour);
  prepare(&k, behaviour, name);
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  assert_int_equal(k.done.retries, retries);
  assert_int_equal(tries_of(name), retries + 1);
  release(&k);
}

static void never_comes(const char *behaviour, lt_status status, const char *part, unsigned tries) {
  asked k;
  char name[64];
  snprintf(name, sizeof name, "never-%s", behaviour);
  prepare(&k, behaviour, name);
  ask(&k);
  expect_failed(&k, status, part);
  assert_int_equal(tries_of(name), tries);
  release(&k);
}

/* --- Again -------------------------------------------------------------------------------------------------------- */

static void body_again(void) {
  comes_after("429-once", 1);
  comes_after("429-ms", 2);
  comes_after("429-date", 1);
  comes_after("500-twice", 2);
  comes_after("cut-first", 1);
  comes_after("cut-half", 1);
  comes_after("empty", 1);
  comes_after("error-first", 1);
}

/* A connection that was kept for the next request, and that the server closes instead of answering: libcurl asks again
 * by itself where the connection had been used before. */
static void body_kept_connection(void) {
  asked k;
  prepare(&k, "close-first", "kept-connection");
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  assert_int_equal(k.done.retries, 1);
  release(&k);
  prepare(&k, "close-first", "kept-connection-2");
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  assert_int_equal(k.done.retries, 0);
  assert_int_equal(tries_of("kept-connection-2"), 2);
  release(&k);
}

/* Half a second at the most, a quarter at the least. */
static void body_backoff(void) {
  uint64_t since = lt_loop_now_ms(loop);
  comes_after("500-backoff", 1);
  uint64_t ms = lt_loop_now_ms(loop) - since;
  assert_in_range(ms, LT_MODEL_BACKOFF_MS / 2, LT_MODEL_BACKOFF_MS + 2000);
}

static void body_for_ever(void) {
  never_comes("429-forever", LT_E_LIMIT, "given up after 6 tries", LT_MODEL_TRIES_MAX);
  never_comes("503-forever", LT_E_LIMIT, "answered 503: a web page; try again later", LT_MODEL_TRIES_MAX);
  never_comes("429-hour", LT_E_LIMIT, "wait 3600 s", 1);
  never_comes("hang-error", LT_E_LIMIT, "half an err", 1);
}

static void body_not_again(void) {
  never_comes("401", LT_E_CONFIG, "key", 1);
  never_comes("404", LT_E_CONFIG, "base URL", 1);
  never_comes("400", LT_E_INVALID, "field required", 1);
  never_comes("429-money", LT_E_LIMIT, "credit", 1);
  never_comes("html", LT_E_PROTOCOL, "web page", 1);
}

/* What was shown is not shown twice; what was not, may be asked for again. */
static void body_shown(void) {
  const char *broken[] = {"cut", "no-end", "error-middle", "error-choice"};
  for (size_t i = 0; i < 4; i++) {
    asked k;
    char name[64];
    snprintf(name, sizeof name, "shown-%s", broken[i]);
    prepare(&k, broken[i], name);
    ask(&k);
    expect_failed(&k, LT_E_CLOSED, "broke off");
    assert_int_equal(tries_of(name), 1);
    expect_in(HELLO, text_of(&k.done.text));
    assert_true(k.done.text.n > 0);
    assert_string_equal(text_of(&k.shown), text_of(&k.done.text));
    release(&k);
  }
}

static void body_not_shown(void) {
  asked k;
  prepare(&k, "cut-once", "not-shown");
  k.request.on_text = NULL;
  ask(&k);
  assert_int_equal(k.status, LT_OK);
  assert_string_equal(text_of(&k.done.text), HELLO); /* once */
  assert_int_equal(k.done.retries, 1);
  release(&k);
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

static void body_timeouts(void) {
  const char *hanging[] = {"hang-head", "hang-silent", "hang-body"};
  for (size_t i = 0; i < 3; i++) {
    asked k;
    char name[64];
    snprintf(name, sizeof name, "time-%s", hanging[i]);
    prepare(&k, hanging[i], name);
    k.model.answer_ms = k.model.idle_ms = 60;
    ask(&k);
    expect_failed(&k, LT_E_TIMEOUT, "0.06 s");
    assert_int_equal(tries_of(name), 1);
    release(&k);
  }
}

/* Comments and empty events are no answer, however fast or slow they come. */
static void body_keep_alive(void) {
  static const struct {
    const char *behaviour, *words;
    lt_status status;
  } cases[] = {{"comment-flood", "4 MiB of comments and empty events in a row", LT_E_LIMIT},
               {"comment-line", "4 MiB of comments and empty events in a row", LT_E_LIMIT},
               {"event-flood", "4 MiB of comments and empty events in a row", LT_E_LIMIT},
               {"blank-flood", "longer than 16 MiB", LT_E_LIMIT},
               {"comment-drip", "nothing but comments and empty events for 0.1 s", LT_E_TIMEOUT},
               {"comment-between", "nothing but comments and empty events for 0.15 s", LT_E_TIMEOUT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    asked k;
    prepare(&k, cases[i].behaviour, cases[i].behaviour);
    k.request.on_text = NULL;
    k.model.answer_ms = cases[i].status == LT_E_TIMEOUT ? 100 : 0;
    k.model.idle_ms = cases[i].status == LT_E_TIMEOUT ? 150 : 0;
    ask(&k);
    expect_failed(&k, cases[i].status, cases[i].words);
    assert_int_equal(tries_of(cases[i].behaviour), 1);
    release(&k);
  }
  const char *fine[] = {"comment-after", "comment-patient"};
  for (size_t i = 0; i < 2; i++) {
    asked k;
    prepare(&k, fine[i], fine[i]);
    k.model.idle_ms = 500;
    ask(&k);
    assert_int_equal(k.status, LT_OK);
    assert_string_equal(text_of(&k.done.text), HELLO);
    release(&k);
  }
}

static void cancelled_in(const char *behaviour, lt_status why) {
  asked k;
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  later l = {&cancel, 60, why};
  prepare(&k, behaviour, "cancelled");
  k.request.cancel = &cancel;
  cancel_after(&l);
  ask(&k);
  expect_failed(&k, why, "");
  lt_completion_release(&k.done);
  lt_completion_init(&k.done);
  ask(&k); /* fired before */
  expect_failed(&k, why, "");
  release(&k);
}

static void body_cancel(void) {
  cancelled_in("hang-head", LT_E_CANCELLED);
  cancelled_in("hang-body", LT_E_CANCELLED);
  cancelled_in("429-plain", LT_E_CANCELLED); /* while it waits to ask again */
  cancelled_in("hang-head", LT_E_TIMEOUT);
}

/* --- What is remembered ------------------------------------------------------------------------------------------- */

static void body_remembered(void) {
  asked k;
  prepare(&k, "wants-other", "other");
  for (int i = 0; i < 3; i++) {
    ask(&k);
    expect_ok(&k, HELLO, LT_FINISH_STOP);
    assert_int_equal(k.done.retries, i == 0 ? 1 : 0);
    lt_completion_release(&k.done);
    lt_completion_init(&k.done);
    lt_buf_clear(&k.shown);
  }
  release(&k);
  assert_int_equal(tries_of("other"), 4);
  prepare(&k, "wants-plain", "plain");
  k.request.json = true;
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  assert_int_equal(k.done.retries, 2);
  release(&k);
  prepare(&k, "wants-nothing", "nothing");
  k.request.json = true;
  ask(&k);
  expect_ok(&k, "All at once", LT_FINISH_STOP);
  assert_int_equal(k.done.retries, 2);
  release(&k);
}

/* --- Parts -------------------------------------------------------------------------------------------------------- */

static void test_wait_of(void **state) {
  (void)state;
  const int64_t now = 1000000000; /* Sun, 09 Sep 2001 01:46:40 GMT */
  lt_str none = LT_STR_NULL;
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("5"), none, now), 5000);
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("0"), none, now), 0);
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("1.5"), none, now), 2000);
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("5"), LT_STR("250"), now), 250);
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("5"), LT_STR("x"), now), 5000);
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("Sun, 09 Sep 2001 01:46:50 GMT"), none, now), 10000);
  assert_int_equal(lt_attempt_failure_wait_ms(LT_STR("Sun, 09 Sep 2001 01:40:00 GMT"), none, now), 0);
  assert_true(lt_attempt_failure_wait_ms(LT_STR("soon"), none, now) == UINT64_MAX);
  assert_true(lt_attempt_failure_wait_ms(LT_STR("-5"), none, now) == UINT64_MAX);
  assert_true(lt_attempt_failure_wait_ms(none, none, now) == UINT64_MAX);
  assert_true(lt_attempt_failure_wait_ms(LT_STR("99999999999999999999999"), none, now) > 60000);
}

static void test_reasoners(void **state) {
  (void)state;
  const char *yes[] = {"o1", "o1-mini", "o3", "o4-mini-2025", "gpt-5", "gpt-5.1-codex", "openai/o3", "gpt-6"};
  const char *no[] = {"gpt-4o", "gpt-4.1", "o", "olmo", "o1x", "llama3", "gpt-oss:20b", "qwen/qwen3", "", "gpt-"};
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
    assert_true(lt_dialect_is_reasoner(lt_str_of(yes[i])));
  }
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
    assert_false(lt_dialect_is_reasoner(lt_str_of(no[i])));
  }
}

FLOW(again)
FLOW(backoff)
FLOW(kept_connection)
FLOW(for_ever)
FLOW(not_again)
FLOW(shown)
FLOW(not_shown)
FLOW(timeouts)
FLOW(keep_alive)
FLOW(cancel)
FLOW(remembered)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wait_of),    cmocka_unit_test(test_reasoners),       cmocka_unit_test(test_again),
      cmocka_unit_test(test_backoff),    cmocka_unit_test(test_kept_connection), cmocka_unit_test(test_for_ever),
      cmocka_unit_test(test_not_again),  cmocka_unit_test(test_shown),           cmocka_unit_test(test_not_shown),
      cmocka_unit_test(test_timeouts),   cmocka_unit_test(test_keep_alive),      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_remembered),
  };
  return cmocka_run_group_tests(tests, setup_server, teardown_server);
}
