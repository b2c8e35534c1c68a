/* What the door does with a call's texts: it records them, masks secrets, checks schemas and stores long answers. */
#include "unit/door_fix.h"

#include "base/mem.h"

static void on_call(void *arg, const lt_call_event *event) {
  (void)arg;
  static const char *const names[] = {"started", "asked", "progress", "finished"};
  lt_str text = event->stage == LT_CALL_FINISHED ? event->answer : event->input;
  note("%s %.*s %.*s", names[event->stage], LT_STR_ARG(event->tool), LT_STR_ARG(text));
}

/* --- The journal -------------------------------------------------------------------------------------------------- */
TEST(calls_are_recorded_before_and_after) {
  w->caller.journal = &w->journal;
  w->caller.on_call = on_call;
  expect(w, "bank.transfer", "{ \"amount\" : 1 }", LT_OK, "1",
         "begin ann/r1 bank.transfer { \"amount\" : 1 }; started bank.transfer { \"amount\" : 1 }; "
         "invoke transfer { \"amount\" : 1 }; finish 7 OK 1; finished bank.transfer 1");
  w->answer = "no such account";
  w->answer_status = LT_E_TOOL;
  expect(w, "bank.peek", "", LT_E_TOOL, "no such account",
         "begin ann/r1 bank.peek {} repeatable; started bank.peek {}; invoke peek {}; "
         "finish 7 E_TOOL no such account; finished bank.peek no such account");
}

TEST(what_cannot_be_recorded_is_not_called) {
  w->caller.journal = &w->journal;
  w->begin_status = LT_E_IO;
  expect(w, "bank.transfer", "", LT_E_IO,
         "Tool \"bank.transfer\" was not called, as the call could not be recorded: the disk is full",
         "begin ann/r1 bank.transfer {}");
}

TEST(what_was_recorded_and_not_called_has_an_end) {
  w->caller.journal = &w->journal;
  w->caller.on_call = on_call;
  w->goes = true;
  expect(w, "bank.transfer", "", LT_E_CLOSED, GONE("bank.transfer"),
         "begin ann/r1 bank.transfer {}; finish 7 E_CLOSED " GONE("bank.transfer") "; "
         "finished bank.transfer " GONE("bank.transfer"));
}

TEST(an_answer_is_not_lost_with_its_record) {
  w->caller.journal = &w->journal;
  w->finish_status = LT_E_IO;
  expect(w, "bank.transfer", "", LT_OK, "1",
         "begin ann/r1 bank.transfer {}; invoke transfer {}; finish 7 OK 1; "
         "warning: an answer of \"bank.transfer\" could not be recorded: the disk is full");
  expect(w, "bank.transfer", "", LT_OK, "1", "begin ann/r1 bank.transfer {}; invoke transfer {}; finish 7 OK 1");
}

TEST(of_every_call_its_end_is_told) {
  w->caller.on_call = on_call;
  w->caller.hidden = LT_STR("bank.peek");
  expect(w, "bank.peek", "{}", LT_E_NOTFOUND, "Tool \"bank.peek\" cannot be called from within itself",
         "finished bank.peek Tool \"bank.peek\" cannot be called from within itself");
  expect(w, "bank.transfer", "[]", LT_E_INVALID, "input: expected an object, got array",
         "finished bank.transfer input: expected an object, got array");
  w->caller.approver = &w->approver;
  w->verdict = LT_E_DENIED;
  expect(w, "bank.close", "{}", LT_E_DENIED, "Tool \"bank.close\" was not approved: Rejected by user",
         "asked bank.close {}; ask bank.close {} (cannot be undone); "
         "finished bank.close Tool \"bank.close\" was not approved: Rejected by user");
}

TEST(what_is_refused_is_not_recorded) {
  w->caller.journal = &w->journal;
  expect(w, "bank.transfer", "[]", LT_E_INVALID, "input: expected an object, got array", "");
  expect(w, "bank.transfers", "", LT_E_NOTFOUND,
         "Tool \"bank.transfers\" not found. Did you mean: bank.transfer? Available tools: bank.broken, bank.close, "
         "bank.peek, bank.rate, bank.transfer",
         "");
}

