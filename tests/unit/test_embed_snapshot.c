/* Runs that go on in another environment from a snapshot: what they had, what comes again, and what is no snapshot. */
#include "embed_fix.h"

#include "base/limits.h"
#include "base/mem.h"

static uint64_t start(lathe_env *env, const char *code, const char *input) {
  uint64_t run = 0;
  const lathe_run_options options = {.size = sizeof options, .code = code, .input = input, .can_snapshot = 1};
  assert_int_equal(lathe_start(env, &options, &run, NULL), LATHE_OK);
  return run;
}

/* The snapshot of a run that waits, whose environment is closed then. */
static char *take_snapshot(lathe_env *env, uint64_t run) {
  char *snapshot = NULL;
  lathe_error error = {.size = sizeof error};
  if (lathe_snapshot(env, run, &snapshot, &error) != LATHE_OK) {
    fail_msg("lathe_snapshot: %s", error.message);
  }
  lathe_close(env);
  return snapshot;
}

static uint64_t restore(lathe_env *env, const char *snapshot) {
  uint64_t run = 0;
  lathe_error error = {.size = sizeof error};
  if (lathe_restore(env, snapshot, &run, &run, &error) != LATHE_OK) {
    fail_msg("lathe_restore: %s", error.message);
  }
  return run;
}

static lathe_env *open_with_tools(void) {
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "shop.stock", NULL);
  embed_add_tool(env, "shop.order", "it costs");
  return env;
}

static void answer_next(lathe_env *env, const char *tool, const char *answer, uint64_t earlier) {
  const lathe_event *event = embed_next(env, LATHE_EVENT_CALL);
  assert_string_equal(event->tool, tool);
  assert_int_equal(event->earlier_call, earlier);
  assert_int_equal(lathe_answer(env, event->call, answer, NULL), LATHE_OK);
  lathe_event_free(event);
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */
/* What was answered is not asked again, and the program sees the time and the random numbers that it saw. */
static void test_call(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env,
                       "const seen = [Date.now(), Math.random()]; output(seen);"
                       "const a = shopStock({item: 'tea'}); const b = shopStock({item: input.other});"
                       "[a + b, seen, Date.now() >= seen[0]]",
                       "{\"other\": \"rusks\"}");
  const lathe_event *before = embed_next(env, LATHE_EVENT_OUTPUT);
  answer_next(env, "shop.stock", "40", 0);
  uint64_t number = embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run);
  env = open_with_tools();
  run = restore(env, snapshot);
  lathe_free(snapshot);
  const lathe_event *again = embed_next(env, LATHE_EVENT_OUTPUT);
  assert_string_equal(again->text, before->text);
  const lathe_event *event = embed_next(env, LATHE_EVENT_CALL);
  assert_string_equal(event->json, "{\"item\":\"rusks\"}");
  assert_int_equal(event->earlier_call, number);
  assert_int_equal(event->run, run);
  assert_int_equal(lathe_answer(env, event->call, "2", NULL), LATHE_OK);
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_END);
  assert_int_equal(event->status, LATHE_OK);
  assert_has(event->json, "\"result\":[42,");
  assert_has(event->json, before->text);
  lathe_event_free(event);
  lathe_event_free(before);
  lathe_event_free(again);
  lathe_close(env);
}

