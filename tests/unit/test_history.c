/* What a model is shown of earlier prompts (agent/history/history.h): pure functions on JSON text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "agent/history/history.h"
#include "agent/history/history_search.h"
#include "agent/modes/mode_table.h"
#include "base/limits.h"
#include "base/mem.h"
#include "text/tokens.h"
#include "tool/door.h"

#define OUT_MAX (64 * LT_MIB)

/* --- Helpers ------------------------------------------------------------------------------------------------------ */
/* The messages as a JSON array; checked to be one. Freed with lt_mem_free. */
static char *told(const lt_history *history) {
  lt_buf out;
  lt_err err = LT_ERR_INIT;
  lt_buf_init(&out, OUT_MAX);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_array(&w);
  if (lt_history_put(history, &w, NULL, NULL, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
  lt_json_end_array(&w);
  if (lt_json_check(lt_buf_view(&out), &err) != LT_OK) {
    fail_msg("%s in %s", lt_err_msg(&err), out.p);
  }
  return lt_buf_take(&out, NULL);
}

static char *told_as(lt_history_form form, const char *prompts, size_t max_tokens) {
  const lt_history history = {.modes = lt_mode_table,
                              .mode_count = lt_mode_count,
                              .prompts = lt_str_of(prompts),
                              .form = form,
                              .max_tokens = max_tokens};
  return told(&history);
}

static void expect(lt_history_form form, const char *prompts, const char *want) {
  char *got = told_as(form, prompts, 0);
  assert_string_equal(got, want);
  lt_mem_free(got);
}

#define U(words) "{\"role\":\"user\",\"content\":\"" words "\"}"
#define A(words) "{\"role\":\"assistant\",\"content\":\"" words "\"}"
#define CALL(before, id, name, arguments)                                        \
  "{\"role\":\"assistant\",\"content\":" before ",\"tool_calls\":[{\"id\":\"" id \
  "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}}]}"
#define TOOL(id, words) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" words "\"}"

#define PROMPT(id, mode, state, input, outputs)                                                              \
  "{\"id\":\"" id "\",\"userId\":\"local\",\"mode\":\"" mode "\",\"state\":\"" state "\",\"input\":\"" input \
  "\",\"output\":[" outputs "]}"
#define TEXT(words) "{\"type\":\"text\",\"id\":\"t\",\"content\":\"" words "\"}"
#define DID(id, function, input, result) \
  "{\"type\":\"tool\",\"id\":\"" id "\",\"function\":\"" function "\",\"input\":" input ",\"result\":" result "}"
#define OK(output)   "{\"type\":\"success\",\"output\":" output "}"
#define ERROR(error) "{\"type\":\"error\",\"error\":\"" error "\"}"

/* --- Each kind in each form --------------------------------------------------------------------------------------- */
#define WEATHER                                                                           \
  PROMPT("p1", "classic", "completed", "Weather?",                                        \
         TEXT("Let me look.") "," DID("c1", "weather.get-weather", "{\"city\":\"Rome\"}", \
                                      OK("{\"t\":21}")) "," TEXT("21 degrees."))

static void test_classic_as_classic(void **state) {
  (void)state;
  expect(LT_HISTORY_CLASSIC, "[" WEATHER "]",
         "[" U("Weather?") "," CALL("\"Let me look.\"", "c1", "weather_get-weather",
                                    "{\\\"city\\\":\\\"Rome\\\"}") "," TOOL("c1",
                                                                            "{\\\"t\\\":21}") "," A("21 degrees.") "]");
}

static void test_classic_as_text(void **state) {
  (void)state;
  expect(
      LT_HISTORY_CODE, "[" WEATHER "]",
      "[" U("Weather?") "," A("Let me look.") "," U(
          "[Tool call: weather.get-weather {\\\"city\\\":\\\"Rome\\\"} -> {\\\"t\\\":21}]") "," A("21 degrees.") "]");
  expect(LT_HISTORY_TYPESCRIPT, "[" WEATHER "]",
         "[" U("Weather?") "," A(
             "Let me look.\\n[Tool call: weather.get-weather {\\\"city\\\":\\\"Rome\\\"} -> {\\\"t\\\":21}]\\n21 "
             "degrees.") "]");
}

#define PROGRAM \
  PROMPT("p2", "code", "completed", "Weather?",                                                            \
         DID("x1", "code.execute", "{\"code\":\"const w = weatherGetWeather({});\\noutput(w.t); done();\"}",   \
             "{\"type\":\"success\",\"output\":{\"t\":21},\"logs\":\"looking\\nfound\"}") "," DID("n1", "weather.get-weather", "{}", \
                                                                               OK("{\"t\":21}")) "," TEXT("21"))

static void test_code_as_code(void **state) {
  (void)state;
  expect(LT_HISTORY_CODE, "[" PROGRAM "]",
         "[" U("Weather?") "," A("const w = weatherGetWeather({});\\noutput(w.t); done();") "," U(
             "Logs:\\nlooking\\nfound\\n\\nExecution result: {\\\"t\\\":21}") "," A("21") "]");
}

static void test_code_as_text(void **state) {
  (void)state;
  static const char want[] = "[" U("Weather?") "," A(
      "[Program run in JavaScript]\\n```js\\nconst w = weatherGetWeather({});\\noutput(w.t); done();\\n```\\n"
      "Logs:\\nlooking\\nfound\\n\\nExecution result: {\\\"t\\\":21}\\n21") "]";
  expect(LT_HISTORY_CLASSIC, "[" PROGRAM "]", want);
  expect(LT_HISTORY_TYPESCRIPT, "[" PROGRAM "]", want);
}

#define SCRIPT \
  PROMPT("p3", "typescript", "completed", "Weather?",                                              \
         DID("s1", "execute_typescript", "{\"code\":\"console.log(1)\"}", OK("\"1\\n\"")) "," \
             "{\"type\":\"tool\",\"id\":\"n1\",\"parent\":\"s1\",\"function\":\"weather.get-weather\",\"input\":{},\"result\":" OK("{\"t\":21}") "}," TEXT("It is 1."))

static void test_typescript(void **state) {
  (void)state;
  expect(
      LT_HISTORY_TYPESCRIPT, "[" SCRIPT "]",
      "[" U("Weather?") "," CALL("null", "s1", "execute_typescript", "{\\\"code\\\":\\\"console.log(1)\\\"}") "," TOOL(
          "s1", "1\\n") "," A("It is 1.") "]");
  expect(LT_HISTORY_CLASSIC, "[" SCRIPT "]",
         "[" U("Weather?") "," A(
             "[Program run in TypeScript]\\n```ts\\nconsole.log(1)\\n```\\nOutput: 1\\n\\nIt is 1.") "]");
  expect(LT_HISTORY_CODE, "[" SCRIPT "]",
         "[" U("Weather?\\n\\n[Program run in TypeScript]\\n```ts\\nconsole.log(1)\\n```\\nOutput: 1\\n") "," A(
             "It is 1.") "]");
}

/* What the model called itself, though it has one tool only. */
static void test_direct_calls_in_typescript(void **state) {
  (void)state;
  expect(LT_HISTORY_TYPESCRIPT,
         "[" PROMPT("p", "typescript", "completed", "x",
                    DID("s1", "execute_typescript", "{\"code\":\"1\"}", OK("\"\"")) "," DID(
                        "d1", "add", "{}", ERROR("Tool \\\"add\\\" not found."))) "]",
         "[" U("x") "," CALL("null", "s1", "execute_typescript", "{\\\"code\\\":\\\"1\\\"}") "," TOOL(
             "s1", "(completed, no output)") "," A("[Tool call: add {} -> Tool \\\"add\\\" not found.]") "]");
}

static void test_file(void **state) {
  (void)state;
  expect(LT_HISTORY_CLASSIC,
         "[" PROMPT("p", "classic", "completed", "Draw",
                    "{\"type\":\"file\",\"path\":\"/artifacts/a1\",\"description\":\"a cat\"},{\"type\":\"file\","
                    "\"artifact\":\"a2\"}") "]",
         "[" U("Draw") "," A(
             "[File sent to user: \\\"/artifacts/a1\\\" \xE2\x80\x94 a cat]\\n[File sent to user: \\\"a2\\\"]") "]");
}

/* A program whose text has fences of its own. */
static void test_fences(void **state) {
  (void)state;
  char *got = told_as(LT_HISTORY_CLASSIC,
                      "[" PROMPT("p", "code", "completed", "x",
                                 DID("x", "code.execute", "{\"code\":\"output('```js```')\"}", OK("null"))) "]",
                      0);
  assert_non_null(strstr(got, "\\n````js\\noutput('```js```')\\n````\\n"));
  lt_mem_free(got);
}

/* --- How things ended --------------------------------------------------------------------------------------------- */
static void test_failures(void **state) {
  (void)state;
  expect(LT_HISTORY_CLASSIC,
         "[" PROMPT("p", "classic", "completed", "x",
                    DID("c1", "a.b", "{}", ERROR("it broke")) "," DID("c2", "a.b", "{}",
                                                                  ERROR("Tool \\\"a.b\\\" was not approved: no")) "," DID(
                        "c3", "a.b", "{}", OK("null")) "," DID("c4", "a.b", "{}", OK("\"\""))) "]",
         "[" U("x") "," CALL("null", "c1", "a_b", "{}") "," TOOL("c1", "Error in tool \\\"a.b\\\": it broke") "," CALL(
             "null", "c2", "a_b", "{}") "," TOOL("c2", "Tool \\\"a.b\\\" was not approved: no") "," CALL(
             "null", "c3", "a_b", "{}") "," TOOL("c3", "(completed, no output)") "," CALL(
             "null", "c4", "a_b", "{}") "," TOOL("c4", "(completed, no output)") "]");
}

#define PENDING "{\"type\":\"pending\",\"reason\":\"Send it?\"}"

static void test_pending(void **state) {
  (void)state;
  expect(LT_HISTORY_CLASSIC,
         "[" PROMPT("p", "classic", "waiting_for_approval", "x", DID("c1", "a.b", "{}", PENDING)) "]",
         "[" U("x") "," CALL("null", "c1", "a_b", "{}") "," TOOL(
             "c1", "{\\\"pending\\\":true,\\\"reason\\\":\\\"Send it?\\\"}") "]");
  expect(LT_HISTORY_CLASSIC, "[" PROMPT("p", "classic", "cancelled", "x", DID("c1", "a.b", "{}", PENDING)) "]",
         "[" U("x") "," CALL("null", "c1", "a_b", "{}") "," TOOL(
             "c1", "(no answer: the request was cancelled before)") "," A("[The user cancelled this request]") "]");
}

/* A failed program's calls must not be made again. */
static void test_failed_program(void **state) {
  (void)state;
  expect(LT_HISTORY_CODE,
         "[{\"id\":\"p\",\"mode\":\"code\",\"state\":\"failed\",\"error\":\"no more "
         "money\",\"input\":\"x\",\"output\":[" DID(
             "x", "code.execute", "{\"code\":\"a(); b();\"}",
             ERROR("b is not defined")) "," DID("n1", "mail.send", "{}", OK("1")) "," DID("n2", "mail.send", "{}",
                                                                                          OK("1")) "]}]",
         "[" U("x") "," A("a(); b();") "," U("Execution error: b is not defined\\n\\nTools it had called: mail.send, "
                                             "mail.send") "," A("[This request failed: no more money]") "]");
}

static void test_calls_of_run_code(void **state) {
  (void)state;
  static const char nested[] =
      "{\"type\":\"tool\",\"id\":\"n1\",\"parent\":\"c1\",\"function\":\"weather.get\",\"input\":{},\"result\":" OK(
          "1") "}";
  char prompts[1024];
  snprintf(prompts, sizeof prompts, "[" PROMPT("p", "classic", "completed", "x", "%s,%s") "]",
           DID("c1", "interpreter.run-code", "{\"code\":\"1\"}", OK("1")), nested);
  expect(LT_HISTORY_CLASSIC, prompts,
         "[" U("x") "," CALL("null", "c1", "interpreter_run-code", "{\\\"code\\\":\\\"1\\\"}") "," TOOL("c1", "1") "]");
}

/* --- Roles -------------------------------------------------------------------------------------------------------- */
#define TWO_PROGRAMS                                                                               \
  PROMPT("p4", "code", "completed", "Both?",                                                       \
         DID("x2", "code.execute", "{\"code\":\"output(1)\"}", OK("1")) "," TEXT("shown") "," DID( \
             "x3", "code.execute", "{\"code\":\"done()\"}", OK("2")))
#define UNANSWERED PROMPT("p5", "classic", "completed", "Hello?", "")
#define CANCELLED  PROMPT("p6", "code", "cancelled", "Stop!", "")
#define ONLY_CALL  PROMPT("p7", "classic", "completed", "Quick!", DID("c7", "a.b", "{}", OK("7")))

/* There are servers that refuse anything else: the user first, and no role twice in a row but for calls' answers. */
static void check_roles(const char *messages) {
  lt_arena arena;
  lt_json_doc doc;
  lt_str last = LT_STR("");
  lt_arena_init(&arena, LT_GIB);
  assert_int_equal(lt_json_parse(&arena, lt_str_of(messages), &doc, NULL), LT_OK);
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_str role;
    assert_true(lt_json_str(lt_json_get(it.value, "role"), &arena, &role));
    if (lt_str_eq(role, last) || (last.n == 0 && !lt_str_eqc(role, "user"))) {
      fail_msg("%.*s twice in %s", LT_STR_ARG(role), messages);
    }
    last = role;
  }
  lt_arena_release(&arena);
}

static void test_roles_alternate(void **state) {
  (void)state;
  static const char *const all[] = {WEATHER, PROGRAM, SCRIPT, TWO_PROGRAMS, UNANSWERED, CANCELLED, ONLY_CALL};
  static const size_t budgets[] = {0, 60, 1};
  enum { COUNT = sizeof all / sizeof all[0] };
  for (size_t i = 0; i < COUNT * COUNT * COUNT * 9; i++) {
    char prompts[8192];
    snprintf(prompts, sizeof prompts, "[%s,%s,%s]", all[i % COUNT], all[i / COUNT % COUNT],
             all[i / COUNT / COUNT % COUNT]);
    size_t way = i / COUNT / COUNT / COUNT;
    char *got = told_as((lt_history_form)(way % 3), prompts, budgets[way / 3]);
    check_roles(got);
    lt_mem_free(got);
  }
}

/* In code mode a reply is a program and nothing else: what was shown before it is told by the other side. */
static void test_what_is_said_between_programs(void **state) {
  (void)state;
  expect(LT_HISTORY_CODE, "[" TWO_PROGRAMS "," UNANSWERED "," UNANSWERED "]",
         "[" U("Both?") "," A("output(1)") "," U("Execution result: 1\\n\\n[Shown to the user]\\nshown") "," A(
             "done()") "," U("Execution result: 2\\n\\nHello?\\n\\nHello?") "]");
}

/* --- Ids ---------------------------------------------------------------------------------------------------------- */
/* Every call has an id of its own that providers take, and its answer the same. */
static size_t check_ids(const char *messages) {
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, LT_GIB);
  assert_int_equal(lt_json_parse(&arena, lt_str_of(messages), &doc, NULL), LT_OK);
  lt_str seen[64], open = LT_STR_NULL;
  size_t count = 0;
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_json call = lt_json_at(lt_json_get(it.value, "tool_calls"), 0);
    if (lt_json_exists(call)) {
      assert_true(lt_json_str(lt_json_get(call, "id"), &arena, &open));
      assert_in_range(open.n, 1, 40);
      for (size_t i = 0; i < open.n; i++) {
        assert_non_null(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", open.p[i]));
      }
      for (size_t i = 0; i < count; i++) {
        assert_false(lt_str_eq(seen[i], open));
      }
      assert_in_range(count, 0, 63);
      seen[count++] = open;
    } else if (lt_json_str_eq(lt_json_get(it.value, "role"), LT_STR("tool"))) {
      assert_true(lt_json_str_eq(lt_json_get(it.value, "tool_call_id"), open));
    }
  }
  lt_arena_release(&arena);
  return count;
}

