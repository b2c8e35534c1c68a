/* What a person is shown before they decide on a call, and what their answers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/approver.h"
#include "cli/json_view.h"

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static void answers_are_read(void **state) {
  (void)state;
  static const struct {
    const char *line;
    lt_answer answer;
    const char *reason;
  } cases[] = {
      {"y", LT_ANSWER_YES, ""},
      {" Yes!\r", LT_ANSWER_YES, ""},
      {"a", LT_ANSWER_ALWAYS, ""},
      {"ALWAYS", LT_ANSWER_ALWAYS, ""},
      {"v", LT_ANSWER_NEVER, ""},
      {"Never.", LT_ANSWER_NEVER, ""},
      {"n", LT_ANSWER_NO, ""},
      {"no", LT_ANSWER_NO, ""},
      {"N  too much ", LT_ANSWER_NO, "too much"},
      {"no, because it is late", LT_ANSWER_NO, "it is late"},
      {"no: Because  x", LT_ANSWER_NO, "x"},
      {"no because", LT_ANSWER_NO, "because"},
      {"n\tnever", LT_ANSWER_NO, "never"},
      {"/approve", LT_ANSWER_YES, ""},
      {"/reject not today", LT_ANSWER_NO, "not today"},
      {"s", LT_ANSWER_SHOW, ""},
      {"Show all", LT_ANSWER_SHOW, ""},
      {"/show", LT_ANSWER_SHOW, ""},
      {"e", LT_ANSWER_EDIT, ""},
      {"edit", LT_ANSWER_EDIT, ""},
      {"c", LT_ANSWER_CALL, ""},
      {"tool", LT_ANSWER_TOOL, ""},
      {"u", LT_ANSWER_SESSION, ""},
      {"w", LT_ANSWER_RULE, ""},
      {"?", LT_ANSWER_HELP, ""},
      {"/help", LT_ANSWER_HELP, ""},
      {"t but", LT_ANSWER_UNCLEAR, ""},
      {"e x", LT_ANSWER_UNCLEAR, ""},
      {"show me the money", LT_ANSWER_UNCLEAR, ""},
      {"/", LT_ANSWER_UNCLEAR, ""},
      {"", LT_ANSWER_UNCLEAR, ""},
      {"  ", LT_ANSWER_UNCLEAR, ""},
      {"ye", LT_ANSWER_UNCLEAR, ""},
      {"yes but not twice", LT_ANSWER_UNCLEAR, ""},
      {"y n", LT_ANSWER_UNCLEAR, ""},
      {"always not", LT_ANSWER_UNCLEAR, ""},
      {"nope", LT_ANSWER_UNCLEAR, ""},
      {"not y", LT_ANSWER_UNCLEAR, ""},
      {"1", LT_ANSWER_UNCLEAR, ""},
      {"\xff\x1b[A", LT_ANSWER_UNCLEAR, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lt_str reason = LT_STR("");
    lt_answer answer = lt_approval_answer_read(lt_str_of(cases[i].line), &reason);
    if (answer != cases[i].answer || !lt_str_eqc(reason, cases[i].reason)) {
      fail_msg("\"%s\": %d, \"%.*s\"", cases[i].line, (int)answer, LT_STR_ARG(reason));
    }
  }
}

/* --- Inputs ------------------------------------------------------------------------------------------------------- */

static void expect(const char *json, const char *shown) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_true(lt_json_view_add(&out, lt_str_of(json), "  ", false));
  assert_string_equal(out.p != NULL ? out.p : "", shown);
  lt_buf_release(&out);
}

static void short_inputs_are_a_line(void **state) {
  (void)state;
  expect("{}", "{}");
  expect("{ \"a\" : [ 1, 2.50 , null ] }", "{\"a\":[1,2.50,null]}");
  expect("{\"a\":\"\xc3\xa4 \xe2\x80\xae\x7f\"}", "{\"a\":\"\xc3\xa4 \\u202e\\u007f\"}");
  expect("{\"a\":***}", "{\"a\":***}"); /* a number that was a secret */
}

static void long_ones_are_indented(void **state) {
  (void)state;
  expect(
      "{\"first\":\"0123456789012345678901234567890123456789\",\"second\":{\"third\":[true,{}]},"
      "\"fourth\":\"0123456789012345678901234567890\",\"e\":[]}",
      "{\n    \"first\": \"0123456789012345678901234567890123456789\",\n    \"second\": {\n      \"third\": [\n"
      "        true,\n        {}\n      ]\n    },\n    \"fourth\": \"0123456789012345678901234567890\",\n    \"e\": "
      "[]\n  }");
}

