/* The door: every step of a call, with a provider that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/door.h"
#include "unit/fiber_case.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* --- A provider --------------------------------------------------------------------------------------------------- */
typedef struct fake {
  lt_provider base;
  lt_loop *loop;
  lt_str reason;
  lt_str answer;
  lt_status status;
  const char *problem; /* the error's message, or NULL */
  uint64_t wait_ms;
  unsigned calls;
  char got_name[64];
  char got_input[256];
  lt_invoke_options got_options;
} fake;

static lt_status fake_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                             lt_buf *out, lt_err *err) {
  fake *f = (fake *)(void *)base;
  f->calls++;
  f->got_options = *options;
  snprintf(f->got_input, sizeof f->got_input, "%.*s", LT_STR_ARG(input));
  if (f->wait_ms > 0) {
    lt_wait wait;
    lt_cancel_node node;
    lt_wait_init(&wait, f->loop);
    lt_cancel_add(options->cancel, &node, &wait);
    lt_status status = lt_wait_on(&wait, f->wait_ms);
    lt_cancel_remove(options->cancel, &node);
    if (status != LT_E_TIMEOUT) {
      return lt_fail(err, status, "stopped");
    }
  }
  snprintf(f->got_name, sizeof f->got_name, "%.*s", LT_STR_ARG(name)); /* the name must have lasted */
  lt_buf_add(out, f->answer);
  return f->problem != NULL ? lt_fail(err, f->status, "%s", f->problem) : f->status;
}

static lt_str fake_down(lt_provider *base) {
  return ((fake *)(void *)base)->reason;
}

static const lt_tool_spec specs[] = {
    {.name = TEXT("get-weather"),
     .input_schema = TEXT("{\"type\":\"object\",\"required\":[\"latitude\",\"longitude\"],\"properties\":{"
                          "\"latitude\":{\"type\":\"number\"},\"longitude\":{\"type\":\"number\"},"
                          "\"days\":{\"type\":\"integer\"},\"place\":{\"type\":[\"string\",\"null\"]},"
                          "\"unit\":{\"type\":\"string\",\"enum\":[\"celsius\",\"fahrenheit\"]},"
                          "\"odd name\":{\"type\":\"boolean\"},\"free\":{},\"yes\":true}}")},
    {.name = TEXT("ping")},
    {.name = TEXT("broken"), .input_schema = TEXT("{\"required\":7,\"properties\":[]")},
    {.name = TEXT("odd"),
     .input_schema = TEXT("{\"required\":[7,\"a\"],\"properties\":{\"a\":{\"type\":\"int\"},\"b\":{\"type\":7},"
                          "\"c\":{\"type\":[]},\"d\":{\"enum\":{}},\"e\":{\"type\":[\"array\",\"made-up\"]}}}")},
};

/* --- What all tests stand on
 * ------------------------------------------------------------------------------------------ */
typedef struct world {
  lt_loop *loop;
  lt_door *door;
  fake weather;
  void (*body)(struct world *w);
} world;

static void run_body(void *arg) {
  world *w = arg;
  w->body(w);
}

static fake make_fake(lt_loop *loop, lt_str name) {
  return (fake){.base = {.name = name, .invoke = fake_invoke, .down = fake_down},
                .loop = loop,
                .answer = LT_STR("{\"ok\":true}")};
}

