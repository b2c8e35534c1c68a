/* Prompts that are carried out again after something has changed, and prompts that cannot go on. */
#include <sqlite3.h>

#include "agent_resume_fix.h"

/* A statement on the database, beside everything. */
static void change(world *w, const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
  sqlite3_busy_timeout(db, 5000);
  char *why = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
    FAIL_WITH("%s\n", why);
  }
  assert_true(sqlite3_changes(db) > 0);
  sqlite3_close(db);
}

/* --- Tools that changed ------------------------------------------------------------------------------------------- */
IN_WORLD(tools_that_are_gone_keep_their_names) {
  open_leaving(w, "code");
  script_texts(
      "const n = weatherEcho({n: 1}).n; try { weatherHang({}) } catch (e) { }\n"
      "try { weatherEcho({n: 2}) } catch (e) { output(n + ' ' + e.message) }\ndone()",
      NULL);
  start(w, "Go");
  wait_hanging(w);
  leave(w);
  lt_door_remove(w->door, &w->tools);
  resume(w);
  wait_end(w);
  assert_stored(w, "state", "completed");
  assert_has(w->streams.p, "1 Tool \"weather.echo\" is not there any more: the prompt began when it was");
}

IN_WORLD(a_tool_that_has_come_takes_no_name) {
  static const lt_tool_spec more[] = {{.name = TEXT("echo")}, {.name = TEXT("hang")}, {.name = TEXT("new")}};
  static lt_provider other = {.name = TEXT("weather-echo"), .invoke = invoke_t};
  open_leaving(w, "code");
  script_texts("try { weatherHang({}) } catch (e) { }\noutput(String(discoverTools('').length)); done()", NULL);
  start(w, "Go");
  wait_hanging(w);
  leave(w);
  lt_catalog *before;
  char count[16];
  assert_int_equal(lt_door_catalog(w->door, &before, &w->err), LT_OK);
  lt_catalog *programs;
  assert_int_equal(lt_catalog_for_programs(before, &programs, &w->err), LT_OK);
  snprintf(count, sizeof count, "%zu", lt_catalog_count(programs));
  lt_catalog_unref(programs);
  lt_catalog_unref(before);
  assert_int_equal(lt_door_set_tools(w->door, &other, more, 3, &w->err), LT_OK);
  resume(w);
  wait_end(w);
  lt_door_remove(w->door, &other);
  assert_string_equal(w->streams.p, count);
}

/* The list was not kept, or retention has removed it: the prompt sees the tools that there are. */
IN_WORLD(a_list_that_is_lost_is_done_without) {
  open_leaving(w, "code");
  script_texts("weatherEcho({n: 1}); try { weatherHang({}) } catch (e) { }\noutput('on'); done()", NULL);
  start(w, "Go");
  wait_hanging(w);
  leave(w);
  change(w, "UPDATE notes SET text = json_set(text, '$.tools', 'none') WHERE text LIKE '{\"lathe\":%'");
  resume(w);
  wait_end(w);
  assert_string_equal(w->streams.p, "on");
}

/* --- Inputs that changed ------------------------------------------------------------------------------------------ */
/* The record of a release before this one may not fix the time at which a call was shown. */
IN_WORLD(an_input_that_became_another_is_stored_before_it_is_asked_about) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts(PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  leave(w);
  change(w, "UPDATE prompt_outputs SET json = replace(json, '{\"amount\":5}', '{\"amount\":4}')");
  resume(w);
  wait_event(w, "approval bank.pay {\"amount\":5} (it is real money)");
  assert_stored(w, "output.1.id", asked_id);
  assert_stored(w, "output.1.input", "{\"amount\":5}");
}

/* --- What cannot go on -------------------------------------------------------------------------------------------- */
#define OTHER_LATHE                                                                            \
  "UPDATE notes SET text = json_set(text, '$.lathe', '0.0.0') WHERE text LIKE '{\"lathe\":%';" \
  "UPDATE notes SET text = '00000000000000ab' || substr(text, 17) WHERE run LIKE '%/%' AND kind = 1"

IN_WORLD(another_lathe_with_another_engine_goes_on) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts("weatherEcho({n: 1}); " PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  leave(w);
  change(w, OTHER_LATHE);
  resume(w);
  wait_event(w, "approval bank.pay");
  assert_int_equal(lt_agent_decide(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), lt_str_of(asked_id),
                                   &(lt_decision){.is_approved = true}, &w->err),
                   LT_OK);
  wait_end(w);
  assert_int_equal(w->paid, 5);
  assert_stored(w, "state", "completed");
  assert_int_equal(times_asked(), 1);
}

/* What the other Lathe did differs: that ends the prompt before any effect, and the versions explain it. */
IN_WORLD(a_difference_is_explained_by_the_versions) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts("weatherEcho({n: 1}); " PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  leave(w);
  change(w, OTHER_LATHE);
  change(w, "UPDATE calls SET hash = hash + 1");
  resume(w);
  wait_end(w);
  assert_has(w->events.p, "error diverged: call 1 is weather.echo {\"n\":1}, and on record it is weather.echo");
  assert_has(w->events.p, "(another version of the engine began the program)");
  assert_has(w->events.p, "; Lathe 0.0.0 began the prompt, this is ");
  assert_stored(w, "state", "failed");
  assert_int_equal(w->paid, 0);
  lt_prompt_ids old = w->ids;
  start_in(w, old.conversation, "", "Again"); /* the conversation is usable */
  wait_event(w, "approval bank.pay");
}

