/* Prompts that are cancelled, fail, go on side by side, or never begin. */
#include <sqlite3.h>

#include "agent_fix.h"

static lt_status cancel(world *w) {
  return lt_agent_cancel(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), &w->err);
}

static void until_hanging(world *w, unsigned count) {
  while (w->hanging < count) {
    if (lt_wait_on(&w->stirred, 30000) == LT_E_TIMEOUT) {
      FAIL_WITH("nothing hangs:\n%s\n", w->events.p);
    }
  }
}

/* --- Cancelling, in each phase ------------------------------------------------------------------------------------ */
IN_WORLD(cancelled_before_it_began) {
  script_texts("done()", NULL);
  start(w, "Hello");
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_events(w, "created\ncancelled\n");
  assert_stored(w, "state", "cancelled");
  assert_int_equal(times_asked(), 0);
  assert_int_equal(cancel(w), LT_E_NOTFOUND);
}

IN_WORLD(cancelled_while_the_model_answers) {
  script("[{\"text\":\"out\",\"hang\":true}]");
  start(w, "Hello");
  while (times_asked() == 0) {
    lt_loop_sleep(w->loop, 1);
  }
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_events(w, "created\ncancelled\n");
}

IN_WORLD(cancelled_in_a_tool) {
  script_texts("try { weatherHang({}) } catch (e) { output('caught') }; output('on'); done()", NULL);
  start(w, "Hello");
  until_hanging(w, 1);
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_has(w->events.p, "output tool weather.hang error ");
  assert_has(w->events.p, "output tool code.execute error cancelled\ncancelled\n");
  assert_stored(w, "state", "cancelled");
  assert_null(strstr(w->events.p, "output text"));
}

IN_WORLD(cancelled_in_a_loop_that_never_ends) {
  script_texts("output('begun'); while (true) {}", NULL);
  start(w, "Hello");
  wait_event(w, "output text begun");
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_stored(w, "state", "cancelled");
  assert_stored(w, "output.1.content", "begun"); /* what was said stays */
}

IN_WORLD(cancelled_while_somebody_is_asked) {
  script_texts("bankPay({amount: 1}); done()", NULL);
  start(w, "Hello");
  wait_event(w, "approval");
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_stored(w, "state", "cancelled");
  assert_stored(w, "output.1.result.type", "error");
  assert_int_equal(w->paid, 0);
}

IN_WORLD(cancelled_in_a_question_of_the_programs) {
  script("[\"llm('x'); done()\",{\"hang\":true}]");
  start(w, "Hello");
  while (times_asked() < 2) {
    lt_loop_sleep(w->loop, 1);
  }
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_stored(w, "state", "cancelled");
}

IN_WORLD(the_agents_end_cancels_what_runs) {
  script_texts("weatherHang({}); done()", NULL);
  start(w, "One");
  start(w, "Two");
  until_hanging(w, 2);
  lt_agent_free(w->agent);
  w->agent = NULL;
  assert_int_equal(w->hanging, 0);
  assert_stored(w, "state", "cancelled");
}

static void start_late(void *arg) {
  world *w = arg;
  const lt_prompt_request request = {.user = LT_STR("ann"), .input = LT_STR("late")};
  assert_int_equal(lt_agent_start(w->agent, &request, &w->ids, &w->err), LT_E_CLOSED);
}

/* Between the prompt's row and its fiber: it is stored as failed, and nothing runs. */
IN_WORLD(the_agents_end_catches_what_is_about_to_start) {
  script_texts("done()", NULL);
  prompt(w, "One");
  lt_buf_clear(&w->events);
  assert_int_equal(lt_loop_spawn(w->loop, start_late, w, NULL), LT_OK);
  lt_loop_sleep(w->loop, 0);
  lt_agent_free(w->agent);
  w->agent = NULL;
  assert_has(w->events.p, "error Lathe is ending");
  assert_int_equal(times_asked(), 1);
}

IN_WORLD(whoever_waits_may_give_up) {
  script_texts("weatherHang({}); done()", NULL);
  start(w, "One");
  lt_cancel gone;
  lt_cancel_init(&gone);
  lt_cancel_fire(&gone, LT_E_TIMEOUT);
  assert_int_equal(lt_agent_wait(w->agent, lt_str_of(w->ids.prompt), &gone, &w->err), LT_E_TIMEOUT);
  until_hanging(w, 1);
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
}