/* Runs `body` on a fiber of a loop, with a door and a provider "weather". */
static void on_fiber(void (*body)(world *w)) {
  world w = {.body = body};
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  assert_int_equal(lt_door_new(w.loop, NULL, &w.door, NULL), LT_OK);
  w.weather = make_fake(w.loop, LT_STR("weather"));
  assert_int_equal(lt_door_set_tools(w.door, &w.weather.base, specs, 4, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(w.loop, run_body, &w, NULL), LT_OK);
  lt_loop_run(w.loop);
  lt_door_free(w.door);
  lt_loop_free(w.loop);
}

/* One call: its status and what the program would see. */
static void expect_call(world *w, const char *id, lt_str input, lt_status status, const char *want) {
  lt_buf out;
  lt_err err = LT_ERR_INIT;
  lt_buf_init(&out, LT_MIB);
  lt_buf_addc(&out, "left over");
  assert_int_equal(lt_door_call(w->door, lt_str_of(id), input, NULL, &out, &err), status);
  assert_non_null(out.p);
  assert_string_equal(out.p, want);
  assert_int_equal(err.status, status);
  if (status != LT_OK) {
    assert_string_equal(lt_err_msg(&err), want);
  }
  lt_buf_release(&out);
}

static void expect_refused(world *w, const char *input, const char *want) {
  unsigned before = w->weather.calls;
  expect_call(w, "weather.get-weather", lt_str_of(input), LT_E_INVALID, want);
  assert_int_equal(w->weather.calls, before);
}

static void expect_passed(world *w, const char *id, const char *input, const char *want) {
  unsigned before = w->weather.calls;
  expect_call(w, id, lt_str_of(input), LT_OK, "{\"ok\":true}");
  assert_int_equal(w->weather.calls, before + 1);
  assert_string_equal(w->weather.got_input, want);
}

/* --- Input
 * ------------------------------------------------------------------------------------------------------------ */
TEST(a_call_reaches_its_tool) {
  expect_passed(w, "weather.get-weather", " {\"latitude\":1.50,\"longitude\":2}\n",
                "{\"latitude\":1.50,\"longitude\":2}");
  assert_string_equal(w->weather.got_name, "get-weather");
}

TEST(no_input_is_an_empty_object) {
  expect_passed(w, "weather.ping", "", "{}");
  expect_passed(w, "weather.ping", " \r\n\t", "{}");
  expect_passed(w, "weather.ping", "null", "{}");
  expect_passed(w, "weather.ping", " null ", "{}");
  expect_passed(w, "weather.ping", "\"\"", "{}");
  expect_passed(w, "weather.ping", "\"  \"", "{}");
}

TEST(an_object_in_a_string_is_unwrapped_once) {
  expect_passed(w, "weather.ping", "\"{\\\"a\\\": \\\"b\\\"}\"", "{\"a\": \"b\"}");
  expect_call(w, "weather.ping", LT_STR("\"\\\"{}\\\"\""), LT_E_INVALID, "input: expected an object, got string");
  expect_call(w, "weather.ping", LT_STR("\"[]\""), LT_E_INVALID, "input: expected an object, got string");
  expect_call(w, "weather.ping", LT_STR("\"Berlin\""), LT_E_INVALID, "input: expected an object, got string");
}

TEST(what_is_no_object_is_refused) {
  expect_refused(w, "7", "input: expected an object, got number");
  expect_refused(w, "[1]", "input: expected an object, got array");
  expect_refused(w, "true", "input: expected an object, got boolean");
}

TEST(what_is_no_json_is_refused) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("weather.ping"), LT_STR("{a:1}"), NULL, &out, NULL), LT_E_INVALID);
  assert_true(lt_str_starts(lt_buf_view(&out), LT_STR("input: not JSON: ")));
  assert_int_equal(w->weather.calls, 0);
  lt_buf_release(&out);
}

TEST(faults_have_a_path) {
  expect_refused(w, "{\"latitude\":\"52\",\"longitude\":1}", "input.latitude: expected number, got string");
  expect_refused(w, "{\"latitude\":1}", "input.longitude: is required");
  expect_refused(w, "{}", "input.latitude: is required; input.longitude: is required");
  expect_refused(w, "{\"latitude\":1,\"longitude\":1,\"days\":1.5}", "input.days: expected integer, got 1.5");
  expect_refused(w, "{\"latitude\":1,\"longitude\":1,\"place\":4}", "input.place: expected string or null, got number");
  expect_refused(w, "{\"latitude\":1,\"longitude\":null}", "input.longitude: expected number, got null");
  expect_refused(w, "{\"latitude\":1,\"longitude\":1,\"unit\":\"kelvin\"}",
                 "input.unit: expected one of \"celsius\" or \"fahrenheit\", got \"kelvin\"");
  expect_refused(w, "{\"latitude\":1,\"longitude\":1,\"unit\":7}", "input.unit: expected string, got number");
  expect_refused(w, "{\"latitude\":1,\"longitude\":1,\"odd name\":0}",
                 "input[\"odd name\"]: expected boolean, got number");
  expect_refused(w, "{\"latitude\":{},\"days\":[]}",
                 "input.longitude: is required; input.latitude: expected number, got object; input.days: expected "
                 "integer, got array");
}

