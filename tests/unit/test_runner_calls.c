/* What a program waits for: tool calls in every style, many at once, left behind, failing; timers. */
#include "run_fix.h"

/* --- Styles ------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_plain_calls_give_values, 2) {
  expect_all(w, "const r = tEcho({a: 1}); r.a + 1", "json 2 t.echo{\"a\":1}={\"a\":1}");
  expect(w, "(await tEcho({a: 1})).a + 1", "json 2");
  expect(w, "async () => { const r = tEcho({a: 2}); return r.a }", "json 2");
  expect(w, "tools['t.echo']({a: [1]})", "json {\"a\":[1]}");
  expect(w, "tEcho()", "json {}");
  expect(w, "tCount() + tCount()", "json 3");
  expect(w, "let s = 0; for (let i = 0; i < 50; i++) s += tEcho({i}).i; s", "json 1225");
}

IN_WORLD(test_promised_calls_run_at_once, 2) {
  expect(w, "Promise.all([1, 2, 3].map((n) => tEcho({n})))", "json [{\"n\":1},{\"n\":2},{\"n\":3}]");
  expect(w, "tEcho({n: 1}).then((r) => r.n)", "json 1");
  expect(w, "Promise.resolve(); tEcho({n: 1}).n + 1", "json 2"); /* used as the value itself */
  unsigned before = w->tools.most_open;
  expect(w, "const all = await Promise.all([5, 1, 3].map((ms) => tSlow({ms})));\nall.map((x) => x.ms)", "json [5,1,3]");
  assert_int_equal(w->tools.most_open, 3);
  assert_true(before < 3);
}

IN_WORLD(test_typescript_calls_give_results, 2) {
  expect_ts(w, "const r = await echo({a: 1}); r", "json {\"success\":true,\"value\":{\"a\":1}}");
  expect_ts(w, "await fail({})", "json {\"success\":false,\"error\":\"Tool \\\"t.fail\\\" failed: it went wrong\"}");
  expect_ts(
      w, "await strict({n: 'x' as any})",
      "json {\"success\":false,\"error\":\"Tool \\\"t.strict\\\" failed: input.n: expected number, got string\"}");
  expect_ts(w, "(await Promise.all([1, 2].map((n) => echo({n})))).map((r: any) => r.value.n)", "json [1,2]");
}