IN_WORLD(a_program_that_does_something_else_ends_the_prompt) {
  open_leaving(w, "code");
  script_texts("weatherEcho({n: 1}); weatherHang({}); weatherEcho({n: 2})", "done()", NULL);
  start(w, "Go");
  wait_hanging(w);
  leave(w);
  lt_door_remove(w->door, &w->tools);
  change(w, "UPDATE calls SET hash = hash + 1 WHERE seq = 1");
  resume(w);
  wait_end(w);
  assert_stored(w, "state", "failed");
  assert_has(w->events.p, "error diverged: ");
  assert_has(w->events.p, "; the tools are others than they were then");
  assert_int_equal(times_asked(), 1);
}

IN_WORLD(a_call_that_is_another_one_ends_the_prompt) {
  open_leaving(w, "classic");
  script("[" ECHO ",{\"hang\":true},\"!\"]");
  start(w, "Go");
  wait_asked(2, w);
  leave(w);
  change(w, "UPDATE calls SET hash = hash + 1");
  resume(w);
  wait_end(w);
  assert_stored(w, "state", "failed");
  assert_has(w->events.p, "error diverged: another call than this of \"weather.echo\" is on record");
}

IN_WORLD(a_reply_that_is_lost_ends_the_prompt) {
  open_leaving(w, "classic");
  script("[" ECHO ",{\"hang\":true},\"!\"]");
  start(w, "Go");
  wait_asked(2, w);
  leave(w);
  change(w, "DELETE FROM notes WHERE text LIKE '{\"messages\":%'");
  resume(w);
  wait_end(w);
  assert_stored(w, "state", "failed");
  assert_has(w->events.p, "error diverged: what the model replied is not on record");
  assert_int_equal(times_asked(), 2);
}

IN_WORLD(without_a_record_nothing_is_repeated) {
  open_leaving(w, "classic");
  script("[" ECHO ",{\"hang\":true},\"!\"]");
  start(w, "Go");
  wait_asked(2, w);
  leave(w);
  change(w, "DELETE FROM notes");
  resume(w);
  wait_end(w);
  assert_has(w->events.p, "error diverged: how the prompt came so far is not on record");
}

IN_WORLD(a_model_or_mode_that_is_gone_ends_the_prompt) {
  open_leaving(w, "classic");
  script("[{\"hang\":true}]");
  start(w, "Go");
  wait_asked(1, w);
  leave(w);
  change(w, "UPDATE prompts SET model = 'gone' WHERE completed_at IS NULL");
  resume(w);
  wait_end(w);
  assert_has(w->events.p, "error diverged: the prompt's model \"gone\" is not configured any more");
  start(w, "Go");
  wait_asked(2, w);
  leave(w);
  change(w, "UPDATE prompts SET mode = 'gone' WHERE completed_at IS NULL");
  resume(w);
  wait_end(w);
  assert_has(w->events.p, "error diverged: the prompt's execution mode \"gone\" is not there any more");
  assert_stored(w, "state", "failed");
}

IN_WORLD(what_is_not_to_be_resumed) {
  open_leaving(w, "code");
  w->on_event = remember;
  script_texts(PAY_CODE, NULL);
  start(w, "Pay");
  wait_event(w, "approval bank.pay");
  assert_int_equal(resume_as(w, "ann"), LT_E_INVALID); /* it runs here */
  assert_has(w->err.msg, "is being carried out already");
  leave(w);
  open_agent(w);
  assert_int_equal(resume_as(w, "bob"), LT_E_NOTFOUND);
  assert_int_equal(resume_as(w, "ann"), LT_OK);
  assert_int_equal(resume_as(w, "ann"), LT_E_INVALID);
  assert_int_equal(lt_agent_cancel(w->agent, LT_STR("ann"), lt_str_of(w->ids.prompt), NULL), LT_OK);
  wait_end(w);
  assert_stored(w, "state", "cancelled");
  assert_int_equal(resume_as(w, "ann"), LT_E_INVALID);
  assert_has(w->err.msg, "has ended (cancelled)");
  char *last = &w->ids.prompt[LT_STORE_ID_BYTES - 1];
  *last = *last == '0' ? '1' : '0';
  assert_int_equal(resume_as(w, "ann"), LT_E_NOTFOUND);
}

IN_WORLD(without_leave_open_prompts_are_cancelled) {
  script_texts("weatherHang({})", NULL);
  start(w, "Go");
  wait_hanging(w);
  leave(w);
  assert_stored(w, "state", "cancelled");
  open_agent(w);
  assert_int_equal(resume_as(w, "ann"), LT_E_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_lathe_with_another_engine_goes_on),
      cmocka_unit_test(a_difference_is_explained_by_the_versions),
      cmocka_unit_test(an_input_that_became_another_is_stored_before_it_is_asked_about),
      cmocka_unit_test(tools_that_are_gone_keep_their_names),
      cmocka_unit_test(a_tool_that_has_come_takes_no_name),
      cmocka_unit_test(a_list_that_is_lost_is_done_without),
      cmocka_unit_test(a_program_that_does_something_else_ends_the_prompt),
      cmocka_unit_test(a_call_that_is_another_one_ends_the_prompt),
      cmocka_unit_test(a_reply_that_is_lost_ends_the_prompt),
      cmocka_unit_test(without_a_record_nothing_is_repeated),
      cmocka_unit_test(a_model_or_mode_that_is_gone_ends_the_prompt),
      cmocka_unit_test(what_is_not_to_be_resumed),
      cmocka_unit_test(without_leave_open_prompts_are_cancelled),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