TEST(right_inputs_pass) {
  static const char *const inputs[] = {
      "{\"latitude\":1,\"longitude\":-2e3,\"days\":3.0}",
      "{\"latitude\":1,\"longitude\":1,\"days\":1e2,\"place\":null,\"unit\":\"\\u0063elsius\"}",
      "{\"latitude\":1,\"longitude\":1,\"days\":100000000000000000000,\"place\":\"x\",\"odd name\":false}",
      "{\"latitude\":1,\"longitude\":1,\"unknown\":[1],\"free\":[],\"yes\":{}}",
  };
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
    expect_passed(w, "weather.get-weather", inputs[i], inputs[i]);
  }
}

TEST(a_broken_schema_blocks_nothing) {
  expect_passed(w, "weather.broken", "{\"x\":1}", "{\"x\":1}");
  const char *input = "{\"a\":\"x\",\"b\":1,\"c\":1,\"d\":\"x\",\"e\":1}";
  expect_passed(w, "weather.odd", input, input);
  expect_passed(w, "weather.odd", "{}", "{}");
}

TEST(many_faults_are_counted) {
  lt_tool_spec spec = {.name = TEXT("many"),
                       .input_schema = TEXT("{\"required\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\","
                                            "\"j\",\"k\",\"l\"]}")};
  assert_int_equal(lt_door_set_tools(w->door, &w->weather.base, &spec, 1, NULL), LT_OK);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("weather.many"), LT_STR(""), NULL, &out, NULL), LT_E_INVALID);
  assert_true(lt_str_ends(lt_buf_view(&out), LT_STR("input.j: is required; and 2 more")));
  lt_buf_release(&out);
}

TEST(long_inputs_are_read_off_the_loop) {
  lt_buf input;
  lt_buf_init(&input, 8 * LT_MIB);
  lt_buf_addc(&input, "{\"latitude\":\"");
  memset(lt_buf_reserve(&input, 2 * LT_MIB), 'x', 2 * LT_MIB);
  lt_buf_commit(&input, 2 * LT_MIB);
  lt_buf_addc(&input, "\",\"longitude\":2}");
  expect_call(w, "weather.get-weather", lt_buf_view(&input), LT_E_INVALID,
              "input.latitude: expected number, got string");
  expect_call(w, "weather.ping", lt_buf_view(&input), LT_OK, "{\"ok\":true}");
  lt_buf_release(&input);
}

/* --- Names
 * ------------------------------------------------------------------------------------------------------------ */
TEST(unknown_tools_are_explained) {
  expect_call(w, "weather.get_weather", LT_STR("{}"), LT_E_NOTFOUND,
              "Tool \"weather.get_weather\" not found. Did you mean: weather.get-weather? Available tools: "
              "weather.broken, weather.get-weather, weather.odd, weather.ping");
  expect_call(w, "sendEmail", LT_STR("{}"), LT_E_NOTFOUND,
              "Tool \"sendEmail\" not found. Available tools: "
              "weather.broken, weather.get-weather, weather.odd, weather.ping");
  /* Another of its names: the id is what helps. */
  expect_call(w, "weatherPing", LT_STR("{}"), LT_E_NOTFOUND,
              "Tool \"weatherPing\" not found. Did you mean: weather.ping? Available tools: "
              "weather.broken, weather.get-weather, weather.odd, weather.ping");
  lt_door_remove(w->door, &w->weather.base);
  expect_call(w, "weather.ping", LT_STR("{}"), LT_E_NOTFOUND,
              "Tool \"weather.ping\" not found. No tools are available.");
}

