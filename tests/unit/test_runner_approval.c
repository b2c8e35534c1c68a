/* The clock while somebody is asked: it stands still only when there is nothing else that the program waits for. */
#include "run_fix.h"

/* --- Somebody who takes their time -------------------------------------------------------------------------------- */
/* A provider "p": ask waits {ask} ms for approval and works {work} ms; flip is asked {times} times for a millisecond.
 */
typedef struct asker {
  lt_provider base;
  lt_loop *loop;
  unsigned asking;
  unsigned most_asking;
  unsigned asked;
  bool forgets; /* to say that it is asked no more */
} asker;

static void say_asking(asker *a, const lt_invoke_options *options, bool waiting) {
  a->asking += waiting ? 1 : -1u;
  a->asked += waiting;
  a->most_asking = a->asking > a->most_asking ? a->asking : a->most_asking;
  if (options->on_approval != NULL && (waiting || !a->forgets)) {
    options->on_approval(options->arg, waiting);
  }
}

static lt_status wait_ms(asker *a, uint64_t ms, const lt_invoke_options *options, lt_err *err) LT_YIELDS {
  fake f = {.loop = a->loop};
  return fake_wait(&f, ms, options, err);
}

static lt_status ask_ms(asker *a, uint64_t ms, const lt_invoke_options *options, lt_err *err) LT_YIELDS {
  say_asking(a, options, true);
  lt_status status = wait_ms(a, ms, options, err);
  say_asking(a, options, false);
  return status;
}

static lt_status ask_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                            lt_err *err) {
  asker *a = (asker *)(void *)base;
  if (lt_str_eqc(name, "denied")) {
    LT_TRY(ask_ms(a, 20, options, err));
    return lt_fail(err, LT_E_DENIED, "Tool \"p.denied\" is not allowed: not today");
  }
  for (int64_t i = number_in(input, "times", 0); i > 0; i--) {
    LT_TRY(ask_ms(a, 1, options, err));
  }
  if (number_in(input, "twice", 0) != 0) { /* as a plugin is whose program asks twice at once */
    say_asking(a, options, true);
    LT_TRY(ask_ms(a, 10, options, err));
    LT_TRY(wait_ms(a, 400, options, err));
    say_asking(a, options, false);
  }
  int64_t ask = number_in(input, "ask", 0);
  if (ask != 0) {
    LT_TRY(ask_ms(a, (uint64_t)ask, options, err));
  }
  LT_TRY(wait_ms(a, (uint64_t)number_in(input, "work", 0), options, err));
  lt_buf_add(out, input);
  return LT_OK;
}

static const lt_tool_spec ask_specs[] = {{.name = TEXT("ask")}, {.name = TEXT("denied")}};

static asker *add_asker(world *w) {
  static asker a;
  a = (asker){.base = {.name = LT_STR("p"), .invoke = ask_invoke}, .loop = w->loop};
  assert_int_equal(lt_door_set_tools(w->door, &a.base, ask_specs, 2, NULL), LT_OK);
  return &a;
}

#define SCALE      (UNDER_TSAN ? 2u : 1u)
#define TIMEOUT_MS (150u * SCALE) /* less than the 400 ms that somebody takes to decide */

static void expect_in_time(world *w, const char *code, unsigned what, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .timeout_ms = TIMEOUT_MS};
  expect_run(w, &request, what, expected);
}

/* It must end because its time is up, and not much later; of that, `asked_ms` do not count. */
static void expect_timeout(world *w, const char *code, double asked_ms) {
  lt_run_request request = {.code = lt_str_of(code), .timeout_ms = TIMEOUT_MS};
  lt_run_result r;
  run(w, &request, &r);
  double counted = r.duration_ms - asked_ms;
  if (r.status != LT_E_TIMEOUT || counted < TIMEOUT_MS - 1 || counted > TIMEOUT_MS + 3000) {
    fail_msg("%s: %s after %.0f ms", code, lt_status_name(r.status), r.duration_ms);
  }
  lt_run_result_release(&r);
}

/* --- It stands ---------------------------------------------------------------------------------------------------- */
IN_WORLD(test_the_clock_stands_while_somebody_decides, 2) {
  add_asker(w);
  expect_in_time(w, "pAsk({ask: 400}); 'fine'", TELL_END, "string fine");
  expect_in_time(w, "Promise; await pAsk({ask: 400}); 'fine'", TELL_END, "string fine");
  expect_in_time(w, "Promise; pAsk({ask: 400}); 'left open'", TELL_END, "string left open");
  expect_in_time(w, "for (let i = 0; i < 4; i++) pAsk({ask: 200}); 'each'", TELL_END, "string each");
  expect_in_time(w, "pAsk({times: 300}); 'flips'", TELL_END, "string flips");
  expect_in_time(w, "pAsk({twice: 1}); 'both'", TELL_END, "string both");
  lt_run_request request = {.code = LT_STR("await ask({ask: 400}); console.log('said')"),
                            .lang = LT_LANG_TYPESCRIPT,
                            .timeout_ms = TIMEOUT_MS};
  expect_run(w, &request, TELL_END | TELL_SAID, "undefined o(said\n)");
}