static void test_ids(void **state) {
  (void)state;
  static const char prompts[] =
      "[" PROMPT("p", "classic", "completed", "x",
                 DID("call_0", "a.b", "{}", OK("1")) "," DID("call_0", "a.b", "{}", OK("2")) "," DID(
                     "", "a.b", "{}",
                     OK("3")) "," DID("with space", "a.b", "{}",
                                      OK("4")) "," DID("0123456789012345678901234567890123456789x", "a.b", "{}",
                                                       OK("5"))) "," PROMPT("q", "classic", "completed", "x",
                                                                            DID("call_0", "a.b", "{}", OK("6"))) "]";
  char *got = told_as(LT_HISTORY_CLASSIC, prompts, 0);
  char *again = told_as(LT_HISTORY_CLASSIC, prompts, 0);
  assert_int_equal(check_ids(got), 6);
  assert_string_equal(got, again);
  lt_mem_free(got);
  lt_mem_free(again);
}

/* --- What makes no sense ------------------------------------------------------------------------------------------ */
static void test_hostile(void **state) {
  (void)state;
  static const char *const prompts[] = {
      "[]",
      "[null,1,\"x\",[],{}]",
      "[{\"id\":1,\"input\":{},\"output\":{},\"mode\":[],\"state\":null}]",
      "[{\"input\":\"\",\"output\":[null,1,[],{},{\"type\":1},{\"type\":\"text\"},{\"type\":\"text\",\"content\":1}]}]",
      "[{\"output\":[{\"type\":\"tool\"},{\"type\":\"tool\",\"function\":\"\"},{\"type\":\"tool\",\"function\":{}}]}]",
      "[{\"output\":\"text\",\"input\":[\"x\"]}]",
      "[{\"output\":{\"a\":{\"type\":\"text\",\"content\":\"no\"}}}]",
      "[{\"output\":[{\"type\":\"widget\",\"content\":\"shown only\"}]}]",
  };
  for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
    for (lt_history_form form = LT_HISTORY_CLASSIC; form <= LT_HISTORY_CODE; form++) {
      expect(form, prompts[i], "[]");
    }
  }
}