IN_WORLD(test_parallel, 2) {
  expect(w, "parallel([{tool: 't.echo', input: {a: 1}}, {tool: 'tFail'}, {tool: 'tCount', input: {}}])",
         "json [{\"a\":1},{\"error\":\"Tool \\\"t.fail\\\" failed: it went wrong\"},1]");
  expect(w, "parallel([])", "json []");
  expect(w, "parallel([{tool: 't.nope'}, 5])",
         "json [{\"error\":\"Tool \\\"t.nope\\\" not found; discoverTools() lists what there "
         "is\"},{\"error\":\"parallel()[1] is "
         "not a {tool, input} object\"}]");
  expect(w, "Promise.resolve(1); (await parallel([{tool: 't.echo', input: {n: 1}}]))[0].n", "json 1");
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */
IN_WORLD(test_a_failing_call_throws_where_it_was_made, 2) {
  expect_all(w, "let a = 1;\ntFail({});",
             "E_PROGRAM 2:1 Tool \"t.fail\" failed: it went wrong [tFail({});] t.fail{}!it went wrong");
  expect(w, "tBroken()", "E_PROGRAM 1:1 Tool \"t.broken\" failed: the line is dead [tBroken()]");
  expect(w, "try { tFail() } catch (e) { e instanceof Error && e.message }",
         "string Tool \"t.fail\" failed: it went wrong");
  expect(w, "tFail({}).catch((e) => 'caught ' + e.message).then((x) => x)",
         "string caught Tool \"t.fail\" failed: it went wrong");
  expect(w, "tStrict({})", "E_PROGRAM 1:1 Tool \"t.strict\" failed: input.n: is required [tStrict({})]");
  expect(w, "tEcho(5)", "E_PROGRAM 1:1 Tool \"t.echo\" failed: input: expected an object, got number [tEcho(5)]");
}

IN_WORLD(test_a_failing_call_that_nobody_awaits_fails_the_program, 2) {
  expect_all(w, "Promise;\ntFail({}); 5",
             "E_PROGRAM 2:1 Tool \"t.fail\" failed: it went wrong [tFail({}); 5] t.fail{}!it went wrong");
  expect_all(w, "Promise; tFail({}).catch(() => {}); 5", "json 5 t.fail{}!it went wrong");
  expect_all(w, "Promise; const p = tFail({}); sleep(10).then(() => p.catch(() => log('late but in time'))); 5",
             "json 5 l(late but in time) t.fail{}!it went wrong");
}

IN_WORLD(test_what_is_not_an_answer_is_a_failed_call, 2) {
  lt_run_request request = {.code = LT_STR("try { tGarbage() } catch (e) { 'no answer' }")};
  expect_run(w, &request, TELL_END, "string no answer");
}

/* --- Many --------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_more_calls_than_may_be_open_queue, 2) {
  expect(w,
         "const all = await Promise.all(Array.from({length: 2500}, (_, n) => tSlow({ms: 300, n})));\n"
         "[all.length, all.every((x, n) => x.n === n)]",
         "json [2500,true]");
  assert_int_equal(w->tools.most_open, LT_RUN_OPEN_CALLS_MAX);
  assert_int_equal(w->tools.calls, 2500);
  expect(w,
         "parallel(Array.from({length: 2500}, (_, n) => ({tool: 't.slow', input: {ms: n % 3, n}}))).every((x, n) => "
         "x.n === n)",
         "json true");
}

IN_WORLD(test_a_program_has_so_many_calls, 2) {
  if (UNDER_TSAN) {
    return; /* takes minutes */
  }
  expect(w,
         "let n = 0, why;\n"
         "for (let i = 0; i < 100; i++) n += parallel(Array.from({length: 1000}, () => ({tool: 't.count'}))).length;\n"
         "setTimeout(() => {}, 0); sleep(0);\n" /* timers are no calls */
         "try { tCount() } catch (e) { why = e.message } [n, why]",
         "json [100000,\"too many tool calls: a program may make 100000 of them\"]");
  assert_int_equal(w->tools.counted, LT_RUN_CALLS_MAX);
}

IN_WORLD(test_sleeping_does_not_take_the_calls_places, 2) {
  expect(w,
         "const naps = Array.from({length: 1500}, () => setTimeout(() => {}, 60000));\n"
         "const all = await Promise.all([1, 2].map((n) => tEcho({n})));\n"
         "naps.forEach(clearTimeout); all.length",
         "json 2");
}

/* --- Large -------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_large_answers_arrive_and_are_not_kept_for_the_report, 2) {
  lt_run_request request = {.code = LT_STR("[tBig({bytes: 1000}).length, tBig({bytes: 3000000}).length]")};
  lt_run_result r;
  run(w, &request, &r);
  assert_string_equal(r.value.p, "[1000,3000000]");
  const lt_run_call *second = r.calls->next;
  assert_int_equal(r.calls->result.n, 1002);
  assert_int_equal(second->result.n, 0);
  assert_int_equal(second->result_bytes, 3000002);
  lt_buf json;
  lt_buf_init(&json, LT_MIB);
  lt_run_result_json(&r, NULL, &json);
  assert_non_null(strstr(json.p, "\"input\":{\"bytes\":3000000},\"resultBytes\":3000002}"));
  lt_buf_release(&json);
  lt_run_result_release(&r);
}

IN_WORLD(test_large_inputs_arrive_and_are_not_kept_for_the_report, 2) {
  lt_run_request request = {.code = LT_STR("tEcho({a: 'x'.repeat(2000000)}).a.length")};
  lt_run_result r;
  run(w, &request, &r);
  assert_string_equal(r.value.p, "2000000");
  assert_int_equal(r.calls->input.n, 0);
  assert_int_equal(r.calls->input_bytes, 2000008);
  lt_buf json;
  lt_buf_init(&json, LT_MIB);
  lt_run_result_json(&r, NULL, &json);
  assert_non_null(strstr(json.p, "{\"tool\":\"t.echo\",\"inputBytes\":2000008,\"resultBytes\":2000008}"));
  lt_buf_release(&json);
  lt_run_result_release(&r);
}

/* One string in the program, a copy of it in every call. */
IN_WORLD(test_a_program_cannot_fill_our_memory_with_calls, 2) {
  lt_run_request request = {
      .code = LT_STR("const x = 'x'.repeat(8 << 20);\nawait Promise.all(Array.from({length: 33}, () => tHang({x})))")};
  expect_run(w, &request, TELL_END,
             "E_PROGRAM 2:50 too much at once: the inputs and answers of open tool calls may have 256 MiB together; "
             "wait for some before starting more [await Promise.all(Array.from({length: 33}, () => tHang({x})))]");
  assert_in_range(w->tools.hangs, 1, 31); /* 32 of them are a few bytes over it */
}

