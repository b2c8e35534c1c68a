/* What a program says: in which order, when it can be seen, and where it is cut. */
#include "run_fix.h"

/* --- Order -------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_everything_said_is_in_order, 2) {
  expect_all(w, "output('a'); log('b'); console.warn('c'); output({d: 1}); console.error('e', 2); console.log([3])",
             "undefined o(a) l(b) w(c) o({\"d\":1}) e(e 2) l([ 3 ])");
  expect_all(w, "log('before'); tEcho({n: 1}); log('after')", "undefined l(before) l(after) t.echo{\"n\":1}={\"n\":1}");
  expect_all(w, "output(''); log()", "undefined o() l()");
  expect_all(w, "complete({response: 'r', followUp: 'f'}).followUp", "json true o(r) o(\n\nf) done");
  expect_all(w, "done(); log('still here')", "undefined l(still here) done");
}

IN_WORLD(test_what_was_said_before_a_failure_is_kept, 1) {
  expect_all(
      w, "output('kept'); log('too'); null.x",
      "E_PROGRAM 1:28 TypeError: cannot read property 'x' of null [output('kept'); log('too'); null.x] o(kept) l(too)");
  lt_run_request request = {.code = LT_STR("output('kept'); for (;;);"), .timeout_ms = 50};
  expect_run(w, &request, TELL_SAID, " o(kept)");
}

/* --- Streaming ---------------------------------------------------------------------------------------------------- */
typedef struct stream {
  world *w;
  lt_buf heard;
  unsigned pieces;
} stream;

static void on_text(void *arg, lt_said said, lt_str text) {
  stream *s = arg;
  static const char letters[] = "olwe";
  lt_wait held; /* it is called by who holds the loop: a wake checks that */
  lt_wait_init(&held, s->w->loop);
  lt_wait_wake(&held, LT_OK);
  s->pieces++;
  lt_buf_printf(&s->heard, " %c(%.*s)", letters[said], LT_STR_ARG(text));
}

static stream stream_of(world *w) {
  stream s = {.w = w};
  lt_buf_init(&s.heard, LT_GIB);
  return s;
}

IN_WORLD(test_text_comes_while_the_program_runs, 2) {
  stream s = stream_of(w);
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_run_request request = {.code = LT_STR("output('first'); log('second'); tHang(); output('never')"),
                            .on_text = on_text,
                            .arg = &s,
                            .cancel = &cancel};
  running r;
  start_run_until_hang(&r, w, &request);
  assert_string_equal(s.heard.p, " o(first) l(second)"); /* the program hangs in its call now */
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  assert_int_equal(lt_wait_on(&r.done, 20000), LT_OK);
  assert_string_equal(s.heard.p, " o(first) l(second)");
  assert_int_equal(r.result.status, LT_E_CANCELLED);
  lt_run_result_release(&r.result);
  lt_buf_release(&s.heard);
}

IN_WORLD(test_what_was_streamed_is_what_the_result_has, 2) {
  stream s = stream_of(w);
  lt_run_request request = {
      .code = LT_STR("for (let i = 0; i < 1000; i++) {\n"
                     "  if (i % 3 == 0) output(i); else if (i % 3 == 1) log(i); else console.warn(i);\n"
                     "  if (i % 100 == 0) tEcho({i});\n"
                     "}"),
      .on_text = on_text,
      .arg = &s};
  lt_run_result r;
  lt_buf text;
  lt_buf_init(&text, LT_GIB);
  run(w, &request, &r);
  tell(&r, TELL_SAID, &text);
  assert_int_equal(s.pieces, 1000);
  assert_string_equal(s.heard.p, text.p);
  lt_buf_release(&text);
  lt_buf_release(&s.heard);
  lt_run_result_release(&r);
}

/* --- Cutting ------------------------------------------------------------------------------------------------------ */
static void expect_output(world *w, const char *code, size_t max, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .max_output_bytes = max};
  expect_run(w, &request, TELL_SAID, expected);
}