TEST(a_long_list_is_cut) {
  lt_tool_spec many[50];
  char names[50][8];
  for (unsigned i = 0; i < 50; i++) {
    snprintf(names[i], sizeof names[i], "t%02u", i);
    many[i] = (lt_tool_spec){.name = lt_str_of(names[i])};
  }
  assert_int_equal(lt_door_set_tools(w->door, &w->weather.base, many, 50, NULL), LT_OK);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, LT_STR("q"), LT_STR(""), NULL, &out, NULL), LT_E_NOTFOUND);
  assert_true(lt_str_ends(lt_buf_view(&out), LT_STR(", weather.t18, weather.t19 and 30 more")));
  lt_buf_release(&out);
}

TEST(a_message_is_whole_however_long) {
  lt_buf out;
  lt_err err = LT_ERR_INIT;
  char *id = lt_mem_zalloc(1, 5000);
  memset(id, 'x', 4999);
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(lt_door_call(w->door, lt_str_of(id), LT_STR(""), NULL, &out, &err), LT_E_NOTFOUND);
  assert_true(out.n > 5000);
  assert_true(lt_str_ends(lt_buf_view(&out), LT_STR("weather.ping")));
  assert_true(strlen(err.msg) < LT_ERR_MSG_MAX);
  lt_mem_free(id);
  lt_buf_release(&out);
}

TEST(a_provider_that_is_down_says_why) {
  w->weather.reason = LT_STR("weather could not be started: no such file: npx");
  expect_call(w, "weather.ping", LT_STR(""), LT_E_CLOSED, "weather could not be started: no such file: npx");
  /* It never told its tools: its reason, not "not found". */
  assert_int_equal(lt_door_set_tools(w->door, &w->weather.base, NULL, 0, NULL), LT_OK);
  expect_call(w, "weather.anything", LT_STR(""), LT_E_CLOSED, "weather could not be started: no such file: npx");
  expect_call(w, "weathers.x", LT_STR(""), LT_E_NOTFOUND, "Tool \"weathers.x\" not found. No tools are available.");
  assert_int_equal(w->weather.calls, 0);
}

/* --- Answers
 * ---------------------------------------------------------------------------------------------------------- */
TEST(a_failure_of_the_tool_is_its_text) {
  w->weather.status = LT_E_TOOL;
  w->weather.answer = LT_STR("no such place");
  expect_call(w, "weather.ping", LT_STR(""), LT_E_TOOL, "no such place");
  w->weather.answer = LT_STR("");
  expect_call(w, "weather.ping", LT_STR(""), LT_E_TOOL, "Tool \"weather.ping\" failed without a message");
}

TEST(other_failures_are_the_errors_message) {
  w->weather.status = LT_E_TIMEOUT;
  w->weather.problem = "no answer within 5 ms";
  w->weather.answer = LT_STR("{\"half\":");
  expect_call(w, "weather.ping", LT_STR(""), LT_E_TIMEOUT, "no answer within 5 ms");
  w->weather.problem = NULL;
  expect_call(w, "weather.ping", LT_STR(""), LT_E_TIMEOUT, "timed out");
}

TEST(no_answer_is_null) {
  w->weather.answer = LT_STR("");
  expect_call(w, "weather.ping", LT_STR(""), LT_OK, "null");
}