/* --- Failing ------------------------------------------------------------------------------------------------------ */
IN_WORLD(a_model_that_cannot_be_asked_fails_the_prompt_and_not_the_conversation) {
  script("[{\"status\":400,\"text\":\"bad request\"},\"complete({response: 'back'})\"]");
  prompt(w, "One");
  assert_has(w->events.p, "created\nerror ");
  assert_has(w->events.p, "bad request");
  assert_stored(w, "state", "failed");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  assert_true(stored(w, &a, "error").n > 0);
  lt_arena_release(&a);
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  start_in(w, conversation, "", "Two");
  wait_end(w);
  assert_string_equal(w->streams.p, "back");
  assert_asked(1, "messages.1.content", "One");
}

IN_WORLD(of_a_broken_stream_no_half_program_is_run) {
  script("[{\"text\":\"output('x')\",\"cut\":true},\"output('y'); done()\"]");
  prompt(w, "One");
  assert_string_equal(w->streams.p, "y");
  assert_int_equal(times_asked(), 2);
}

static void sql(world *w, const char *text) {
  struct sqlite3 *db;
  assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
  sqlite3_busy_timeout(db, 5000);
  char *message = NULL;
  if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK) {
    FAIL_WITH("%s\n", message);
  }
  sqlite3_close(db);
}

static void break_store(world *w, const char *event, lt_str data) {
  (void)data;
  if (strcmp(event, "prompt.output") == 0 && w->on_event != NULL) {
    w->on_event = NULL;
    sql(w, "ALTER TABLE prompt_outputs RENAME TO gone");
  }
}

/* What cannot be stored is not told, and nothing more is done for it. */
IN_WORLD(a_store_that_breaks_ends_the_prompt_with_an_error) {
  /* The program's own output is on its way with the call, and with it the store breaks. */
  script_texts("weatherEcho({}); output('a'); weatherHang({})", NULL);
  w->on_event = break_store;
  prompt(w, "One");
  assert_has(w->events.p, "created\noutput tool code.execute pending Executing...\nerror ");
  assert_has(w->events.p, "prompt_outputs");
  assert_null(strstr(w->events.p, "output text"));
  sql(w, "ALTER TABLE gone RENAME TO prompt_outputs");
  assert_stored(w, "state", "failed");
  assert_stored(w, "output.0.result.type", "pending"); /* as it was last stored */
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  script_texts("complete({response: 'back'})", NULL);
  start_in(w, conversation, "", "Two");
  wait_end(w);
  assert_string_equal(w->streams.p, "back");
}

static void break_prompts(world *w, const char *event, lt_str data) {
  (void)data;
  if (strcmp(event, "prompt.output") == 0 && w->on_event != NULL) {
    w->on_event = NULL;
    sql(w, "ALTER TABLE prompts RENAME TO gone");
  }
}

/* Longer than anybody waits for it: whoever asked is told, and it is stored when that works again. */
IN_WORLD(an_end_that_cannot_be_stored_is_stored_later) {
  script_texts("output('a'); done()", NULL);
  w->on_event = break_prompts;
  prompt(w, "One");
  assert_has(w->events.p, "\nerror ");
  sql(w, "ALTER TABLE gone RENAME TO prompts");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  lt_prompt_request again = {.user = LT_STR("ann"), .conversation = lt_str_of(conversation), .input = LT_STR("Two")};
  lt_prompt_ids ids;
  script_texts("complete({response: 'back'})", NULL);
  assert_int_equal(lt_agent_start(w->agent, &again, &ids, &w->err), LT_E_INVALID); /* busy, until it is */
  assert_has(lt_err_msg(&w->err), "busy");
  for (int i = 0; i < 100 && lt_agent_start(w->agent, &again, &ids, &w->err) != LT_OK; i++) {
    lt_loop_sleep(w->loop, 50);
  }
  assert_stored(w, "state", "failed");
  w->ids = ids;
  wait_end(w);
  assert_has(w->streams.p, "back");
}