/* --- Secrets ------------------------------------------------------------------------------------------------------ */
TEST(secrets_are_not_shown_and_not_kept) {
  w->caller.journal = &w->journal;
  w->caller.approver = &w->approver;
  w->caller.on_call = on_call;
  w->answer = "\"it is " SECRET "\"";
  /* The tool gets what it was given, and the program what the tool answered. */
  expect(w, "bank.close", "{\"pin\":\"" SECRET "\"}", LT_OK, "\"it is " SECRET "\"",
         "asked bank.close {\"pin\":\"***\"}; ask bank.close {\"pin\":\"***\"} (cannot be undone); "
         "begin ann/r1 bank.close {\"pin\":\"***\"}; started bank.close {\"pin\":\"***\"}; "
         "invoke close {\"pin\":\"" SECRET "\"}; finish 7 OK \"it is ***\"; finished bank.close \"it is ***\"");
  w->answer = "wrong pin " SECRET;
  w->answer_status = LT_E_TOOL;
  expect(w, "bank.peek", "", LT_E_TOOL, "wrong pin ***",
         "begin ann/r1 bank.peek {} repeatable; started bank.peek {}; invoke peek {}; "
         "finish 7 E_TOOL wrong pin ***; finished bank.peek wrong pin ***");
}

TEST(secrets_are_not_in_names_that_are_none) {
  w->caller.on_call = on_call;
  w->caller.hidden = LT_STR(SECRET);
  expect(w, SECRET, "", LT_E_NOTFOUND, "Tool \"***\" cannot be called from within itself",
         "finished *** Tool \"***\" cannot be called from within itself");
}

TEST(a_value_without_its_secret_is_a_value) {
  assert_int_equal(lt_secrets_add(w->secrets, LT_STR("987654321")), LT_OK);
  w->caller.journal = &w->journal;
  w->answer = "{\"pin\":987654321}";
  expect(w, "bank.peek", "", LT_OK, "{\"pin\":987654321}",
         "begin ann/r1 bank.peek {} repeatable; invoke peek {}; finish 7 OK {\"pin\":\"***\"}");
}

TEST(a_schema_without_its_secret_is_json) {
  const lt_tool_spec one[] = {
      {.name = TEXT("pay"),
       .input_schema =
           TEXT("{\"type\":\"object\",\"properties\":{\"pin\":{\"type\":\"number\",\"default\":987654321}}}")}};
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_secrets_add(w->secrets, LT_STR("987654321")), LT_OK);
  assert_int_equal(lt_door_set_tools(w->door, &w->bank, one, 1, NULL), LT_OK);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_true(lt_str_eqc(lt_catalog_find(catalog, LT_STR("bank.pay"))->input_schema,
                         "{\"type\":\"object\",\"properties\":{\"pin\":{\"type\":\"number\",\"default\":\"***\"}}}"));
  lt_catalog_unref(catalog);
  expect(w, "bank.pay", "{\"pin\":\"x\"}", LT_E_INVALID, "input.pin: expected number, got string", "");
}

#define ELSEWHERE                                                                                               \
  "All of it is in the artifact: a program gets it with getArtifact(id), artifact.get gives pieces of it, the " \
  "next one from \\\"offset\\\" on."

TEST(what_is_put_aside_has_no_secrets) {
  w->options.max_answer_bytes = 10;
  w->caller.artifacts = &w->artifacts;
  w->answer = "\"it is " SECRET "\"";
  expect(w, "bank.peek", "", LT_OK,
         "{\"preview\":\"it is ***\",\"bytes\":11,\"artifact\":\"a1\",\"note\":\"The answer is long: this is its "
         "beginning. " ELSEWHERE "\",\"offset\":9}",
         "invoke peek {}; put ann tool-result application/json 11");
}

/* --- Schemas ------------------------------------------------------------------------------------------------------ */
TEST(a_broken_schema_is_told_of_once) {
  expect(w, "bank.broken", "{\"x\":1}", LT_OK, "1",
         "warning: Tool \"bank.broken\" is called without checking its inputs: its input schema cannot be used: "
         "#/type: is no type of JSON Schema; invoke broken {\"x\":1}");
  expect(w, "bank.broken", "", LT_OK, "1", "invoke broken {}");
  assert_int_equal(lt_door_set_tools(w->door, &w->bank, specs, 5, NULL), LT_OK); /* the same again: nothing new */
  expect(w, "bank.broken", "", LT_OK, "1", "invoke broken {}");
}