IN_WORLD(test_long_failures_are_told_but_not_kept, 2) {
  lt_run_request request = {.code = LT_STR("try { tFailLong({bytes: 2000000}) } catch (e) { e.message.length }")};
  lt_run_result r;
  run(w, &request, &r);
  assert_true(r.value.n > 0 && atoi(r.value.p) > 2000000);
  assert_true(lt_str_eqc(r.calls->error, "the tool failed with a message that was too long to keep"));
  lt_run_result_release(&r);
}

/* --- Left behind -------------------------------------------------------------------------------------------------- */
IN_WORLD(test_calls_still_open_at_the_end_are_waited_for, 2) {
  expect_all(w, "// no Promise awaited\ntSlow({ms: 20}); 'early'", "string early t.slow{\"ms\":20}={\"ms\":20}");
  expect_all(w, "Promise; tSlow({ms: 20}); 'early'", "string early t.slow{\"ms\":20}={\"ms\":20}");
  expect_all(w, "Promise; tSlow({ms: 10}).then((x) => log(x.ms)); 'early'",
             "string early l(10) t.slow{\"ms\":10}={\"ms\":10}");
}

/* A program that fails must not hang with what it left behind: its own deadline is 30 s, a tool's two minutes. */
static uint64_t run_timed(world *w, lt_run_request *request, lt_run_result *r) {
  lt_loop_sleep(w->loop, 0);
  uint64_t began = lt_loop_now_ms(w->loop);
  run(w, request, r);
  return lt_loop_now_ms(w->loop) - began;
}

static void expect_cut_short(world *w, const char *code, uint64_t timeout_ms, lt_status status, const char *calls) {
  lt_run_request request = {.code = lt_str_of(code), .timeout_ms = timeout_ms};
  lt_run_result r;
  lt_buf text;
  lt_buf_init(&text, LT_MIB);
  assert_true(run_timed(w, &request, &r) < 15000);
  tell(&r, TELL_CALLS, &text);
  assert_string_equal(text.n > 0 ? text.p : "", calls);
  assert_int_equal(r.status, status);
  assert_int_equal(w->tools.open, 0);
  lt_buf_release(&text);
  lt_run_result_release(&r);
}

IN_WORLD(test_a_failed_program_does_not_wait_for_what_it_left_open, 2) {
  expect_cut_short(w, "Promise; tHang({}); throw new Error('x')", 0, LT_E_PROGRAM, " t.hang{}?");
  expect_cut_short(w, "Promise; tHang({}); await sleep(20); throw new Error('x')", 0, LT_E_PROGRAM, " t.hang{}?");
  assert_true(w->tools.cancelled > 0);
  expect_cut_short(w, "Promise; tHang({}); await tFail({})", 0, LT_E_PROGRAM, " t.hang{}? t.fail{}!it went wrong");
  expect_cut_short(w, "Promise; tEcho({}).then(() => { throw new Error('x') }); tHang({}); await new Promise(() => {})",
                   300, LT_E_TIMEOUT, " t.echo{}={} t.hang{}?");
  expect_cut_short(w, "Promise; setTimeout(() => {}, 60000); throw new Error('x')", 0, LT_E_PROGRAM, "");
}