/* Lathe ends before the store works again: the prompt is nobody's then, and the next process carries it out. */
IN_WORLD(an_end_that_is_never_stored_leaves_the_prompt_to_others) {
  script_texts("output('a'); done()", NULL);
  w->on_event = break_prompts;
  prompt(w, "One");
  assert_has(w->events.p, "\nerror ");
  lt_agent_free(w->agent);
  w->agent = NULL;
  sql(w, "ALTER TABLE gone RENAME TO prompts");
  assert_stored(w, "state", "running");
}

static struct sqlite3 *second;

static void look_first(world *w, const char *event, lt_str data) {
  if (strcmp(event, "prompt.output") != 0) {
    return;
  }
  lt_arena a;
  sqlite3_stmt *query;
  lt_arena_init(&a, LT_GIB);
  if (second == NULL) {
    assert_int_equal(sqlite3_open(w->path, &second), SQLITE_OK);
  }
  /* What is stored may be ahead of a form that is told: pending, and its end in the same transaction. */
  bool pending = lt_str_eqc(member(&a, data, "output.result.type"), "pending");
  lt_str output = member(&a, data, pending ? "output.id" : "output");
  const char *count = pending ? "SELECT count(*) FROM prompt_outputs WHERE json ->> 'id' = ?"
                              : "SELECT count(*) FROM prompt_outputs WHERE json = ?";
  assert_int_equal(sqlite3_prepare_v2(second, count, -1, &query, NULL), SQLITE_OK);
  sqlite3_bind_text(query, 1, output.p, (int)output.n, SQLITE_STATIC);
  assert_int_equal(sqlite3_step(query), SQLITE_ROW);
  assert_int_equal(sqlite3_column_int(query, 0), 1);
  sqlite3_finalize(query);
  lt_arena_release(&a);
}

IN_WORLD(all_is_stored_before_it_is_told) {
  script_texts("for (let i = 0; i < 5; i++) output(weatherEcho({i})); done()", NULL);
  w->on_event = look_first;
  prompt(w, "One");
  assert_string_equal(w->streams.p, "{\"i\":0}{\"i\":1}{\"i\":2}{\"i\":3}{\"i\":4}");
  sqlite3_close(second);
  second = NULL;
}