TEST(an_answer_that_breaks_its_schema_is_told_of_once) {
  w->answer = "{\"rate\":\"high\"}";
  expect(w, "bank.rate", "", LT_OK, "{\"rate\":\"high\"}",
         "invoke rate {}; warning: Tool \"bank.rate\" does not answer what its output schema says (the answer is used "
         "as it is): output.rate: expected number, got string");
  expect(w, "bank.rate", "", LT_OK, "{\"rate\":\"high\"}", "invoke rate {}");
  w->answer = "{\"rate\":1.5}";
  expect(w, "bank.rate", "", LT_OK, "{\"rate\":1.5}", "invoke rate {}");
}

/* --- Long answers ------------------------------------------------------------------------------------------------- */
TEST(a_long_answer_becomes_an_artifact) {
  w->options.max_answer_bytes = 10;
  w->caller.artifacts = &w->artifacts;
  w->answer = "\"0123456\"";
  expect(w, "bank.peek", "", LT_OK, "\"0123456\"", "invoke peek {}");
  w->answer = "\"0123456789\"";
  expect(w, "bank.peek", "", LT_OK,
         "{\"preview\":\"0123456789\",\"bytes\":12,\"artifact\":\"a1\",\"note\":\"The answer is long: this is its "
         "beginning. " ELSEWHERE "\",\"offset\":10}",
         "invoke peek {}; put ann tool-result application/json 12");
  w->put_status = LT_E_IO;
  expect(w, "bank.peek", "", LT_OK,
         "{\"preview\":\"0123456789\",\"bytes\":12,\"artifact\":null,\"note\":\"The answer is long: this is its "
         "beginning. The rest could not be kept.\"}",
         "invoke peek {}; put ann tool-result application/json 12; "
         "warning: an answer of \"bank.peek\" was cut: the disk is full");
}

TEST(a_preview_ends_between_characters) {
  char *answer = lt_mem_zalloc(1, 3 * 4000 + 3);
  answer[0] = '"';
  for (size_t i = 0; i < 4000; i++) {
    memcpy(answer + 1 + 3 * i, "€", 3);
  }
  answer[1 + 3 * 4000] = '"';
  w->options.max_answer_bytes = 100;
  w->caller.artifacts = &w->artifacts;
  w->answer = answer;
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("bank.peek"), LT_STR(""), &w->options, &out, NULL), LT_OK);
  assert_int_equal(lt_json_check(lt_buf_view(&out), NULL), LT_OK);
  assert_true(lt_str_find(lt_buf_view(&out), LT_STR("€\",\"bytes\":12002"), 0) != SIZE_MAX);
  assert_true(out.n < LT_ANSWER_PREVIEW_BYTES + 300);
  lt_buf_release(&out);
  lt_mem_free(answer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_are_recorded_before_and_after),
      cmocka_unit_test(what_cannot_be_recorded_is_not_called),
      cmocka_unit_test(what_was_recorded_and_not_called_has_an_end),
      cmocka_unit_test(an_answer_is_not_lost_with_its_record),
      cmocka_unit_test(of_every_call_its_end_is_told),
      cmocka_unit_test(what_is_refused_is_not_recorded),
      cmocka_unit_test(secrets_are_not_shown_and_not_kept),
      cmocka_unit_test(a_schema_without_its_secret_is_json),
      cmocka_unit_test(what_is_put_aside_has_no_secrets),
      cmocka_unit_test(a_value_without_its_secret_is_a_value),
      cmocka_unit_test(secrets_are_not_in_names_that_are_none),
      cmocka_unit_test(a_broken_schema_is_told_of_once),
      cmocka_unit_test(an_answer_that_breaks_its_schema_is_told_of_once),
      cmocka_unit_test(a_long_answer_becomes_an_artifact),
      cmocka_unit_test(a_preview_ends_between_characters),
  };
  return cmocka_run_group_tests_name("door_records", tests, NULL, NULL);
}