static void texts_of_several_lines_are_lines(void **state) {
  (void)state;
  expect("{\"a\":\"x\\ny\",\"b\":1}", "{\n    \"a\": (2 lines)\n      | x\n      | y\n    \"b\": 1\n  }");
  expect("[\"\\n\"]", "[\n    (1 line)\n      | \n  ]");
  expect("{\"a\":\"\\\\n\"}", "{\"a\":\"\\\\n\"}"); /* a backslash and an n */
  expect("{\"a\":\"\\r\\n\\ud800\\u001b\\u00a0\"}",
         "{\n    \"a\": (2 lines)\n      | <U+000D>\n      | <U+D800><U+001B><U+00A0>\n  }");
}

static void many_lines_are_hidden_in_the_middle(void **state) {
  (void)state;
  LT_AUTO_BUF(json, LT_MIB);
  LT_AUTO_BUF(out, LT_MIB);
  lt_buf_addc(&json, "{\"t\":\"");
  for (int i = 1; i <= 200; i++) {
    lt_buf_printf(&json, "%d\\n", i);
  }
  lt_buf_addc(&json, "\"}");
  assert_false(lt_json_view_add(&out, lt_buf_view(&json), "", false));
  assert_non_null(strstr(out.p, "\n    | 40\n    ... 140 lines hidden\n    | 181\n"));
  lt_buf_clear(&out);
  assert_true(lt_json_view_add(&out, lt_buf_view(&json), "", true));
  assert_non_null(strstr(out.p, "\n    | 100\n"));
}

/* Makes {"t":"<n times text>"} and shows it. */
static bool show_many(const char *text, size_t n, lt_buf *out) {
  lt_buf json;
  lt_buf_init(&json, LT_MIB);
  lt_buf_addc(&json, "{\"t\":\"");
  for (size_t i = 0; i < n; i++) {
    lt_buf_addc(&json, text);
  }
  lt_buf_addc(&json, "\"}");
  lt_buf_clear(out);
  bool complete = lt_json_view_add(out, lt_buf_view(&json), "", false);
  lt_buf_release(&json);
  return complete;
}

static void long_texts_are_cut_between_characters(void **state) {
  (void)state;
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_true(show_many("x", 397, &out));
  assert_false(show_many("x", 1000, &out));
  assert_non_null(strstr(out.p, "xxx\" ... 602 bytes hidden ... \"xxx"));
  assert_int_equal(strcspn(strchr(out.p, 'x'), "\""), 199);
  assert_int_equal(strcspn(strrchr(out.p, '.') + 3, "\""), 199);
  show_many("\xf0\x9f\x94\x91", 200, &out);
  assert_non_null(strstr(out.p, "\xf0\x9f\x94\x91\" ... 408 bytes hidden ... \"\xf0\x9f\x94\x91"));
  show_many("\\u0041", 200, &out);
  assert_non_null(strstr(out.p, "\\u0041\" ... 804 bytes hidden ... \"\\u0041"));
  show_many("a\\\\", 200, &out);
  assert_non_null(strstr(out.p, "\\\\a\" ... 203 bytes hidden ... \"a\\\\"));
  lt_buf_release(&out);
}

static void there_is_an_end_to_it(void **state) {
  (void)state;
  lt_buf json, out;
  lt_buf_init(&json, 8 * LT_MIB);
  lt_buf_init(&out, LT_MIB);
  lt_buf_addc(&json, "{\"list\":[");
  for (int i = 0; i < 10000; i++) {
    lt_buf_printf(&json, "%s{\"a\":[[[[[[[[[[[[%d]]]]]]]]]]]],\"b\":\"%0300d\"}", i > 0 ? "," : "", i, i);
  }
  lt_buf_addc(&json, "]}");
  assert_false(lt_json_view_add(&out, lt_buf_view(&json), "", false));
  assert_true(out.n < 16 * LT_KIB);
  assert_non_null(strstr(out.p, "[...] ("));
  assert_non_null(strstr(out.p, "... and 99"));
  lt_buf_release(&out);
  lt_buf_init(&out, 16 * LT_MIB);
  assert_true(lt_json_view_add(&out, lt_buf_view(&json), "", true));
  assert_non_null(strstr(out.p, "[[[[9999]]]]"));
  assert_null(strstr(out.p, "..."));
  lt_buf_release(&out);
  lt_buf_release(&json);
}

static void a_want_of_memory_is_survived(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    lt_buf out;
    lt_buf_init(&out, LT_MIB);
    lt_mem_fail_at(n);
    show_many("x", 300, &out);
    lt_approver *approver = lt_approver_new(NULL, NULL, true);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    lt_approver_free(approver);
    lt_buf_release(&out);
    if (!failed) {
      assert_non_null(approver);
      return;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_read),
      cmocka_unit_test(short_inputs_are_a_line),
      cmocka_unit_test(long_ones_are_indented),
      cmocka_unit_test(long_texts_are_cut_between_characters),
      cmocka_unit_test(texts_of_several_lines_are_lines),
      cmocka_unit_test(many_lines_are_hidden_in_the_middle),
      cmocka_unit_test(there_is_an_end_to_it),
      cmocka_unit_test(a_want_of_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