static int count_now(const world *w, const char *query) {
  struct sqlite3 *sql;
  sqlite3_stmt *stmt;
  assert_int_equal(sqlite3_open(w->path, &sql), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(sql, query, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  int count = sqlite3_column_int(stmt, 0);
  sqlite3_finalize(stmt);
  sqlite3_close(sql);
  return count;
}

/* The program began while its output was on its way to the store. */
IN_WORLD(what_was_put_out_is_stored_before_a_call_is_made) {
  script_texts("output('a'); weatherHang({}); done()", NULL);
  start(w, "One");
  until_hanging(w, 1);
  assert_int_equal(count_now(w, "SELECT count(*) FROM prompt_outputs WHERE json ->> 'function' = 'code.execute'"), 1);
  assert_int_equal(count_now(w, "SELECT count(*) FROM prompt_outputs WHERE json ->> 'content' = 'a'"), 1);
  assert_int_equal(count_now(w, "SELECT count(*) FROM calls WHERE finished_at IS NULL"), 1);
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
}

/* --- Never beginning ---------------------------------------------------------------------------------------------- */
static void expect_no_start(world *w, lt_prompt_request request, lt_status status, const char *message) {
  lt_prompt_ids ids;
  request.user = request.user.n > 0 ? request.user : LT_STR("ann");
  assert_int_equal(lt_agent_start(w->agent, &request, &ids, &w->err), status);
  assert_has(lt_err_msg(&w->err), message);
}

IN_WORLD(what_makes_no_sense_does_not_start) {
  const lt_str hi = LT_STR("hi");
  expect_no_start(w, (lt_prompt_request){.input = hi, .mode = LT_STR("x")}, LT_E_INVALID,
                  "Unknown execution mode: \"x\". Modes: classic, code, ");
  expect_no_start(w, (lt_prompt_request){.input = hi, .model = LT_STR("x")}, LT_E_INVALID,
                  "Unknown model: \"x\". Models: normal");
  expect_no_start(w, (lt_prompt_request){.input = LT_STR(" \n")}, LT_E_INVALID, "The input is empty");
  expect_no_start(w, (lt_prompt_request){.input = hi, .conversation = LT_STR("x")}, LT_E_NOTFOUND,
                  "Conversation \"x\" not found");
  expect_no_start(w, (lt_prompt_request){.input = hi, .conversation = LT_STR("0123456789abcdef0123456789abcdef")},
                  LT_E_NOTFOUND, "not found");
  script_texts("weatherHang({}); done()", NULL);
  start(w, "One");
  until_hanging(w, 1);
  expect_no_start(w, (lt_prompt_request){.input = hi, .conversation = lt_str_of(w->ids.conversation)}, LT_E_INVALID,
                  "busy");
  expect_no_start(
      w, (lt_prompt_request){.user = LT_STR("eve"), .input = hi, .conversation = lt_str_of(w->ids.conversation)},
      LT_E_NOTFOUND, "not found");
  assert_int_equal(cancel(w), LT_OK);
  wait_end(w);
  assert_string_equal(w->events.p + strlen(w->events.p) - 10, "cancelled\n");
}

IN_WORLD(a_configuration_that_makes_no_sense_is_refused) {
  lt_agent *agent = NULL;
  lt_agent_options options = w->options;
  options.default_mode = LT_STR("fast");
  assert_int_equal(lt_agent_new(&options, &agent, &w->err), LT_E_CONFIG);
  options = w->options;
  options.default_model = LT_STR("best");
  assert_int_equal(lt_agent_new(&options, &agent, &w->err), LT_E_CONFIG);
}

IN_WORLD(a_model_may_have_a_mode_of_its_own) {
  const lt_str modes[] = {LT_STR("code"), LT_STR("")};
  w->models[1] = w->models[0];
  w->models[1].ref = LT_STR("other");
  w->options.model_count = 2;
  w->options.model_modes = modes;
  w->options.default_mode = LT_STR("classic");
  lt_agent_free(w->agent);
  open_agent(w);
  script_texts("done()", NULL);
  start(w, "One"); /* "normal" */
  wait_end(w);
  assert_stored(w, "mode", "code");
  const lt_prompt_request high = {.user = LT_STR("ann"), .input = LT_STR("x"), .model = LT_STR("high")};
  assert_int_equal(lt_agent_start(w->agent, &high, &w->ids, &w->err), LT_OK);
  wait_end(w);
  assert_stored(w, "model", "normal");
  const lt_prompt_request other = {.user = LT_STR("ann"), .input = LT_STR("x"), .model = LT_STR("other")};
  assert_int_equal(lt_agent_start(w->agent, &other, &w->ids, &w->err), LT_OK);
  wait_end(w);
  assert_stored(w, "mode", "classic");
}

IN_WORLD(the_modes_there_are) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_agent_modes(w->agent, &out);
  assert_has(out.p, "{\"id\":\"code\",\"name\":\"Code (JavaScript sandbox)\",\"isDefault\":true}");
  lt_buf_release(&out);
}

/* A start that finds no memory leaves nothing behind: no prompt that runs for ever, no conversation that is busy. */
IN_WORLD(a_start_may_run_out_of_memory_anywhere) {
  script_texts("done()", NULL);
  prompt(w, "first");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  const lt_prompt_request request = {
      .user = LT_STR("ann"), .conversation = lt_str_of(conversation), .input = LT_STR("again")};
  unsigned failures = 0;
  for (long n = 0;; n++) {
    lt_mem_fail_at(n);
    lt_status status = lt_agent_start(w->agent, &request, &w->ids, &w->err);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK) {
      wait_end(w);
    } else {
      assert_true(failed);
      failures++;
    }
    if (!failed) {
      break;
    }
  }
  assert_true(failures > 3);
  assert_stored(w, "state", "completed");
}

