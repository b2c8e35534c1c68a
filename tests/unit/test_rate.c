/* Rate limits by a clock that is set: bursts, pauses, the wait that is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rate.h"

enum { PER_SECOND = 10, BURST = 5 };

static uint64_t now_ms;
static uint64_t wait_ms;

static bool take(lt_rate *rate) {
  return lt_rate_take(rate, now_ms, PER_SECOND, BURST, &wait_ms);
}

static unsigned take_all(lt_rate *rate) {
  unsigned n = 0;
  while (take(rate)) {
    n++;
  }
  return n;
}

static void test_a_burst_then_the_rate(void **state) {
  (void)state;
  lt_rate rate = {0};
  now_ms = 5000;
  assert_int_equal(take_all(&rate), BURST);
  assert_int_equal(wait_ms, 100);
  unsigned taken = 0;
  for (unsigned i = 0; i < 10000; i++) {
    now_ms++;
    taken += take(&rate);
  }
  assert_int_equal(taken, 10 * PER_SECOND);
}

static void test_the_wait_is_exact(void **state) {
  (void)state;
  lt_rate rate = {0};
  now_ms = 0;
  (void)take_all(&rate);
  now_ms += wait_ms - 1;
  assert_false(take(&rate));
  assert_int_equal(wait_ms, 1);
  now_ms += 1;
  assert_true(take(&rate));
}

static void test_a_pause_saves_no_more_than_a_burst(void **state) {
  (void)state;
  lt_rate rate = {0};
  now_ms = 1;
  (void)take_all(&rate);
  assert_false(lt_rate_is_full(&rate, now_ms));
  assert_false(lt_rate_is_full(&rate, now_ms + 499));
  assert_true(lt_rate_is_full(&rate, now_ms + 500));
  now_ms += 100 * 3600 * 1000ULL;
  assert_int_equal(take_all(&rate), BURST);
}

static void test_a_refusal_costs_nothing(void **state) {
  (void)state;
  lt_rate rate = {0};
  now_ms = 0;
  (void)take_all(&rate);
  for (unsigned i = 0; i < 1000; i++) {
    assert_false(take(&rate));
  }
  now_ms += 100;
  assert_true(take(&rate));
}

static void test_the_greatest_and_the_smallest(void **state) {
  (void)state;
  lt_rate rate = {0};
  assert_true(lt_rate_take(&rate, 0, 1, 1, &wait_ms));
  assert_false(lt_rate_take(&rate, 999, 1, 1, &wait_ms));
  assert_true(lt_rate_take(&rate, 1000, 1, 1, &wait_ms));
  rate = (lt_rate){0};
  for (unsigned i = 0; i < 1000; i++) {
    assert_true(lt_rate_take(&rate, 7, 1000000, 1000, &wait_ms));
  }
  assert_false(lt_rate_take(&rate, 7, 1000000, 1000, &wait_ms));
  assert_true(lt_rate_take(&rate, 8, 1000000, 1000, &wait_ms));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_burst_then_the_rate),
      cmocka_unit_test(test_the_wait_is_exact),
      cmocka_unit_test(test_a_pause_saves_no_more_than_a_burst),
      cmocka_unit_test(test_a_refusal_costs_nothing),
      cmocka_unit_test(test_the_greatest_and_the_smallest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