/* Tools that make no sense are told of, in a form that a provider takes. */
static void test_hostile_calls(void **state) {
  (void)state;
  static const char prompts[] =
      "[{\"input\":\"a\\u0000b\\ud800\",\"mode\":\"classic\",\"output\":["
      "{\"type\":\"tool\",\"function\":\"\\u0000\\u65e5\\u672c <b>\"},"
      "{\"type\":\"tool\",\"function\":\"x\",\"input\":[1],\"result\":7},"
      "{\"type\":\"tool\",\"function\":\"x\",\"input\":\"{}\",\"result\":{\"type\":\"success\"}},"
      "{\"type\":\"tool\",\"function\":\"x\",\"input\":{\"a\":1,\"a\":2},\"result\":{\"type\":\"error\",\"error\":{"
      "\"e\":1}}},"
      "{\"type\":\"tool\",\"function\":\"x\",\"id\":7,\"result\":{\"type\":\"pending\",\"reason\":9}}]},"
      "{\"mode\":\"code\",\"output\":[{\"type\":\"tool\",\"function\":\"before.any\"},"
      "{\"type\":\"tool\",\"function\":\"code.execute\",\"input\":{\"code\":{}}},"
      "{\"type\":\"tool\",\"function\":\"code.execute\"}]}]";
  for (lt_history_form form = LT_HISTORY_CLASSIC; form <= LT_HISTORY_CODE; form++) {
    for (size_t max = 0; max < 200; max += 7) {
      char *got = told_as(form, prompts, max);
      assert_non_null(strstr(got, "a\\u0000b\\ud800"));
      check_ids(got);
      lt_mem_free(got);
    }
  }
  char *got = told_as(LT_HISTORY_CLASSIC, prompts, 0);
  assert_non_null(strstr(got, "\"name\":\"_____b_\""));
  assert_non_null(strstr(got, "Error in tool \\\"x\\\": {\\\"e\\\":1}"));
  lt_mem_free(got);
}

