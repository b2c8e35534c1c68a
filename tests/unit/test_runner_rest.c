/* Programs that wait for more than a second leave their boxes, and continue with everything they had. */
#include "run_fix.h"

/* Until no program is in a box: all that wait are at rest. */
static void wait_for_rest(world *w) {
  lt_runner *runner = lt_quickjs_runner(w->quickjs);
  for (unsigned tries = 0; tries < 3000; tries++) {
    lt_runner_boxes boxes = {.used = 0};
    runner->count_boxes(runner, &boxes);
    if (boxes.used == 0) {
      return;
    }
    lt_loop_sleep(w->loop, 10);
  }
  fail_msg("a program that waits is still in its box");
}

static void expect_end(running *r, const char *end) {
  LT_AUTO_BUF(text, LT_MIB);
  assert_int_equal(lt_wait_on(&r->done, 60000), LT_OK);
  tell(&r->result, TELL_END | TELL_SAID, &text);
  assert_string_equal(text.p, end);
  lt_run_result_release(&r->result);
}

static const char keeps[] =
    "const list = [1, 2, 3].map(n => n * 2), typed = new Float32Array(1000).fill(1.5), seen = new Map([['a', {n: "
    "1}]]);\n"
    "const later = new Promise(done => setTimeout(() => done('later'), 1)), open = tSlow({ms: 3000, v: 5});\n"
    "class Counter { #n = 40; more() { return ++this.#n; } }\n"
    "const counter = new Counter(); counter.more(); output('before');\n"
    "await tGate({}); output('after');\n"
    "[list, typed.reduce((s, n) => s + n), seen.get('a').n, await later, (await open).v, counter.more()]";

IN_WORLD(test_a_program_at_rest_keeps_everything, 2) {
  const lt_run_request request = {.code = lt_str_of(keeps), .timeout_ms = 60000};
  running r;
  start_run_until_hang(&r, w, &request);
  wait_for_rest(w);
  lt_wait_wake(&w->tools.gate, LT_OK);
  expect_end(&r, "json [[2,4,6],1500,1,\"later\",5,42] o(before) o(after)");
}

IN_WORLD(test_it_rests_more_than_once, 1) {
  const lt_run_request request = {.code = LT_STR("let n = 0; for (; n < 2; n++) tSlow({ms: 1500}); n"),
                                  .timeout_ms = 60000};
  running r;
  start_run(&r, w, &request);
  for (unsigned round = 0; round < 2; round++) {
    lt_loop_sleep(w->loop, 300);
    wait_for_rest(w);
  }
  expect_end(&r, "json 2");
}

/* Its frames never run again: no catch or finally sees the end. */
IN_WORLD(test_a_program_at_rest_is_cancelled, 2) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  const lt_run_request request = {
      .code = LT_STR("output('before'); try { tHang({}) } catch { output('caught') } finally { output('finally') }"),
      .cancel = &cancel,
      .timeout_ms = 60000};
  running r;
  start_run_until_hang(&r, w, &request);
  wait_for_rest(w);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  expect_end(&r, "E_CANCELLED Execution was cancelled o(before)");
}

IN_WORLD(test_a_program_at_rest_has_a_deadline, 2) {
  const lt_run_request request = {.code = LT_STR("tHang({})"), .timeout_ms = 2000};
  running r;
  start_run_until_hang(&r, w, &request);
  wait_for_rest(w);
  assert_int_equal(lt_wait_on(&r.done, 60000), LT_OK);
  assert_int_equal(r.result.status, LT_E_TIMEOUT);
  lt_run_result_release(&r.result);
}

/* Where many begin at once, those that wait leave their boxes to the others at once. */
static void expect_few_boxes(world *w) {
  lt_runner *runner = lt_quickjs_runner(w->quickjs);
  lt_runner_boxes boxes = {.used = 0};
  runner->count_boxes(runner, &boxes);
  assert_true(boxes.used + boxes.pooled <= 2 * (LT_BOX_CROWD + LT_BOX_CROWD_FREE));
}

/* Many at rest at once, answered at once. */
enum { MANY = UNDER_TSAN ? 40 : 300 };

IN_WORLD(test_many_programs_rest, 2) {
  static running all[MANY];
  static lt_run_request requests[MANY];
  static char codes[MANY][120];
  for (unsigned i = 0; i < MANY; i++) {
    snprintf(codes[i], sizeof codes[i],
             "const mine = Array(50).fill(%u); tSlow({ms: 4000}); mine.reduce((s, n) => s + n)", i);
    requests[i] = (lt_run_request){.code = lt_str_of(codes[i]), .timeout_ms = 60000};
    start_run(&all[i], w, &requests[i]);
  }
  lt_loop_sleep(w->loop, 500);
  wait_for_rest(w);
  expect_few_boxes(w);
  for (unsigned i = 0; i < MANY; i++) {
    char end[40];
    snprintf(end, sizeof end, "json %u", i * 50);
    expect_end(&all[i], end);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_program_at_rest_keeps_everything),
      cmocka_unit_test(test_it_rests_more_than_once),
      cmocka_unit_test(test_a_program_at_rest_is_cancelled),
      cmocka_unit_test(test_a_program_at_rest_has_a_deadline),
      cmocka_unit_test(test_many_programs_rest),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