/* The same for everything that follows: it completes or fails, and the conversation goes on. */
IN_WORLD(a_prompt_may_run_out_of_memory_anywhere) {
  w->options.on_event = NULL; /* ours would fail, too */
  lt_agent_free(w->agent);
  open_agent(w);
  script_texts("output(weatherEcho({n: llmJson('x')})); done()", NULL);
  prompt(w, "first");
  char conversation[40];
  strcpy(conversation, w->ids.conversation);
  unsigned completed = 0, failed = 0;
  for (long n = 0; n < 3000; n += n < 300 ? 1 : 37) {
    start_in(w, conversation, "", "again");
    lt_mem_fail_at(n);
    wait_end(w);
    bool happened = lt_mem_failed();
    lt_mem_fail_at(-1);
    lt_arena a;
    lt_arena_init(&a, LT_GIB);
    lt_str state = stored(w, &a, "state");
    completed += lt_str_eqc(state, "completed");
    failed += lt_str_eqc(state, "failed");
    assert_false(lt_str_eqc(state, "running")); /* which would keep the conversation busy */
    lt_arena_release(&a);
    start_in(w, "", "", "new"); /* the history would make each round longer */
    strcpy(conversation, w->ids.conversation);
    wait_end(w);
    if (!happened) {
      break;
    }
  }
  assert_true(completed > 0 && failed > 10);
}

/* --- Side by side ------------------------------------------------------------------------------------------------- */
IN_WORLD(two_conversations_at_once_do_not_mix) {
  script("[{\"echo\":true,\"delayMs\":20}]");
  start(w, "store('who', 'one'); weatherWait({ms: 20}); complete({response: recall('who')})");
  lt_prompt_ids one = w->ids;
  start(w, "store('who', 'two'); weatherWait({ms: 10}); complete({response: recall('who')})");
  lt_prompt_ids two = w->ids;
  lt_agent_wait(w->agent, lt_str_of(one.prompt), NULL, NULL);
  lt_agent_wait(w->agent, lt_str_of(two.prompt), NULL, NULL);
  assert_stored(w, "output.2.content", "two");
  w->ids = one;
  assert_stored(w, "output.2.content", "one");
}

IN_WORLD(fifty_prompts_at_once) {
  enum { COUNT = 50 };
  lt_prompt_ids ids[COUNT];
  script("[{\"echo\":true,\"delayMs\":50}]");
  for (int i = 0; i < COUNT; i++) {
    char input[128];
    snprintf(input, sizeof input, "const r = weatherEcho({n: %d}); complete({response: 'n' + r.n})", i);
    start(w, input);
    ids[i] = w->ids;
  }
  for (int i = 0; i < COUNT; i++) {
    char expected[16];
    w->ids = ids[i];
    wait_end(w);
    snprintf(expected, sizeof expected, "n%d", i);
    assert_stored(w, "output.2.content", expected);
    assert_stored(w, "state", "completed");
  }
}

IN_WORLD(many_calls_at_once_are_told_apart) {
  script_texts(
      "const r = parallel(Array.from({length: 300}, (_, n) => ({tool: 'weather.echo', input: {n}})));\n"
      "output(r.every((one, n) => one.n === n)); done()",
      NULL);
  prompt(w, "One");
  assert_string_equal(w->streams.p, "true");
  lt_arena a;
  lt_arena_init(&a, LT_GIB);
  lt_str outputs = stored(w, &a, "output");
  lt_json_doc doc;
  assert_int_equal(lt_json_parse(&a, outputs, &doc, NULL), LT_OK);
  unsigned same = 0;
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_str input = lt_json_text(lt_json_get(it.value, "input"));
    lt_str output = lt_json_text(lt_json_get(lt_json_get(it.value, "result"), "output"));
    same += lt_json_str_eq(lt_json_get(it.value, "function"), LT_STR("weather.echo")) && lt_str_eq(input, output);
  }
  assert_int_equal(same, 300);
  lt_arena_release(&a);
}

/* --- Titles ------------------------------------------------------------------------------------------------------- */
static void expect_title(world *w, const char *title) {
  lt_buf text;
  lt_arena a;
  lt_buf_init(&text, LT_MIB);
  lt_arena_init(&a, LT_GIB);
  assert_int_equal(lt_store_conversation_get(w->db, LT_STR("ann"), lt_str_of(w->ids.conversation), &text, NULL), LT_OK);
  char *got = lt_mem_strdup(member(&a, lt_buf_view(&text), "title"));
  assert_string_equal(got, title);
  lt_mem_free(got);
  lt_arena_release(&a);
  lt_buf_release(&text);
}

