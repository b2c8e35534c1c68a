/* Programs that are ended from outside: by their deadline, a cancel, the memory limit, a trap. */
#include "run_fix.h"

static const char timed_out[] = "E_TIMEOUT Execution timed out after 60ms";

static void expect_in(world *w, const char *code, uint64_t timeout_ms, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .timeout_ms = timeout_ms};
  expect_run(w, &request, TELL_END, expected);
}

/* --- The deadline ------------------------------------------------------------------------------------------------- */
IN_WORLD(test_the_deadline_ends_whatever_computes, 2) {
  expect_in(w, "for (;;);", 60, timed_out);
  expect_in(w, "for (;;) { try { for (;;); } catch { } finally { } }", 60, timed_out);
  expect_in(w, "async () => { for (;;) await 1; }", 60, timed_out);
  expect_in(w, "const again = () => Promise.resolve().then(again); again()", 60, timed_out);
  expect_in(w, "for (;;) log('x')", 60, timed_out);
  expect_in(w, "for (;;) sleep(0)", 60, timed_out);
  expect_in(w, "for (;;) tEcho({})", 60, timed_out);
  /* Nothing in here asks whether it is time to end. */
  expect_in(w, "'a'.repeat(30).match(/(a+)+b/)", 60, timed_out);
  expect_in(w, "Array.from({length: 1 << 21}, (_, i) => (i * 7919) % 1000003).sort()", 60, timed_out);
  expect(w, "'the next one'", "string the next one");
}

IN_WORLD(test_the_deadline_ends_whatever_waits, 2) {
  expect_in(w, "tHang()", 60, timed_out);
  expect_in(w, "sleep(60000)", 60, timed_out);
  expect_in(w, "Promise.race([1, sleep(60000)])", 60, timed_out);
  expect_in(w, "setTimeout(() => {}, 60000); 'done long ago'", 60, timed_out);
  expect_in(w, "parallel([{tool: 't.hang'}, {tool: 't.slow', input: {ms: 5}}, {tool: 't.hang'}])", 60, timed_out);
  assert_int_equal(w->tools.cancelled, 3);
}

IN_WORLD(test_the_deadline_counts_from_the_start_through_all_calls, 2) {
  lt_run_request request = {.code = LT_STR("for (let i = 0; i < 1000; i++) { output(i); tSlow({ms: 20}) }"),
                            .timeout_ms = 150};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_TIMEOUT);
  assert_true(r.duration_ms >= 149);
  assert_in_range(w->tools.calls, 1, 8);
  lt_run_result_release(&r);
}

/* Types are taken off in the same time. */
IN_WORLD(test_the_deadline_holds_while_types_are_taken_off, 2) {
  lt_buf code;
  lt_buf_init(&code, LT_RUN_CODE_MAX_BYTES);
  for (int i = 0; i < 60000; i++) {
    lt_buf_printf(&code, "const a%d: number = %d as number;\n", i, i);
  }
  lt_run_request request = {.code = lt_buf_view(&code), .lang = LT_LANG_TYPESCRIPT, .timeout_ms = 60};
  expect_run(w, &request, TELL_END, timed_out);
  lt_buf_release(&code);
  expect_ts(w, "const a: number = 1; a", "json 1");
}

IN_WORLD(test_no_more_time_than_may_be_asked_for, 1) {
  lt_run_request request = {.code = LT_STR("1"), .timeout_ms = UINT64_MAX};
  expect_run(w, &request, TELL_END, "json 1");
  request.timeout_ms = 1;
  request.code = LT_STR("for (;;);");
  expect_run(w, &request, TELL_END, "E_TIMEOUT Execution timed out after 1ms");
}

/* --- Cancelling --------------------------------------------------------------------------------------------------- */
static void cancel_later(void *arg) {
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

static void expect_cancelled(world *w, lt_run_request *request, uint64_t after_ms) {
  lt_cancel cancel;
  lt_timer *timer;
  lt_cancel_init(&cancel);
  assert_int_equal(lt_timer_new(w->loop, cancel_later, &cancel, &timer, NULL), LT_OK);
  lt_timer_start(timer, after_ms);
  request->cancel = &cancel;
  expect_run(w, request, TELL_END, "E_CANCELLED Execution was cancelled");
  assert_null(cancel.head); /* nobody who is gone is told later */
  lt_timer_free(timer);
}

IN_WORLD(test_a_cancel_ends_the_program, 2) {
  static const char *const codes[] = {"for (;;);",
                                      "tHang()",
                                      "Promise; tHang(); for (;;);",
                                      "sleep(60000)",
                                      "try { tHang() } catch (e) { for (;;); }",
                                      "for (;;) try { tEcho({}) } catch { }",
                                      "'a'.repeat(30).match(/(a+)+b/)"};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    lt_run_request request = {.code = lt_str_of(codes[i])};
    expect_cancelled(w, &request, 20);
    expect_cancelled(w, &request, i % 3);
  }
  lt_run_request typed = {.code = LT_STR("const x: number = 1; for (;;);"), .lang = LT_LANG_TYPESCRIPT};
  for (uint64_t ms = 0; ms < 12; ms += 2) {
    expect_cancelled(w, &typed, ms);
  }
}