static void test_not_an_array(void **state) {
  (void)state;
  static const char *const prompts[] = {"{}", "[", "[{\"id\":\"x\"", "null", "\xff", "[]]"};
  for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
    lt_err err = LT_ERR_INIT;
    lt_buf out;
    lt_buf_init(&out, OUT_MAX);
    lt_json_writer w = lt_json_writer_on(&out);
    const lt_history history = {.modes = lt_mode_table, .mode_count = lt_mode_count, .prompts = lt_str_of(prompts[i])};
    assert_int_equal(lt_history_put(&history, &w, NULL, NULL, &err), LT_E_SYNTAX);
    assert_non_null(strstr(lt_err_msg(&err), "stored history"));
    assert_int_equal(out.n, 0);
    lt_buf_release(&out);
  }
}

static void test_current_is_left_out(void **state) {
  (void)state;
  const lt_history history = {
      .modes = lt_mode_table,
      .mode_count = lt_mode_count,
      .prompts = LT_STR("[" PROMPT("p1", "classic", "completed", "one", TEXT("1")) "," PROMPT(
          "p2", "classic", "running", "two", "") "]"),
      .current = LT_STR("p2"),
  };
  char *got = told(&history);
  assert_string_equal(got, "[" U("one") "," A("1") "]");
  lt_mem_free(got);
}

