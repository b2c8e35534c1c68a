/* Several fibers at once, and the one that waits for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/fan_out.h"

#define TASKS 3

typedef struct fan_out_case {
  lt_loop *loop;
  lt_fan_out fan_out;
  lt_cancel cancel;
  lt_wait held; /* tasks wait here until it is woken */
  unsigned ended;
  lt_status statuses[4];
  void (*body)(struct fan_out_case *c);
} fan_out_case;

static void on_case_fiber(void *arg) {
  fan_out_case *c = arg;
  c->body(c);
}

static void run_case(fan_out_case *c, void (*body)(fan_out_case *c)) {
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_loop_new(&c->loop, &err), LT_OK);
  lt_fan_out_init(&c->fan_out, c->loop);
  lt_cancel_init(&c->cancel);
  lt_wait_init(&c->held, c->loop);
  c->body = body;
  assert_int_equal(lt_loop_spawn(c->loop, on_case_fiber, c, &err), LT_OK);
  lt_loop_run(c->loop);
  lt_loop_free(c->loop);
}

static void end_at_once(void *arg) {
  fan_out_case *c = arg;
  c->ended++;
}

static void end_when_woken(void *arg) {
  fan_out_case *c = arg;
  lt_wait_on(&c->held, UINT64_MAX);
  c->ended++;
}

static void wait_for_several(fan_out_case *c) {
  c->statuses[0] = lt_fan_out_wait(&c->fan_out, NULL, UINT64_MAX); /* nothing runs */
  for (int i = 0; i < TASKS; i++) {
    lt_fan_out_add(&c->fan_out, end_at_once, c);
  }
  c->statuses[1] = lt_fan_out_wait(&c->fan_out, &c->cancel, UINT64_MAX);
}

static void all_are_waited_for(void **state) {
  (void)state;
  fan_out_case c = {.statuses = {LT_E_INTERNAL, LT_E_INTERNAL}};
  run_case(&c, wait_for_several);
  assert_int_equal(c.statuses[0], LT_OK);
  assert_int_equal(c.statuses[1], LT_OK);
  assert_int_equal(c.ended, TASKS);
}

static void leave_early(fan_out_case *c) {
  lt_fan_out_add(&c->fan_out, end_when_woken, c);
  c->statuses[0] = lt_fan_out_wait(&c->fan_out, &c->cancel, 1);
  lt_cancel_fire(&c->cancel, LT_E_CANCELLED);
  c->statuses[1] = lt_fan_out_wait(&c->fan_out, &c->cancel, UINT64_MAX);
  lt_fan_out_add(&c->fan_out, end_at_once, c); /* more may be added while some run */
  lt_wait_wake(&c->held, LT_OK);
  c->statuses[2] = lt_fan_out_wait(&c->fan_out, NULL, UINT64_MAX);
  c->statuses[3] = lt_fan_out_wait(&c->fan_out, &c->cancel, UINT64_MAX); /* nothing runs: the cancel does not count */
}

static void time_and_cancel_end_the_waiting(void **state) {
  (void)state;
  fan_out_case c = {.ended = 0};
  run_case(&c, leave_early);
  assert_int_equal(c.statuses[0], LT_E_TIMEOUT);
  assert_int_equal(c.statuses[1], LT_E_CANCELLED);
  assert_int_equal(c.statuses[2], LT_OK);
  assert_int_equal(c.statuses[3], LT_OK);
  assert_int_equal(c.ended, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_are_waited_for),
      cmocka_unit_test(time_and_cancel_end_the_waiting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