/* Two calls at once, the second one answered; and once more from the restored run. */
static void test_parallel_twice(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(
      env, "parallel([{tool: 'shop.stock', input: {item: 'a'}}, {tool: 'shop.stock', input: {item: 'b'}}])", NULL);
  uint64_t first = embed_next_call(env, LATHE_EVENT_CALL);
  answer_next(env, "shop.stock", "2", 0);
  char *snapshot = take_snapshot(env, run);
  for (int i = 0; i < 2; i++) {
    env = open_with_tools();
    embed_start(env, "shopStock({})"); /* numbers differ from those of before */
    lathe_event_free(embed_next(env, LATHE_EVENT_CALL));
    run = restore(env, snapshot);
    lathe_free(snapshot);
    const lathe_event *event = embed_next(env, LATHE_EVENT_CALL);
    assert_has(event->json, "\"a\"");
    assert_int_equal(event->earlier_call, first);
    first = event->call;
    lathe_event_free(event);
    snapshot = i == 0 ? take_snapshot(env, run) : NULL;
  }
  assert_int_equal(lathe_answer(env, first, "1", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_OK, "\"result\":[1,2]", "");
  lathe_close(env);
}

static void test_approval(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopOrder({n: 3})", NULL);
  uint64_t question = embed_next_call(env, LATHE_EVENT_APPROVAL);
  char *snapshot = take_snapshot(env, run);
  env = open_with_tools();
  run = restore(env, snapshot);
  const lathe_event *event = embed_next(env, LATHE_EVENT_APPROVAL);
  assert_int_equal(event->earlier_call, question);
  assert_has(event->text, "it costs");
  assert_int_equal(lathe_approve(env, event->call, NULL, NULL), LATHE_OK);
  lathe_event_free(event);
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  lathe_free(snapshot);
  snapshot = take_snapshot(env, run);
  env = open_with_tools();
  restore(env, snapshot); /* what was approved is not asked about again */
  answer_next(env, "shop.order", "\"on its way\"", call);
  embed_assert_end(env, LATHE_OK, "on its way", "");
  lathe_free(snapshot);
  lathe_close(env);
}

/* What programs that a program runs had is theirs: their end is not its end. */
static void test_program_of_a_program(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env,
                       "const a = interpreterRunCode({code: \"shopStock({item: 'in'}) + shopStock({item: 'on'})\"});"
                       "output('between'); a + shopStock({item: 'out'})",
                       NULL);
  answer_next(env, "shop.stock", "10", 0);
  uint64_t inner = embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run);
  env = open_with_tools();
  run = restore(env, snapshot);
  lathe_free(snapshot);
  const lathe_event *event = embed_next(env, LATHE_EVENT_CALL);
  assert_int_equal(event->earlier_call, inner);
  assert_string_equal(event->json, "{\"item\":\"on\"}");
  assert_int_equal(lathe_answer(env, event->call, "20", NULL), LATHE_OK);
  lathe_event_free(event);
  lathe_event_free(embed_next(env, LATHE_EVENT_OUTPUT));
  uint64_t outer = embed_next_call(env, LATHE_EVENT_CALL);
  snapshot = take_snapshot(env, run);
  env = open_with_tools();
  restore(env, snapshot);
  lathe_free(snapshot);
  event = embed_next(env, LATHE_EVENT_OUTPUT);
  assert_string_equal(event->text, "between");
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_CALL);
  assert_int_equal(event->earlier_call, outer);
  assert_string_equal(event->json, "{\"item\":\"out\"}");
  assert_int_equal(lathe_answer(env, event->call, "12", NULL), LATHE_OK);
  lathe_event_free(event);
  embed_assert_end(env, LATHE_OK, "\"result\":42", "");
  lathe_close(env);
}

/* The snapshot with one text in place of another; free(). */
static char *change(const char *snapshot, const char *from, const char *to) {
  const char *at = strstr(snapshot, from);
  assert_non_null(at);
  size_t bytes = strlen(snapshot) + strlen(to) + 1;
  char *changed = malloc(bytes);
  snprintf(changed, bytes, "%.*s%s%s", (int)(at - snapshot), snapshot, to, at + strlen(from));
  return changed;
}

/* That somebody was asked whether a call may be made does not make it one that may be made twice. */
static void test_approved_call_of_a_server(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopOrder({n: 3})", NULL);
  assert_int_equal(lathe_approve(env, embed_next_call(env, LATHE_EVENT_APPROVAL), NULL, NULL), LATHE_OK);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run);
  char *of_server = change(snapshot, "\"forTheAnswer\":true", "\"forTheAnswer\":false");
  env = open_with_tools();
  restore(env, of_server);
  embed_assert_end(env, LATHE_E_PROGRAM, "", "interrupted");
  lathe_close(env);
  free(of_server);
  lathe_free(snapshot);
}