/* --- Making it fit ------------------------------------------------------------------------------------------------ */
/* Prompts with a large answer each. */
static char *large_history(const char *mode, size_t count, size_t answer_bytes) {
  lt_buf out;
  lt_buf_init(&out, OUT_MAX);
  bool code = strcmp(mode, "code") == 0;
  for (size_t i = 0; i < count; i++) {
    lt_buf_addc(&out, i == 0 ? "[" : ",");
    lt_buf_printf(&out,
                  "{\"id\":\"p%zu\",\"mode\":\"%s\",\"state\":\"completed\",\"input\":\"question %zu\",\"output\":["
                  "{\"type\":\"tool\",\"id\":\"c%zu\",\"function\":\"%s\",\"input\":{\"code\":\"f(%zu)\"},\"result\":{"
                  "\"type\":\"success\",\"output\":\"answer%zu ",
                  i, mode, i, i, code ? "code.execute" : "files.read", i, i);
    for (size_t k = 0; k < answer_bytes; k += 6) {
      lt_buf_addc(&out, "words ");
    }
    lt_buf_printf(&out, "end\"}},{\"type\":\"text\",\"content\":\"reply %zu\"}]}", i);
  }
  lt_buf_byte(&out, ']');
  return lt_buf_take(&out, NULL);
}

static size_t count_of(const char *text, const char *what) {
  size_t count = 0;
  for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
    count++;
  }
  return count;
}

static void test_oldest_are_shortened_first(void **state) {
  (void)state;
  char *prompts = large_history("classic", 10, 3000);
  size_t whole = 0;
  char *got = told_as(LT_HISTORY_CLASSIC, prompts, 0);
  whole = lt_tokens_estimate(lt_str_of(got));
  assert_int_equal(count_of(got, "left out"), 0);
  lt_mem_free(got);
  got = told_as(LT_HISTORY_CLASSIC, prompts, whole / 2);
  assert_in_range(lt_tokens_estimate(lt_str_of(got)), whole / 4, whole / 2 + whole / 20);
  size_t shortened = count_of(got, "bytes left out");
  assert_in_range(shortened, 5, 8);
  assert_int_equal(count_of(got, "steps left out") + count_of(got, "step left out"), 0);
  const char *first_whole = strstr(got, "answer8");
  assert_non_null(first_whole);
  assert_null(strstr(first_whole, "left out"));
  assert_int_equal(count_of(got, "question "), 10);
  assert_int_equal(count_of(got, "reply "), 10);
  assert_int_equal(count_of(got, "end\""), 10); /* both ends are kept */
  lt_mem_free(got);
  lt_mem_free(prompts);
}