IN_WORLD(a_title_is_made_once) {
  script_texts("done()", "  **\"The weather in Paris.\"**\nor so", "Another", NULL);
  prompt(w, "How is the weather in Paris?");
  lt_agent_title(w->agent, LT_STR("ann"), lt_str_of(w->ids.conversation));
  expect_title(w, "The weather in Paris");
  assert_has(w->events.p, "completed\nupdated\n");
  assert_asked(1, "messages.1.content", "How is the weather in Paris?");
  assert_asked(1, "max_tokens", "30");
  lt_agent_title(w->agent, LT_STR("ann"), lt_str_of(w->ids.conversation));
  assert_int_equal(times_asked(), 2);
}

IN_WORLD(a_title_that_cannot_be_made_is_none) {
  script("[\"done()\",{\"status\":400},\"\"]");
  prompt(w, "Hello");
  lt_agent_title(w->agent, LT_STR("ann"), lt_str_of(w->ids.conversation));
  lt_agent_title(w->agent, LT_STR("ann"), lt_str_of(w->ids.conversation));
  lt_agent_title(w->agent, LT_STR("eve"), lt_str_of(w->ids.conversation));
  lt_agent_title(w->agent, LT_STR("ann"), LT_STR("none"));
  expect_title(w, "null");
  assert_int_equal(times_asked(), 3);
}

static void make_title(void *arg) {
  world *w = arg;
  lt_agent_title(w->agent, LT_STR("ann"), lt_str_of(w->ids.conversation));
}

IN_WORLD(a_title_does_not_hold_up_the_end) {
  script("[\"done()\",{\"hang\":true}]");
  prompt(w, "Hello");
  assert_int_equal(lt_loop_spawn(w->loop, make_title, w, NULL), LT_OK);
  while (times_asked() < 2) {
    lt_loop_sleep(w->loop, 1);
  }
  lt_agent_free(w->agent); /* returns at once: the model never answers */
  w->agent = NULL;
  expect_title(w, "null");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cancelled_before_it_began),
      cmocka_unit_test(cancelled_while_the_model_answers),
      cmocka_unit_test(cancelled_in_a_tool),
      cmocka_unit_test(cancelled_in_a_loop_that_never_ends),
      cmocka_unit_test(cancelled_while_somebody_is_asked),
      cmocka_unit_test(cancelled_in_a_question_of_the_programs),
      cmocka_unit_test(the_agents_end_cancels_what_runs),
      cmocka_unit_test(the_agents_end_catches_what_is_about_to_start),
      cmocka_unit_test(whoever_waits_may_give_up),
      cmocka_unit_test(a_model_that_cannot_be_asked_fails_the_prompt_and_not_the_conversation),
      cmocka_unit_test(of_a_broken_stream_no_half_program_is_run),
      cmocka_unit_test(a_store_that_breaks_ends_the_prompt_with_an_error),
      cmocka_unit_test(an_end_that_cannot_be_stored_is_stored_later),
      cmocka_unit_test(an_end_that_is_never_stored_leaves_the_prompt_to_others),
      cmocka_unit_test(all_is_stored_before_it_is_told),
      cmocka_unit_test(what_was_put_out_is_stored_before_a_call_is_made),
      cmocka_unit_test(what_makes_no_sense_does_not_start),
      cmocka_unit_test(a_configuration_that_makes_no_sense_is_refused),
      cmocka_unit_test(a_model_may_have_a_mode_of_its_own),
      cmocka_unit_test(the_modes_there_are),
      cmocka_unit_test(a_start_may_run_out_of_memory_anywhere),
      cmocka_unit_test(a_prompt_may_run_out_of_memory_anywhere),
      cmocka_unit_test(two_conversations_at_once_do_not_mix),
      cmocka_unit_test(fifty_prompts_at_once),
      cmocka_unit_test(many_calls_at_once_are_told_apart),
      cmocka_unit_test(a_title_is_made_once),
      cmocka_unit_test(a_title_that_cannot_be_made_is_none),
      cmocka_unit_test(a_title_does_not_hold_up_the_end),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