IN_WORLD(test_what_was_cancelled_before_does_not_begin, 2) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  lt_run_request request = {.code = LT_STR("output('hello'); tEcho({})"), .cancel = &cancel};
  expect_run(w, &request, TELL_ALL, "E_CANCELLED Execution was cancelled");
  request.lang = LT_LANG_TYPESCRIPT;
  expect_run(w, &request, TELL_ALL, "E_CANCELLED Execution was cancelled");
  assert_int_equal(w->tools.calls, 0);
}

IN_WORLD(test_a_cancel_after_the_end_changes_nothing, 2) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_run_request request = {.code = LT_STR("5"), .cancel = &cancel};
  expect_run(w, &request, TELL_END, "json 5");
  assert_null(cancel.head);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
}

IN_WORLD(test_one_cancel_ends_many, 2) {
  enum { MANY = 20 };
  static running runs[MANY];
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_run_request waits = {.code = LT_STR("Promise.all([tHang(), tHang()])"), .cancel = &cancel};
  lt_run_request computes = {.code = LT_STR("for (;;);"), .cancel = &cancel};
  for (int i = 0; i < MANY; i++) {
    start_run(&runs[i], w, i % 4 == 0 ? &computes : &waits);
  }
  lt_loop_sleep(w->loop, 30);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(lt_wait_on(&runs[i].done, 20000), LT_OK);
    assert_int_equal(runs[i].result.status, LT_E_CANCELLED);
    lt_run_result_release(&runs[i].result);
  }
  assert_null(cancel.head);
}

/* --- Memory and stack --------------------------------------------------------------------------------------------- */
IN_WORLD(test_memory_is_limited, 2) {
  lt_run_request request = {.code = LT_STR("const a = [];\nfor (;;) a.push(new Array(1000).fill(1))"),
                            .memory_bytes = 8 * LT_MIB};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_NOMEM);
  assert_true(lt_str_starts(lt_buf_view(&r.error), LT_STR("out of memory: the program needed more than its 8 MiB; ")));
  assert_int_equal(r.line, 2);
  lt_run_result_release(&r);
  request.code = LT_STR("new Uint8Array(20 << 20).length");
  request.memory_bytes = 64 * LT_MIB;
  expect_run(w, &request, TELL_END, "json 20971520");
  request.memory_bytes = 1; /* as little as a program can have */
  request.code = LT_STR("[1, 2].map((x) => x + 1)");
  expect_run(w, &request, TELL_END, "json [2,3]");
  request.code = LT_STR("'x'.repeat(200 << 20)");
  request.memory_bytes = 0;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_NOMEM);
  assert_non_null(strstr(r.error.p, "64 MiB"));
  lt_run_result_release(&r);
  /* An answer that does not fit is a failed call, not the end. */
  request.memory_bytes = 4 * LT_MIB;
  request.code = LT_STR("try { tBig({bytes: 30000000}); 'fits' } catch { 'does not fit' }");
  expect_run(w, &request, TELL_END, "string does not fit");
}

IN_WORLD(test_recursion_is_limited, 1) {
  expect(w, "const f = () => f() + 1; try { f() } catch (e) { e instanceof RangeError || e.name }", "json true");
  expect(w, "let s = '['.repeat(100000); try { JSON.parse(s) } catch (e) { 'ended' }", "string ended");
  expect(w, "let a = []; for (let i = 0; i < 100000; i++) a = [a]; try { JSON.stringify(a) } catch (e) { 'ended' }",
         "string ended");
  expect(w, "let a = []; for (let i = 0; i < 100000; i++) a = [a]; typeof tEcho({a})",
         "E_PROGRAM 1:61 RangeError: Maximum call stack size exceeded [let a = []; for (let i = 0; i < 100000; i++) a "
         "= [a]; typeof "
         "tEcho({a})]");
}

IN_WORLD(test_a_result_has_a_limit, 2) {
  if (UNDER_TSAN) {
    return; /* takes minutes */
  }
  lt_run_request request = {.code = LT_STR("'x'.repeat(64 << 20)"), .memory_bytes = 512 * LT_MIB};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_OK);
  assert_int_equal(r.value.n, 64 * LT_MIB);
  lt_run_result_release(&r);
  request.code = LT_STR("'x'.repeat((64 << 20) + 1)");
  expect_run(w, &request, TELL_END,
             "E_PROGRAM the result is larger than 64 MiB: return less, or write it out in parts with output()");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_deadline_ends_whatever_computes),
      cmocka_unit_test(test_the_deadline_ends_whatever_waits),
      cmocka_unit_test(test_the_deadline_counts_from_the_start_through_all_calls),
      cmocka_unit_test(test_the_deadline_holds_while_types_are_taken_off),
      cmocka_unit_test(test_no_more_time_than_may_be_asked_for),
      cmocka_unit_test(test_a_cancel_ends_the_program),
      cmocka_unit_test(test_what_was_cancelled_before_does_not_begin),
      cmocka_unit_test(test_a_cancel_after_the_end_changes_nothing),
      cmocka_unit_test(test_one_cancel_ends_many),
      cmocka_unit_test(test_memory_is_limited),
      cmocka_unit_test(test_recursion_is_limited),
      cmocka_unit_test(test_a_result_has_a_limit),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