static void test_then_left_out_with_a_note(void **state) {
  (void)state;
  static const char *const modes[] = {"classic", "code"};
  for (size_t m = 0; m < 2; m++) {
    char *prompts = large_history(modes[m], 10, 3000);
    char *got = told_as(m == 0 ? LT_HISTORY_CLASSIC : LT_HISTORY_CODE, prompts, 900);
    assert_in_range(lt_tokens_estimate(lt_str_of(got)), 450, 950);
    assert_true(count_of(got, "[1 step left out]\\nreply ") >= 5);
    assert_int_equal(count_of(got, "question "), 10);
    assert_int_equal(count_of(got, "reply "), 10);
    assert_non_null(strstr(got, "answer9"));
    assert_null(strstr(got, "answer0"));
    check_ids(got);
    lt_mem_free(got);
    got = told_as(m == 0 ? LT_HISTORY_CLASSIC : LT_HISTORY_CODE, prompts, 1); /* only what the user said */
    assert_int_equal(count_of(got, "\"role\":\"user\",\"content\":\"question "), 10);
    assert_int_equal(count_of(got, "[2 steps left out]"), 10);
    assert_int_equal(count_of(got, "reply"), 0);
    lt_mem_free(got);
    lt_mem_free(prompts);
  }
}

/* The user's words stay whole, whatever it costs; a reply of the same length does not. */
static void test_words_of_the_user_stay(void **state) {
  (void)state;
  lt_buf prompts;
  lt_buf_init(&prompts, OUT_MAX);
  lt_buf_addc(&prompts, "[{\"id\":\"p\",\"mode\":\"classic\",\"input\":\"");
  for (size_t i = 0; i < 20000; i++) {
    lt_buf_addc(&prompts, "mine ");
  }
  lt_buf_addc(&prompts, "\",\"output\":[{\"type\":\"text\",\"content\":\"");
  for (size_t i = 0; i < 20000; i++) {
    lt_buf_addc(&prompts, "yours\xE2\x82\xAC ");
  }
  lt_buf_addc(&prompts, "\"}]}]");
  char *got = told_as(LT_HISTORY_CLASSIC, prompts.p, 22000);
  assert_int_equal(count_of(got, "mine "), 20000);
  assert_in_range(count_of(got, "yours"), 10, 100);
  assert_int_equal(count_of(got, "bytes left out"), 1);
  assert_null(strstr(got, "\xEF\xBF\xBD")); /* cut between characters */
  lt_mem_free(got);
  got = told_as(LT_HISTORY_CLASSIC, prompts.p, 0);
  assert_int_equal(count_of(got, "yours"), 20000);
  lt_mem_free(got);
  lt_buf_release(&prompts);
}

/* Arguments stay an object with its keys. */
static void test_long_arguments(void **state) {
  (void)state;
  lt_buf prompts;
  lt_buf_init(&prompts, OUT_MAX);
  lt_buf_addc(&prompts,
              "[{\"id\":\"p\",\"mode\":\"classic\",\"input\":\"x\",\"output\":[{\"type\":\"tool\",\"id\":\"c\","
              "\"function\":\"f.w\",\"input\":{\"path\":\"/a\",\"list\":[1,2],\"text\":\"");
  for (size_t i = 0; i < 4000; i++) {
    lt_buf_addc(&prompts, "line\\n");
  }
  lt_buf_addc(&prompts, "\"},\"result\":{\"type\":\"success\",\"output\":true}}]}]");
  char *got = told_as(LT_HISTORY_CLASSIC, prompts.p, 300);
  lt_arena arena;
  lt_json_doc doc, arguments;
  lt_str text;
  lt_arena_init(&arena, LT_GIB);
  assert_int_equal(lt_json_parse(&arena, lt_str_of(got), &doc, NULL), LT_OK);
  lt_json call = lt_json_at(lt_json_get(lt_json_at(lt_json_root(&doc), 1), "tool_calls"), 0);
  assert_true(lt_json_str(lt_json_get(lt_json_get(call, "function"), "arguments"), &arena, &text));
  assert_int_equal(lt_json_parse(&arena, text, &arguments, NULL), LT_OK);
  lt_json root = lt_json_root(&arguments);
  assert_true(lt_json_str_eq(lt_json_get(root, "path"), LT_STR("/a")));
  assert_true(lt_str_eqc(lt_json_text(lt_json_get(root, "list")), "[1,2]"));
  assert_true(lt_json_str(lt_json_get(root, "text"), &arena, &text));
  assert_in_range(text.n, 50, 200);
  assert_true(lt_str_find(text, LT_STR("left out"), 0) != SIZE_MAX);
  lt_arena_release(&arena);
  lt_mem_free(got);
  lt_buf_release(&prompts);
}