/* A program may have made thousands of calls at once. */
static void test_many_open_calls(void **state) {
  (void)state;
  enum { CALLS = 10000, CALL_BYTES = 200 };
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopStock({})", NULL);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run), *entries = malloc(CALLS * CALL_BYTES);
  size_t n = (size_t)snprintf(entries, CALL_BYTES, "\"entries\":[");
  for (int i = 0; i < CALLS; i++) {
    n += (size_t)snprintf(entries + n, CALL_BYTES,
                          "{\"call\":%d,\"hash\":1,\"tool\":\"shop.stock\",\"input\":\"{}\",\"editedInput\":\"\"},"
                          "{\"asked\":%d,\"number\":1,\"forTheAnswer\":true},",
                          i + 100, i + 100);
  }
  char *many = change(snapshot, "\"entries\":[", entries);
  env = open_with_tools();
  restore(env, many);
  lathe_event_free(embed_next(env, LATHE_EVENT_CALL));
  lathe_close(env);
  free(many);
  free(entries);
  lathe_free(snapshot);
}

/* --- What cannot be written down, or read ------------------------------------------------------------------------- */
static void expect_no_snapshot(lathe_env *env, uint64_t run, lathe_status status, const char *message) {
  char *snapshot = &(char){'x'};
  lathe_error error = {.size = sizeof error};
  assert_int_equal(lathe_snapshot(env, run, &snapshot, &error), status);
  assert_null(snapshot);
  assert_has(error.message, message);
}

static void test_no_snapshot(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  expect_no_snapshot(NULL, 1, LATHE_E_INVALID, "NULL");
  expect_no_snapshot(env, 99, LATHE_E_NOTFOUND, "99");
  uint64_t run = embed_start(env, "shopStock({})");
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(lathe_snapshot(env, run, NULL, NULL), LATHE_E_INVALID);
  expect_no_snapshot(env, run, LATHE_E_INVALID, "can_snapshot");
  assert_int_equal(lathe_answer(env, call, "1", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_OK, "\"result\":1", "");
  expect_no_snapshot(env, run, LATHE_E_NOTFOUND, "ended");
  run = start(env, "output('on'); for (;;) {}", NULL);
  lathe_event_free(embed_next(env, LATHE_EVENT_OUTPUT));
  expect_no_snapshot(env, run, LATHE_E_INVALID, "wait");
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_OK);
  embed_assert_end(env, LATHE_E_CANCELLED, "", "");
  lathe_close(env);
}

static void expect_no_restore(lathe_env *env, const char *snapshot, lathe_status status, const char *message) {
  uint64_t run = 7;
  lathe_error error = {.size = sizeof error};
  assert_int_equal(lathe_restore(env, snapshot, NULL, &run, &error), status);
  assert_int_equal(run, 0);
  assert_has(error.message, message);
}

static void expect_changed(lathe_env *env, const char *snapshot, const char *from, const char *to, lathe_status status,
                           const char *message) {
  char *changed = change(snapshot, from, to);
  expect_no_restore(env, changed, status, message);
  free(changed);
}

static void expect_no_entry(lathe_env *env, const char *snapshot, const char *entry) {
  char entries[300];
  snprintf(entries, sizeof entries, "\"entries\":[%s,", entry);
  expect_changed(env, snapshot, "\"entries\":[", entries, LATHE_E_INVALID, "no snapshot");
}

static void test_no_restore(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopStock({}) + shopStock({})", "{}");
  answer_next(env, "shop.stock", "1", 0);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run);
  env = embed_open(NULL);
  expect_no_restore(env, snapshot, LATHE_E_NOTFOUND, "shop.stock");
  embed_add_tool(env, "shop.stock", NULL);
  expect_no_restore(env, NULL, LATHE_E_INVALID, "snapshot");
  expect_no_restore(env, "{", LATHE_E_SYNTAX, "");
  expect_no_restore(env, "{}", LATHE_E_INVALID, "no snapshot");
  expect_no_restore(env, "[1]", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"lathe\":\"", "\"lathe\":\"9", LATHE_E_UNSUPPORTED, "9");
  expect_changed(env, snapshot, "\"code\"", "\"coda\"", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"memoryBytes\":0", "\"memoryBytes\":1", LATHE_E_INVALID, "memory_bytes");
  expect_changed(env, snapshot, "\"hash\"", "\"has\"", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"status\":0", "\"status\":77", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"input\":\"{", "\"input\":\"\\u0000{", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"code\":\"", "\"code\":\"\\u0000", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"input\":\"{}\"", "\"input\":1", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"entries\":[", "\"entries\":1,\"more\":[", LATHE_E_INVALID, "no snapshot");
  expect_changed(env, snapshot, "\"answer\":\"1\"", "\"answer\":\"1}\"", LATHE_E_INVALID, "no snapshot");
  /* a folder whose files would be moved; an end; a note of nothing */
  expect_no_entry(env, snapshot, "{\"note\":6,\"number\":0,\"timeUs\":0,\"text\":\"/srv/letters\"}");
  expect_no_entry(env, snapshot, "{\"note\":5,\"number\":0,\"timeUs\":0,\"text\":\"{}\"}");
  expect_no_entry(env, snapshot, "{\"note\":0,\"number\":0,\"timeUs\":0,\"text\":\"\"}");
  expect_no_entry(env, snapshot, "{\"run\":\"3\",\"note\":2,\"number\":0,\"timeUs\":0,\"text\":\"\"}");
  expect_no_entry(env, snapshot, /* the same call twice */
                  "{\"call\":1,\"hash\":1,\"tool\":\"shop.stock\",\"input\":\"{}\",\"editedInput\":\"\"}");
  lathe_free(snapshot);
  lathe_close(env);
}