IN_WORLD(test_a_failed_program_starts_nothing_more, 2) {
  lt_run_request request = {
      .code = LT_STR("Promise; for (let i = 0; i < 3000; i++) tHang({}); await tEcho; throw new Error('x')")};
  lt_run_result r;
  assert_true(run_timed(w, &request, &r) < 15000);
  assert_int_equal(r.status, LT_E_PROGRAM);
  assert_true(w->tools.hangs <= LT_RUN_OPEN_CALLS_MAX);
  unsigned count = 0;
  for (const lt_run_call *c = r.calls; c != NULL; c = c->next, count++) {
    assert_false(c->finished);
  }
  assert_int_equal(count, 3000);
  lt_run_result_release(&r);
}

/* The worker may notice the deadline before the loop does: nobody else would then tell the calls. */
IN_WORLD(test_a_deadline_while_computing_ends_the_open_calls, 2) {
  expect_cut_short(w, "Promise; tHang({}); for (;;);", 100, LT_E_TIMEOUT, " t.hang{}?");
  expect_cut_short(w, "Promise; tHang({}); tHang({}); const t = Date.now(); while (Date.now() - t < 98); for (;;);",
                   100, LT_E_TIMEOUT, " t.hang{}? t.hang{}?");
}

IN_WORLD(test_a_deadline_while_waiting_ends_the_open_calls, 2) {
  expect_cut_short(w, "tHang({})", 60, LT_E_TIMEOUT, " t.hang{}?");
  expect_cut_short(w, "try { tHang({}) } catch { } finally { for (;;); }", 60, LT_E_TIMEOUT, " t.hang{}?");
  expect_cut_short(w, "Promise.all([tHang({}), tEcho({})])", 60, LT_E_TIMEOUT, " t.hang{}? t.echo{}={}");
}

/* --- The list of tools -------------------------------------------------------------------------------------------- */
IN_WORLD(test_a_running_program_keeps_its_list_of_tools, 2) {
  static const lt_tool_spec others[] = {{.name = TEXT("echo")}, {.name = TEXT("newcomer")}};
  expect(w, "typeof tNewcomer + ' ' + discoverTools('newcomer').length", "string undefined 0");
  lt_run_request request = {.code = LT_STR("tGate();\n"
                                           "[discoverTools().length, toolSchema('t.hang').error === undefined,\n"
                                           " tEcho({n: 1}).n, typeof tNewcomer, (() => { try { tCount() } catch (e) {\n"
                                           " return e.message } })()]")};
  running r;
  start_run_until_hang(&r, w, &request);
  assert_int_equal(lt_door_set_tools(w->door, &w->tools.base, others, 2, NULL), LT_OK);
  expect(w, "tNewcomer() + ' ' + discoverTools().length", "string null 2");
  lt_wait_wake(&w->tools.gate, LT_OK);
  assert_int_equal(lt_wait_on(&r.done, 20000), LT_OK);
  /* What it calls must be there when it is called. */
  assert_string_equal(
      r.result.value.p,
      "[11,true,1,\"undefined\",\"Tool \\\"t.count\\\" not found. Available tools: t.echo, t.newcomer\"]");
  lt_run_result_release(&r.result);
  expect(w, "typeof tHang + discoverTools().length", "string undefined2");
}