/* --- Names -------------------------------------------------------------------------------------------------------- */
static void test_names_of_the_wire(void **state) {
  (void)state;
  static const lt_tool_spec specs[] = {{.name = {"b-c", 3}}, {.name = {"b.c", 3}}};
  static lt_provider provider = {.name = {"a", 1}};
  const lt_catalog_source source = {.ns = LT_STR("a"), .provider = &provider, .tools = specs, .count = 2};
  lt_catalog *catalog;
  lt_tool_definitions *wire;
  lt_arena arena;
  lt_arena_init(&arena, LT_MIB);
  assert_int_equal(lt_catalog_new(&source, 1, &catalog, NULL), LT_OK);
  assert_int_equal(lt_tool_definitions_new(&arena, catalog, &wire, NULL), LT_OK);
  const lt_history history = {
      .modes = lt_mode_table,
      .mode_count = lt_mode_count,
      .prompts = LT_STR("[" PROMPT("p", "classic", "completed", "x",
                                   DID("c1", "a.b.c", "{}", OK("1")) "," DID("c2", "gone.tool", "{}", OK("1"))) "]"),
      .definitions = wire,
  };
  char *got = told(&history);
  assert_non_null(strstr(got, "\"name\":\"a_b_c\""));
  assert_non_null(strstr(got, "\"name\":\"gone_tool\""));
  lt_mem_free(got);
  lt_catalog_unref(catalog);
  lt_arena_release(&arena);
}