/* A tool that was asked about is missed while the question waits, and no longer. */
static void test_missing_tool_of_a_question(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "try { shopOrder({}) } catch {} shopStock({})", NULL);
  uint64_t question = embed_next_call(env, LATHE_EVENT_APPROVAL);
  char *asked = NULL;
  assert_int_equal(lathe_snapshot(env, run, &asked, NULL), LATHE_OK);
  assert_int_equal(lathe_reject(env, question, "too dear", NULL), LATHE_OK);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  char *rejected = take_snapshot(env, run);
  env = embed_open(NULL);
  embed_add_tool(env, "shop.stock", NULL);
  expect_no_restore(env, asked, LATHE_E_NOTFOUND, "shop.order");
  restore(env, rejected);
  embed_assert_end(env, LATHE_E_INTERNAL, "", "on record");
  lathe_free(asked);
  lathe_free(rejected);
  lathe_close(env);
}

/* Every beginning of a snapshot, and every byte of it changed, is an error or a run that ends. */
static void test_broken_snapshots(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopStock({})", NULL);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run);
  env = open_with_tools();
  size_t n = strlen(snapshot);
  for (size_t i = 0; i < n; i++) {
    char kept = snapshot[i];
    snapshot[i] = i % 2 == 0 ? '\0' : (char)(kept ^ 1);
    if (lathe_restore(env, snapshot, NULL, &run, NULL) == LATHE_OK) {
      (void)lathe_cancel(env, run, NULL);
      const lathe_event *event = NULL;
      bool has_ended = false;
      while (!has_ended && lathe_next(env, EMBED_EVENT_MS, &event) == LATHE_OK) {
        has_ended = event->type == LATHE_EVENT_END;
        lathe_event_free(event);
      }
      assert_true(has_ended);
    }
    snapshot[i] = kept;
  }
  lathe_free(snapshot);
  lathe_close(env);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
/* Takes a run to its end, which is a failure for want of memory, or that of the program; or cancels it when it calls:
 * then it has its whole input. */
static void finish_without_memory(lathe_env *env, uint64_t run) {
  const lathe_event *event = NULL;
  bool has_ended = false;
  while (!has_ended && lathe_next(env, EMBED_EVENT_MS, &event) == LATHE_OK) {
    has_ended = event->type == LATHE_EVENT_END;
    if (event->type == LATHE_EVENT_CALL) {
      assert_string_equal(event->json, "{\"item\":\"tea\"}");
      (void)lathe_cancel(env, run, NULL);
    }
    lathe_event_free(event);
  }
  assert_true(has_ended);
}

static bool snapshot_without_memory(lathe_env *env, uint64_t run, long n) {
  char *snapshot = NULL;
  lathe_error error = {.size = sizeof error};
  lt_mem_fail_at(n);
  lathe_status status = lathe_snapshot(env, run, &snapshot, &error);
  bool has_failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  if (status != LATHE_OK) {
    assert_int_equal(status, LATHE_E_NOMEM);
    assert_has(error.message, "memory");
  }
  assert_true((snapshot != NULL) == (status == LATHE_OK));
  lathe_free(snapshot);
  return has_failed;
}

static bool restore_without_memory(lathe_env *env, const char *snapshot, long n) {
  uint64_t run = 7;
  lathe_error error = {.size = sizeof error};
  lt_mem_fail_at(n);
  lathe_status status = lathe_restore(env, snapshot, NULL, &run, &error);
  if (status == LATHE_OK) {
    finish_without_memory(env, run);
  } else {
    assert_int_equal(status, LATHE_E_NOMEM);
    assert_has(error.message, "memory");
    assert_int_equal(run, 0);
  }
  bool has_failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  return has_failed;
}

/* The program's time is on record, or the snapshot is refused. */
static bool record_without_memory(long n) {
  uint64_t run = 0;
  char *snapshot = NULL;
  const lathe_event *event = NULL;
  lathe_error error = {.size = sizeof error};
  const lathe_run_options options = {
      .size = sizeof options,
      .code = "for (let i = 0; i < 3e5; i++) {} shopStock({at: Date.now(), random: Math.random()})",
      .can_snapshot = 1};
  lathe_env *env = open_with_tools();
  lt_mem_fail_at(n);
  lathe_status status = lathe_start(env, &options, &run, NULL);
  status = status == LATHE_OK ? lathe_next(env, EMBED_EVENT_MS, &event) : status;
  bool has_failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  bool is_waiting = status == LATHE_OK && event->type == LATHE_EVENT_CALL;
  if (is_waiting && lathe_snapshot(env, run, &snapshot, &error) != LATHE_OK) {
    assert_int_equal(error.status, LATHE_E_NOMEM);
  }
  lathe_close(env);
  if (snapshot != NULL) {
    env = open_with_tools();
    restore(env, snapshot);
    const lathe_event *again = embed_next(env, LATHE_EVENT_CALL);
    assert_string_equal(again->json, event->json);
    lathe_event_free(again);
    lathe_close(env);
  }
  lathe_event_free(event);
  lathe_free(snapshot);
  return has_failed;
}

static void test_record_without_memory(void **state) {
  (void)state;
  for (long n = 0; record_without_memory(n); n++) {
  }
}

static void test_without_memory(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopStock({item: 'rusks'}); shopStock({item: input.item})", "{\"item\": \"tea\"}");
  answer_next(env, "shop.stock", "40", 0);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  assert_false(snapshot_without_memory(env, run, -1)); /* from now on the program does nothing */
  for (long n = 0; snapshot_without_memory(env, run, n); n++) {
  }
  char *snapshot = take_snapshot(env, run);
  env = open_with_tools();
  for (long n = 0; restore_without_memory(env, snapshot, n); n++) {
  }
  lathe_free(snapshot);
  lathe_close(env);
}

/* --- Other programs ----------------------------------------------------------------------------------------------- */
/* Tools that answer otherwise are no change; a program that calls something else is. */
static void test_other_program(void **state) {
  (void)state;
  lathe_env *env = open_with_tools();
  uint64_t run = start(env, "shopStock({item: shopCount})", NULL);
  embed_assert_end(env, LATHE_E_PROGRAM, "", "shopCount");
  run = start(env, "shopStock({item: typeof shopCount})", NULL);
  (void)embed_next_call(env, LATHE_EVENT_CALL);
  char *snapshot = take_snapshot(env, run);
  env = open_with_tools();
  embed_add_tool(env, "shop.count", NULL);
  restore(env, snapshot);
  embed_assert_end(env, LATHE_E_INTERNAL, "", "on record");
  lathe_free(snapshot);
  lathe_close(env);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_program_of_a_program),
      cmocka_unit_test(test_approved_call_of_a_server),
      cmocka_unit_test(test_many_open_calls),
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_record_without_memory),
      cmocka_unit_test(test_missing_tool_of_a_question),
      cmocka_unit_test(test_call),
      cmocka_unit_test(test_parallel_twice),
      cmocka_unit_test(test_approval),
      cmocka_unit_test(test_no_snapshot),
      cmocka_unit_test(test_no_restore),
      cmocka_unit_test(test_broken_snapshots),
      cmocka_unit_test(test_other_program),
  };
  if (!embed_install_handlers()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