/* --- Timers ------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_timers_go_off_in_order, 2) {
  expect_all(
      w, "setTimeout(() => log('c'), 30); setTimeout(() => log('a'), 1); setTimeout((x) => log(x), 15, 'b'); log('0')",
      "undefined l(0) l(a) l(b) l(c)");
  expect_all(w, "for (let i = 0; i < 5; i++) setTimeout(log, 5, i)", "json 5 l(0) l(1) l(2) l(3) l(4)");
  expect_all(w, "setTimeout(() => { log(1); setTimeout(() => log(2), 1) }, 1)", "json 1 l(1) l(2)");
  expect(w, "const t = Date.now(); sleep(30); Date.now() - t >= 29", "json true");
  expect(
      w,
      "const t = Date.now(); await Promise.all([sleep(30), sleep(20)]); const d = Date.now() - t; d >= 29 && d < 5000",
      "json true");
  expect(w, "[sleep(0), await sleep(1)]", "json [null,null]");
  expect(w, "await Promise.race([sleep(1), new Promise(() => {})])", "undefined");
  expect(w, "sleep(-5); sleep(NaN); sleep(); sleep('1')", "undefined");
}

IN_WORLD(test_a_timer_that_is_cleared_is_gone, 2) {
  expect_all(w, "clearTimeout(setTimeout(() => log('no'), 60000)); 'quick'", "string quick");
  expect_all(
      w,
      "const h = setTimeout(() => log('no'), 1); const t = Date.now(); while (Date.now() - t < 20); clearTimeout(h); 1",
      "json 1");
  expect_all(
      w, "const h = setTimeout(() => log('yes'), 1); sleep(20); clearTimeout(h); clearTimeout(h); clearTimeout(); 1",
      "json 1");
  expect_all(w,
             "const h = setTimeout(() => { log('once'); clearTimeout(h) }, 1); clearTimeout(h + 1); clearTimeout('x')",
             "undefined l(once)");
  /* Racing against a timer that is then cleared, as people do it. */
  expect(
      w,
      "const limit = (p, ms) => { let h; return Promise.race([p, new Promise((_, no) => { h = setTimeout(no, ms) })])\n"
      "  .finally(() => clearTimeout(h)) };\n"
      "await limit(tEcho({ok: 1}), 60000)",
      "json {\"ok\":1}");
}

IN_WORLD(test_timers_by_the_thousand, 2) {
  expect(
      w,
      "let n = 0; for (let i = 0; i < 3000; i++) setTimeout(() => { n++ }, i % 7); sleep(20); await Promise.resolve(); "
      "setTimeout(() => output(n), 30)",
      "json 3001");
  expect(w, "for (let i = 0; i < 3000; i++) clearTimeout(setTimeout(() => { throw 1 }, i % 3)); 'none'", "string none");
  expect(w, "for (let i = 0; i < 2000; i++) sleep(0); 'many'", "string many");
  lt_run_request request = {.code = LT_STR("for (let i = 0;; i++) setTimeout(() => {}, 60000)"), .timeout_ms = 20000};
  expect_run(w, &request, TELL_END,
             "E_PROGRAM 1:22 too many timers at once [for (let i = 0;; i++) setTimeout(() => {}, 60000)]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_calls_give_values),
      cmocka_unit_test(test_promised_calls_run_at_once),
      cmocka_unit_test(test_typescript_calls_give_results),
      cmocka_unit_test(test_parallel),
      cmocka_unit_test(test_a_failing_call_throws_where_it_was_made),
      cmocka_unit_test(test_a_failing_call_that_nobody_awaits_fails_the_program),
      cmocka_unit_test(test_what_is_not_an_answer_is_a_failed_call),
      cmocka_unit_test(test_more_calls_than_may_be_open_queue),
      cmocka_unit_test(test_a_program_has_so_many_calls),
      cmocka_unit_test(test_sleeping_does_not_take_the_calls_places),
      cmocka_unit_test(test_large_answers_arrive_and_are_not_kept_for_the_report),
      cmocka_unit_test(test_large_inputs_arrive_and_are_not_kept_for_the_report),
      cmocka_unit_test(test_a_program_cannot_fill_our_memory_with_calls),
      cmocka_unit_test(test_long_failures_are_told_but_not_kept),
      cmocka_unit_test(test_calls_still_open_at_the_end_are_waited_for),
      cmocka_unit_test(test_a_failed_program_does_not_wait_for_what_it_left_open),
      cmocka_unit_test(test_a_failed_program_starts_nothing_more),
      cmocka_unit_test(test_a_deadline_while_computing_ends_the_open_calls),
      cmocka_unit_test(test_a_deadline_while_waiting_ends_the_open_calls),
      cmocka_unit_test(test_a_running_program_keeps_its_list_of_tools),
      cmocka_unit_test(test_timers_go_off_in_order),
      cmocka_unit_test(test_a_timer_that_is_cleared_is_gone),
      cmocka_unit_test(test_timers_by_the_thousand),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