/* --- Memory, time ------------------------------------------------------------------------------------------------- */
static void test_without_memory(void **state) {
  (void)state;
  static const char prompts[] = "[" WEATHER "," PROGRAM "," SCRIPT "," TWO_PROGRAMS "," UNANSWERED "]";
  for (lt_history_form form = LT_HISTORY_CLASSIC; form <= LT_HISTORY_CODE; form++) {
    for (size_t max = 0; max <= 50; max += 50) {
      char *want = told_as(form, prompts, max);
      bool failed = true;
      for (long n = 0; failed; n++) {
        lt_buf out;
        lt_err err = LT_ERR_INIT;
        lt_buf_init(&out, OUT_MAX);
        lt_json_writer w = lt_json_writer_on(&out);
        const lt_history history = {.modes = lt_mode_table,
                                    .mode_count = lt_mode_count,
                                    .prompts = lt_str_of(prompts),
                                    .form = form,
                                    .max_tokens = max};
        lt_mem_fail_at(n);
        lt_json_begin_array(&w);
        lt_status status = lt_history_put(&history, &w, NULL, NULL, &err);
        lt_json_end_array(&w);
        failed = lt_mem_failed();
        lt_mem_fail_at(-1);
        if (failed) {
          assert_true(status == LT_E_NOMEM || out.status == LT_E_NOMEM);
        } else {
          assert_int_equal(status, LT_OK);
          assert_string_equal(out.p, want);
        }
        lt_buf_release(&out);
      }
      lt_mem_free(want);
    }
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 20
#else
#define SLOWER 1
#endif

/* The best of a few: others use the machine, too. */
static double ms_of(lt_history_form form, const char *prompts, size_t max_tokens) {
  double best = 1e9;
  for (int i = 0; i < 7; i++) {
    struct timespec a, b;
    lt_buf out;
    lt_buf_init(&out, OUT_MAX);
    lt_json_writer w = lt_json_writer_on(&out);
    const lt_history history = {.modes = lt_mode_table,
                                .mode_count = lt_mode_count,
                                .prompts = lt_str_of(prompts),
                                .form = form,
                                .max_tokens = max_tokens};
    lt_json_begin_array(&w);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    assert_int_equal(lt_history_put(&history, &w, NULL, NULL, NULL), LT_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    lt_buf_release(&out);
    double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
    best = ms < best ? ms : best;
  }
  return best;
}

static void test_a_thousand_prompts(void **state) {
  (void)state;
  char *prompts = large_history("classic", 1000, 500);
  size_t bytes = strlen(prompts);
  static const size_t budgets[] = {0, 10000000, 64000, 20000, 1};
  for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
    double ms = ms_of(i % 2 == 0 ? LT_HISTORY_CLASSIC : LT_HISTORY_CODE, prompts, budgets[i]);
    print_message("1,000 prompts, %zu bytes, budget %zu: %.2f ms\n", bytes, budgets[i], ms);
    assert_true(ms < 10.0 * SLOWER);
  }
  lt_mem_free(prompts);
}

/* --- Searching ---------------------------------------------------------------------------------------------------- */
/* What a search finds in two prompts: the numbers count from the end. Freed with lt_mem_free. */
static char *found_of(const char *prompts, const char *query, size_t max) {
  lt_history_search search = {.query = lt_str_of(query), .own = LT_STR("own.tool"), .max = max, .number = 3};
  lt_buf out;
  lt_err err = LT_ERR_INIT;
  size_t count = 0;
  lt_buf_init(&out, OUT_MAX);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_array(&w);
  assert_int_equal(lt_history_search_put(&search, lt_str_of(prompts), &w, &count, &err), LT_OK);
  lt_json_end_array(&w);
  assert_int_equal(count, 2);
  return lt_buf_take(&out, NULL);
}

static void expect_found(const char *query, size_t max, const char *want) {
  static const char prompts[] =
      "[{\"id\":\"a\",\"createdAt\":\"then\",\"input\":\"A Red "
      "apple\",\"output\":[{\"type\":\"text\",\"content\":\"red, \\u00e4 "
      "pear\"}]},{\"id\":\"b\",\"createdAt\":\"now\",\"input\":\"\",\"output\":[{\"type\":\"tool\",\"function\":\"shop."
      "list\",\"input\":"
      "{\"of\":\"apple\"},\"result\":{\"type\":\"success\",\"output\":[\"pear\"]}},{\"type\":\"tool\",\"function\":"
      "\"own.tool\",\"input\":"
      "{\"query\":\"red apple\"},\"result\":{\"type\":\"error\",\"error\":\"pear\"}},7,{\"type\":\"tool\"}]}]";
  char *got = found_of(prompts, query, max);
  assert_string_equal(got, want);
  lt_mem_free(got);
}

#define FOUND(number, at, by, text) "{\"message\":" number ",\"at\":\"" at "\",\"by\":\"" by "\",\"text\":\"" text "\"}"
#define CALLED                      FOUND("2", "now", "shop.list", "{\\\"of\\\":\\\"apple\\\"}")

static void test_search(void **state) {
  (void)state;
  expect_found("APPLE", 9, "[" CALLED "," FOUND("1", "then", "user", "A Red apple") "]");
  expect_found("APPLE", 1, "[" CALLED "]");
  expect_found("apple  red", 9, "[" FOUND("1", "then", "user", "A Red apple") "]");
  expect_found("\xC3\xA4", 9, "[" FOUND("1", "then", "assistant", "red, \xC3\xA4 pear") "]");
  expect_found("red plum", 9, "[]");
}

/* A long text of characters of two bytes: the excerpt has whole ones. */
static void test_search_excerpt(void **state) {
  (void)state;
  LT_AUTO_BUF(prompts, LT_MIB);
  lt_buf_addc(&prompts, "[{},{\"id\":\"a\",\"input\":\"x");
  for (size_t i = 0; i < 2000; i++) {
    lt_buf_addc(&prompts, i == 1000 ? "needle" : "\xC3\xA4");
  }
  lt_buf_addc(&prompts, "\"}]");
  lt_buf_byte(&prompts, '\0');
  char *got = found_of(prompts.p, "Needle", 9);
  assert_non_null(strstr(got, "\"text\":\"...\xC3\xA4"));
  assert_non_null(strstr(got, "\xC3\xA4needle\xC3\xA4"));
  assert_non_null(strstr(got, "\xC3\xA4...\""));
  assert_in_range(strlen(got), 500, LT_CONVERSATION_EXCERPT_BYTES + 100);
  lt_mem_free(got);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_classic_as_classic),
      cmocka_unit_test(test_classic_as_text),
      cmocka_unit_test(test_code_as_code),
      cmocka_unit_test(test_code_as_text),
      cmocka_unit_test(test_typescript),
      cmocka_unit_test(test_direct_calls_in_typescript),
      cmocka_unit_test(test_file),
      cmocka_unit_test(test_fences),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_pending),
      cmocka_unit_test(test_failed_program),
      cmocka_unit_test(test_calls_of_run_code),
      cmocka_unit_test(test_roles_alternate),
      cmocka_unit_test(test_what_is_said_between_programs),
      cmocka_unit_test(test_ids),
      cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_hostile_calls),
      cmocka_unit_test(test_not_an_array),
      cmocka_unit_test(test_current_is_left_out),
      cmocka_unit_test(test_oldest_are_shortened_first),
      cmocka_unit_test(test_then_left_out_with_a_note),
      cmocka_unit_test(test_words_of_the_user_stay),
      cmocka_unit_test(test_long_arguments),
      cmocka_unit_test(test_names_of_the_wire),
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_a_thousand_prompts),
      cmocka_unit_test(test_search),
      cmocka_unit_test(test_search_excerpt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