IN_WORLD(test_output_is_cut_at_its_limit, 1) {
  expect_output(w, "output('12345')", 5, " o(12345)");
  expect_output(w, "output('123456')", 5, " output-cut");
  expect_output(w, "output('123'); output('45')", 5, " o(123) o(45)");
  expect_output(w, "output('123'); output('45'); output('6')", 5, " o(123) o(45) output-cut");
  expect_output(w, "output('123'); output('456'); output('7')", 5, " o(123) output-cut");
  /* What would fit after something was cut is not shown: it would look as if it followed. */
  expect_output(w, "output('1234'); output('\xe2\x82\xac'); output('5')", 5, " o(1234) output-cut");
  /* Logs have a limit of their own. */
  expect_output(w, "output('123456'); log('a long line of the log')", 5, " l(a long line of the log) output-cut");
}

IN_WORLD(test_a_limit_counts_bytes, 1) {
  expect_output(w, "output('ab\xe2\x82\xac')", 4, " output-cut");
  expect_output(w, "output('ab\xe2\x82\xac')", 5, " o(ab\xe2\x82\xac)");
}

/* The whole output in bytes, and whether it was cut. */
static size_t output_size(world *w, const char *code, bool *ret_cut, bool logs) {
  lt_run_request request = {.code = lt_str_of(code)};
  lt_run_result r;
  size_t bytes = 0;
  run(w, &request, &r);
  for (const lt_run_text *t = r.texts; t != NULL; t = t->next) {
    bytes += t->text.n;
  }
  *ret_cut = logs ? r.log_cut : r.output_cut;
  assert_int_equal(r.status, LT_OK);
  lt_run_result_release(&r);
  return bytes;
}

IN_WORLD(test_the_limits_unless_asked_otherwise, 1) {
  bool cut;
  assert_int_equal(output_size(w, "output('x'.repeat(65536))", &cut, false), 65536);
  assert_false(cut);
  assert_int_equal(output_size(w, "output('x'); output('x'.repeat(65536))", &cut, false), 1);
  assert_true(cut);
  assert_int_equal(output_size(w, "log('x'.repeat(65536))", &cut, true), 65536);
  assert_false(cut);
  assert_int_equal(output_size(w, "log('x'.repeat(65536)); log('')", &cut, true), 65536);
  assert_true(cut);
  assert_int_equal(output_size(w, "for (let i = 0; i < 65536; i++) output('x')", &cut, false), 65536);
  assert_false(cut);
}

IN_WORLD(test_a_flood_of_empty_lines_ends, 1) {
  lt_run_request request = {.code = LT_STR("for (let i = 0; i < 300000; i++) { log(''); output('') } 'done'")};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.kind, LT_VALUE_STRING);
  assert_true(r.log_cut && r.output_cut);
  size_t pieces = 0;
  for (const lt_run_text *t = r.texts; t != NULL; t = t->next) {
    pieces++;
  }
  assert_int_equal(pieces, 2 * 65536);
  lt_run_result_release(&r);
}

IN_WORLD(test_half_characters_survive, 1) {
  lt_run_request request = {.code = LT_STR("output('\\ud800'); '\\udfff'")};
  lt_run_result r;
  lt_buf json;
  run(w, &request, &r);
  lt_buf_init(&json, LT_MIB);
  lt_run_result_json(&r, NULL, &json);
  assert_non_null(strstr(json.p, "\"result\":\"\\udfff\""));
  assert_non_null(strstr(json.p, "\"outputs\":[\"\\ud800\"]"));
  lt_buf_release(&json);
  lt_run_result_release(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_said_is_in_order),
      cmocka_unit_test(test_what_was_said_before_a_failure_is_kept),
      cmocka_unit_test(test_text_comes_while_the_program_runs),
      cmocka_unit_test(test_what_was_streamed_is_what_the_result_has),
      cmocka_unit_test(test_output_is_cut_at_its_limit),
      cmocka_unit_test(test_a_limit_counts_bytes),
      cmocka_unit_test(test_the_limits_unless_asked_otherwise),
      cmocka_unit_test(test_a_flood_of_empty_lines_ends),
      cmocka_unit_test(test_half_characters_survive),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