TEST(an_answer_over_the_ceiling_is_an_error) {
  lt_buf out;
  lt_buf_init(&out, 60);
  w->weather.answer = LT_STR("\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
  assert_int_equal(lt_door_call(w->door, LT_STR("weather.ping"), LT_STR(""), NULL, &out, NULL), LT_E_LIMIT);
  assert_string_equal(out.p, "the answer of \"weather.ping\" is too long");
  lt_buf_release(&out);
}

/* --- Waiting and changes
 * ---------------------------------------------------------------------------------------------- */
static void replace_tools(void *arg) {
  world *w = arg;
  const lt_tool_spec other = {.name = TEXT("other")};
  assert_int_equal(lt_door_set_tools(w->door, &w->weather.base, &other, 1, NULL), LT_OK);
}

TEST(tools_may_change_during_a_call) {
  w->weather.wait_ms = 5;
  assert_int_equal(lt_loop_spawn(w->loop, replace_tools, w, NULL), LT_OK);
  expect_call(w, "weather.ping", LT_STR(""), LT_OK, "{\"ok\":true}");
  assert_string_equal(w->weather.got_name, "ping");
  w->weather.wait_ms = 0;
  expect_passed(w, "weather.other", "", "{}");
}

static void fire(void *arg) {
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

TEST(a_cancel_stops_a_call) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_invoke_options options = {.timeout_ms = 1234, .cancel = &cancel};
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  w->weather.wait_ms = 60000;
  assert_int_equal(lt_loop_spawn(w->loop, fire, &cancel, NULL), LT_OK);
  assert_int_equal(lt_door_call(w->door, LT_STR("weather.ping"), LT_STR(""), &options, &out, NULL), LT_E_CANCELLED);
  assert_string_equal(out.p, "stopped");
  assert_int_equal(w->weather.got_options.timeout_ms, 1234);
  /* Fired already: the tool is not even asked. */
  assert_int_equal(lt_door_call(w->door, LT_STR("weather.ping"), LT_STR(""), &options, &out, NULL), LT_E_CANCELLED);
  assert_string_equal(out.p, "cancelled before the tool was called");
  assert_int_equal(w->weather.calls, 1);
  lt_buf_release(&out);
}

TEST(a_snapshot_stays_as_it_was) {
  lt_catalog *before = NULL;
  lt_catalog *same = NULL;
  lt_catalog *after = NULL;
  assert_int_equal(lt_door_catalog(w->door, &before, NULL), LT_OK);
  assert_int_equal(lt_door_catalog(w->door, &same, NULL), LT_OK);
  assert_ptr_equal(before, same);
  replace_tools(w);
  assert_int_equal(lt_door_catalog(w->door, &after, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(before), 4);
  assert_int_equal(lt_catalog_count(after), 1);
  assert_non_null(lt_catalog_find(before, LT_STR("weather.ping")));
  lt_catalog_unref(before);
  lt_catalog_unref(same);
  lt_catalog_unref(after);
}

TEST(providers_come_and_go) {
  fake second = make_fake(w->loop, LT_STR("second"));
  const lt_tool_spec ping = {.name = TEXT("ping")};
  assert_int_equal(lt_door_set_tools(w->door, &second.base, &ping, 1, NULL), LT_OK);
  expect_call(w, "second.ping", LT_STR(""), LT_OK, "{\"ok\":true}");
  assert_int_equal(second.calls, 1);
  lt_door_remove(w->door, &w->weather.base);
  lt_door_remove(w->door, &w->weather.base);
  expect_call(w, "weather.ping", LT_STR(""), LT_E_NOTFOUND,
              "Tool \"weather.ping\" not found. Did you mean: second.ping? Available tools: second.ping");
  lt_door_remove(w->door, &second.base);
}

TEST(too_many_tools_leave_the_old_ones) {
  lt_err err = LT_ERR_INIT;
  fake second = make_fake(w->loop, LT_STR("second"));
  assert_int_equal(lt_door_set_tools(w->door, &second.base, specs, LT_TOOLS_MAX - 3, &err), LT_E_LIMIT);
  assert_non_null(strstr(err.msg, "\"second\""));
  expect_passed(w, "weather.ping", "", "{}");
}

TEST(tools_are_added_one_by_one) {
  lt_err err = LT_ERR_INIT;
  char name[32] = "";
  fake second = make_fake(w->loop, LT_STR("second"));
  for (int i = 0; i <= LT_TOOLS_MAX - 4; i++) { /* 4 are the other's */
    snprintf(name, sizeof name, "t%d", i);
    const lt_tool_spec tool = {.name = lt_str_of(name)};
    lt_status expected = i < LT_TOOLS_MAX - 4 ? LT_OK : LT_E_LIMIT;
    assert_int_equal(lt_door_add_tool(w->door, &second.base, &tool, &err), expected);
  }
  assert_non_null(strstr(err.msg, "\"second\""));
  expect_call(w, "second.t0", LT_STR(""), LT_OK, "{\"ok\":true}");
  expect_call(w, "second.t19995", LT_STR(""), LT_OK, "{\"ok\":true}");
  lt_door_remove(w->door, &second.base);
}

/* --- Memory
 * ----------------------------------------------------------------------------------------------------------- */
TEST(every_failed_allocation_is_survived) {
  fake second = make_fake(w->loop, LT_STR("second"));
  for (long n = 0;; n++) {
    lt_buf out;
    lt_buf_init(&out, LT_MIB);
    lt_mem_fail_at(n);
    lt_status status = lt_door_set_tools(w->door, &second.base, specs, 2, NULL);
    if (status == LT_OK) {
      status = lt_door_call(w->door, LT_STR("second.get-weather"),
                            LT_STR("\"{\\\"latitude\\\":1,\\\"longitude\\\":2}\""), NULL, &out, NULL);
    }
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    lt_buf_release(&out);
    lt_door_remove(w->door, &second.base);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      break;
    }
    assert_int_equal(status, LT_E_NOMEM);
  }
}

TEST(other_rules_show_and_hide_tools_that_were_handed_over_before) {
  static const lt_exposure_rule first[] = {{TEXT("weather.ping"), LT_EXPOSURE_HIDDEN}, {TEXT("*"), LT_EXPOSURE_BOTH}};
  static const lt_exposure_rule second[] = {{TEXT("weather.ping"), LT_EXPOSURE_DIRECT},
                                            {TEXT("*"), LT_EXPOSURE_HIDDEN}};
  lt_catalog *catalog = NULL;
  lt_door_set_exposures(w->door, first, 2);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), 3);
  assert_null(lt_catalog_find(catalog, LT_STR("weather.ping")));
  assert_true(lt_catalog_find(catalog, LT_STR("weather.odd"))->is_direct);
  lt_catalog_unref(catalog);
  lt_door_set_exposures(w->door, second, 2);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), 1);
  assert_true(lt_catalog_at(catalog, 0)->is_direct && lt_catalog_at(catalog, 0)->not_for_programs);
  lt_catalog_unref(catalog);
  lt_door_set_exposures(w->door, NULL, 0);
  assert_int_equal(lt_door_catalog(w->door, &catalog, NULL), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), 4);
  assert_false(lt_catalog_find(catalog, LT_STR("weather.ping"))->is_direct);
  assert_false(lt_catalog_find(catalog, LT_STR("weather.ping"))->not_for_programs);
  lt_catalog_unref(catalog);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_reaches_its_tool),
      cmocka_unit_test(no_input_is_an_empty_object),
      cmocka_unit_test(an_object_in_a_string_is_unwrapped_once),
      cmocka_unit_test(what_is_no_object_is_refused),
      cmocka_unit_test(what_is_no_json_is_refused),
      cmocka_unit_test(faults_have_a_path),
      cmocka_unit_test(right_inputs_pass),
      cmocka_unit_test(a_broken_schema_blocks_nothing),
      cmocka_unit_test(many_faults_are_counted),
      cmocka_unit_test(long_inputs_are_read_off_the_loop),
      cmocka_unit_test(unknown_tools_are_explained),
      cmocka_unit_test(a_long_list_is_cut),
      cmocka_unit_test(a_message_is_whole_however_long),
      cmocka_unit_test(a_provider_that_is_down_says_why),
      cmocka_unit_test(a_failure_of_the_tool_is_its_text),
      cmocka_unit_test(other_failures_are_the_errors_message),
      cmocka_unit_test(no_answer_is_null),
      cmocka_unit_test(an_answer_over_the_ceiling_is_an_error),
      cmocka_unit_test(tools_may_change_during_a_call),
      cmocka_unit_test(a_cancel_stops_a_call),
      cmocka_unit_test(a_snapshot_stays_as_it_was),
      cmocka_unit_test(providers_come_and_go),
      cmocka_unit_test(too_many_tools_leave_the_old_ones),
      cmocka_unit_test(tools_are_added_one_by_one),
      cmocka_unit_test(every_failed_allocation_is_survived),
      cmocka_unit_test(other_rules_show_and_hide_tools_that_were_handed_over_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