IN_WORLD(test_the_wait_is_in_the_duration, 2) {
  add_asker(w);
  lt_run_request request = {.code = LT_STR("const t = Date.now(); pAsk({ask: 300}); Date.now() - t >= 299"),
                            .timeout_ms = TIMEOUT_MS};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_OK);
  assert_string_equal(r.value.p, "true");
  assert_true(r.duration_ms >= 299);
  lt_run_result_release(&r);
}

IN_WORLD(test_several_are_asked_at_once, 2) {
  asker *a = add_asker(w);
  expect_in_time(w, "parallel([1, 2, 3].map((n) => ({tool: 'p.ask', input: {ask: 200 * n}}))).length", TELL_END,
                 "json 3");
  assert_int_equal(a->most_asking, 3);
  expect_in_time(w, "(await Promise.all([pAsk({ask: 400}), pAsk({ask: 1}), pAsk({ask: 300})])).length", TELL_END,
                 "json 3");
}

/* The places of calls in flight are taken by those that ask: who queues behind them waits for approval, too. */
IN_WORLD(test_calls_that_queue_behind_approvals_wait_with_them, 2) {
  asker *a = add_asker(w);
  lt_run_request request = {
      .code = LT_STR("parallel(Array.from({length: 1200}, () => ({tool: 'p.ask', input: {ask: input}}))).length"),
      .input = UNDER_TSAN ? LT_STR("22000") : LT_STR("2500"),
      .timeout_ms = UNDER_TSAN ? 20000 : 2000};
  expect_run(w, &request, TELL_END, "json 1200");
  assert_int_equal(a->most_asking, LT_RUN_OPEN_CALLS_MAX);
  assert_int_equal(a->asked, 1200);
}

/* It waits for the call alone; a timer that goes off meanwhile has its turn afterwards. */
IN_WORLD(test_a_timer_that_nobody_waits_for_does_not_count, 2) {
  add_asker(w);
  expect_in_time(w, "setTimeout(() => log('tick'), 20); pAsk({ask: 400}); log('asked')", TELL_END | TELL_SAID,
                 "undefined l(asked) l(tick)");
  expect_in_time(w, "const h = setTimeout(() => {}, 60000); pAsk({ask: 400}); clearTimeout(h); 'fine'", TELL_END,
                 "string fine");
}

IN_WORLD(test_a_timer_counts_while_it_ticks, 2) {
  add_asker(w);
  expect_in_time(w, "Promise; setTimeout(() => log('tick'), 20); await pAsk({ask: 400}); 'fine'", TELL_END | TELL_SAID,
                 "string fine l(tick)");
  expect_in_time(w,
                 "const h = setTimeout(() => {}, 60000); Promise; setTimeout(() => clearTimeout(h), 20); "
                 "await pAsk({ask: 400}); 'cleared'",
                 TELL_END, "string cleared");
}

/* --- It runs ------------------------------------------------------------------------------------------------------ */
IN_WORLD(test_the_clock_runs_while_another_call_works, 2) {
  add_asker(w);
  expect_timeout(w, "parallel([{tool: 'p.ask', input: {ask: 60000}}, {tool: 't.hang'}])", 0);
  expect_timeout(w, "await Promise.all([pAsk({ask: 60000}), tHang()])", 0);
  /* Until that is done: then it stands. */
  expect_in_time(w, "parallel([{tool: 'p.ask', input: {ask: 400}}, {tool: 't.slow', input: {ms: 20}}]).length",
                 TELL_END, "json 2");
  expect_in_time(w, "(await Promise.all([pAsk({ask: 400}), tSlow({ms: 20})])).length", TELL_END, "json 2");
}

IN_WORLD(test_the_clock_runs_while_the_program_computes, 2) {
  add_asker(w);
  expect_timeout(w, "Promise; pAsk({ask: 60000}); for (;;);", 0);
  expect_timeout(w, "Promise; pAsk({ask: 60000}); for (;;) await 1", 0);
  expect_timeout(w, "Promise; pAsk({ask: 60000}); for (;;) await tEcho({})", 0);
  /* Asked and decided while it computes: that has cost it nothing. */
  lt_run_request request = {.code = LT_STR("Promise; for (;;) { const p = pAsk({ask: 190}), t = Date.now(); "
                                           "while (Date.now() - t < 200); await p }"),
                            .timeout_ms = 500};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_TIMEOUT);
  assert_true(r.duration_ms < 1000);
  lt_run_result_release(&r);
}

/* A program that looks whether it is time would otherwise live as long as nobody decides. */
IN_WORLD(test_the_clock_runs_while_a_timer_is_waited_for, 2) {
  add_asker(w);
  expect_timeout(w, "Promise; pAsk({ask: 60000}); for (;;) await sleep(5)", 0);
  expect_timeout(w, "await Promise.race([pAsk({ask: 60000}), sleep(60000)])", 0);
  expect_timeout(w, "Promise; setTimeout(() => {}, 60000); await pAsk({ask: 60000})", 0);
}

IN_WORLD(test_the_work_after_an_approval_counts, 2) {
  add_asker(w);
  expect_timeout(w, "pAsk({ask: 300, work: 60000})", 300);
  expect_timeout(w, "pAsk({ask: 300}); for (;;);", 300);
  expect_timeout(w, "pAsk({ask: 300}); tHang()", 300);
  expect_timeout(w, "for (;;) pAsk({ask: 100, work: 30})", 200);
  expect_timeout(w, "parallel([{tool: 'p.ask', input: {ask: 300, work: 60000}}, {tool: 'p.ask', input: {ask: 100}}])",
                 300);
}

/* Whoever is asked need not say that it is over: the call's end does. */
IN_WORLD(test_a_call_that_has_ended_asks_nobody, 2) {
  add_asker(w)->forgets = true;
  expect_timeout(w, "pAsk({ask: 300}); tHang()", 300);
}

/* --- It ends ------------------------------------------------------------------------------------------------------ */
static void cancel_later(void *arg) {
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

IN_WORLD(test_a_cancel_ends_what_waits_for_approval, 2) {
  static const char *const codes[] = {
      "pAsk({ask: 60000})", "Promise; pAsk({ask: 60000}); await pAsk({ask: 60000})", "Promise; pAsk({ask: 60000}); 1",
      "parallel(Array.from({length: 1100}, () => ({tool: 'p.ask', input: {ask: 60000}})))"};
  asker *a = add_asker(w);
  for (size_t i = 0; i < 16; i++) {
    lt_cancel cancel;
    lt_timer *timer;
    lt_cancel_init(&cancel);
    assert_int_equal(lt_timer_new(w->loop, cancel_later, &cancel, &timer, NULL), LT_OK);
    lt_timer_start(timer, i * i);
    lt_run_request request = {.code = lt_str_of(codes[i % 4]), .cancel = &cancel};
    expect_run(w, &request, TELL_END, "E_CANCELLED Execution was cancelled");
    assert_int_equal(a->asking, 0);
    lt_timer_free(timer);
  }
}

IN_WORLD(test_a_program_that_fails_does_not_wait_for_approval, 2) {
  asker *a = add_asker(w);
  expect_in_time(w, "Promise; pAsk({ask: 60000}); await sleep(20); throw new Error('x')", TELL_END | TELL_CALLS,
                 "E_PROGRAM 1:57 x [Promise; pAsk({ask: 60000}); await sleep(20); throw new Error('x')] "
                 "p.ask{\"ask\":60000}?");
  assert_int_equal(a->asking, 0);
}

/* --- Denied ------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_what_is_denied_is_an_error_that_can_be_caught, 2) {
  add_asker(w);
  expect(w, "try { pDenied() } catch (e) { [e instanceof Error, e.message] }",
         "json [true,\"Tool \\\"p.denied\\\" is not allowed: not today\"]");
  expect(w, "await pDenied().then(() => 'yes', (e) => e.message)",
         "string Tool \"p.denied\" is not allowed: not today");
  expect(w, "parallel([{tool: 'p.denied'}, {tool: 't.echo', input: {a: 1}}])",
         "json [{\"error\":\"Tool \\\"p.denied\\\" is not allowed: not today\"},{\"a\":1}]");
  expect_ts(w, "await denied()",
            "json {\"success\":false,\"error\":\"Tool \\\"p.denied\\\" is not allowed: not today\"}");
  expect(w, "pDenied()", "E_PROGRAM 1:1 Tool \"p.denied\" is not allowed: not today [pDenied()]");
}

/* --- Through the door --------------------------------------------------------------------------------------------- */
/* Somebody who takes 400 ms, and agrees unless told otherwise. */
typedef struct person {
  lt_approver base; /* first */
  lt_loop *loop;
  bool refuses;
} person;

static lt_status decide(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                        lt_decision *ret_decision, lt_err *err) {
  person *p = (person *)(void *)self;
  fake f = {.loop = p->loop};
  (void)what, (void)arena;
  LT_TRY(fake_wait(&f, 400, &(lt_invoke_options){.cancel = cancel}, err));
  *ret_decision = (lt_decision){.is_approved = !p->refuses, .reason = p->refuses ? LT_STR("not today") : LT_STR("")};
  return LT_OK;
}

static lt_status echo_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                             lt_buf *out, lt_err *err) {
  (void)base;
  (void)name;
  (void)options;
  (void)err;
  lt_buf_add(out, input);
  return LT_OK;
}

IN_WORLD(test_the_door_asks_and_the_clock_stands, 2) {
  static const lt_tool_spec specs[] = {{.name = TEXT("write"), .needs_approval = true}};
  lt_provider provider = {.name = LT_STR("q"), .invoke = echo_invoke};
  person somebody = {.base = {.ask = decide}, .loop = w->loop};
  lt_caller caller = {.user = LT_STR("local"), .approver = &somebody.base};
  lt_run_request request = {.caller = &caller, .timeout_ms = TIMEOUT_MS};
  assert_int_equal(lt_door_set_tools(w->door, &provider, specs, 1, NULL), LT_OK);
  request.code = LT_STR("qWrite({a: 1})");
  expect_run(w, &request, TELL_END, "json {\"a\":1}");
  request.code = LT_STR("await Promise.all([qWrite({a: 1}), qWrite({a: 2}), tSlow({ms: 10})])");
  expect_run(w, &request, TELL_END, "json [{\"a\":1},{\"a\":2},{\"ms\":10}]");
  somebody.refuses = true;
  request.code = LT_STR(
      "try { qWrite({a: 1}) } catch (e) { [e.message.split('\"q.write\"').length, "
      "e.message.includes('not today'), e.message.includes('failed')] }");
  expect_run(w, &request, TELL_END, "json [2,true,false]");
  caller.approver = NULL;
  request.code = LT_STR("parallel([{tool: 'q.write'}])[0].error.slice(0, 36)");
  expect_run(w, &request, TELL_END, "string Tool \"q.write\" needs approval, and t");
  lt_door_remove(w->door, &provider);
}

/* --- Many --------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_many_programs_are_asked_at_once, 4) {
  enum { MANY = 60 };
  static running runs[MANY];
  add_asker(w);
  lt_run_request asks = {.code = LT_STR("let n = 0; for (let i = 0; i < 5; i++) { pAsk({ask: 1 + i * 60}); n++ } n"),
                         .timeout_ms = UNDER_TSAN ? 20000 : 400};
  lt_run_request races = {
      .code = LT_STR("for (let i = 0; i < 20; i++) await Promise.all([pAsk({ask: i % 3}), tEcho({}), "
                     "pAsk({times: 2}), sleep(0)]); 20"),
      .timeout_ms = 20000};
  for (int i = 0; i < MANY; i++) {
    start_run(&runs[i], w, i % 2 == 0 ? &asks : &races);
  }
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(lt_wait_on(&runs[i].done, 60000), LT_OK);
    if (runs[i].result.status != LT_OK) {
      fail_msg("%d: %s", i, runs[i].result.error.p);
    }
    assert_string_equal(runs[i].result.value.p, i % 2 == 0 ? "5" : "20");
    lt_run_result_release(&runs[i].result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_clock_stands_while_somebody_decides),
      cmocka_unit_test(test_the_wait_is_in_the_duration),
      cmocka_unit_test(test_several_are_asked_at_once),
      cmocka_unit_test(test_calls_that_queue_behind_approvals_wait_with_them),
      cmocka_unit_test(test_a_timer_that_nobody_waits_for_does_not_count),
      cmocka_unit_test(test_a_timer_counts_while_it_ticks),
      cmocka_unit_test(test_the_clock_runs_while_another_call_works),
      cmocka_unit_test(test_the_clock_runs_while_the_program_computes),
      cmocka_unit_test(test_the_clock_runs_while_a_timer_is_waited_for),
      cmocka_unit_test(test_the_work_after_an_approval_counts),
      cmocka_unit_test(test_a_call_that_has_ended_asks_nobody),
      cmocka_unit_test(test_a_cancel_ends_what_waits_for_approval),
      cmocka_unit_test(test_a_program_that_fails_does_not_wait_for_approval),
      cmocka_unit_test(test_what_is_denied_is_an_error_that_can_be_caught),
      cmocka_unit_test(test_the_door_asks_and_the_clock_stands),
      cmocka_unit_test(test_many_programs_are_asked_at_once),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
