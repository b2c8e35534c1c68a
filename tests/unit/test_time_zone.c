/* Time zones: names, and offsets before, between and after the packed changes. The expected offsets are the tz
 * database's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time_zone.h"

static int32_t offset(const char *zone, int64_t seconds) {
  lt_time_zone found;
  assert_true(lt_time_zone_find(lt_str_of(zone), &found));
  return lt_time_zone_offset_s(found.rule, seconds);
}

static void test_names(void **state) {
  (void)state;
  lt_time_zone zone;
  static const char *const there[] = {"UTC",        "Etc/UTC",       "Europe/Berlin", "europe/BERLIN",
                                      "US/Pacific", "Asia/Calcutta", "Asia/Kolkata"};
  for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
    assert_true(lt_time_zone_find(lt_str_of(there[i]), &zone));
    assert_true(zone.rule.n > 0);
  }
  assert_true(lt_time_zone_find(LT_STR("europe/BERLIN"), &zone));
  assert_true(lt_str_eqc(zone.name, "Europe/Berlin"));
  static const char *const none[] = {"",
                                     "Berlin",
                                     "Europe",
                                     "Europe/Berlin ",
                                     "Europe/Berlin 5",
                                     "+01:00",
                                     "\n",
                                     "Europe/Berlin/Europe/Berlin/Europe/Berlin/Europe/Berlin/Europe/Berlin"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    assert_false(lt_time_zone_find(lt_str_of(none[i]), &zone));
  }
}

static void test_offsets(void **state) {
  (void)state;
  assert_int_equal(offset("UTC", 0), 0);
  assert_int_equal(lt_time_zone_offset_s(LT_STR_NULL, 1720105509), 0);
  assert_int_equal(offset("Europe/Berlin", 1704067200), 3600); /* 2024-01-01 */
  assert_int_equal(offset("Europe/Berlin", 1711846799), 3600); /* the last second before summer 2024 */
  assert_int_equal(offset("Europe/Berlin", 1711846800), 7200); /* its first */
  assert_int_equal(offset("Europe/Berlin", -613828800), 3600); /* 1950-07-20: no summer time */
  assert_int_equal(offset("America/New_York", -613828800), -14400);
  assert_int_equal(offset("America/New_York", 1720105509), -14400);
  assert_int_equal(offset("Asia/Kolkata", 1720105509), 19800);
  assert_int_equal(offset("Europe/Helsinki", 0), 7200);
  assert_int_equal(offset("Europe/Zurich", 1704067200), 3600);
  assert_int_equal(offset("Africa/Abidjan", 1704067200), 0);
  assert_int_equal(offset("Asia/Kathmandu", 1720105509), 20700);
  assert_int_equal(offset("America/St_Johns", 1704067200), -12600);
  assert_int_equal(offset("Europe/Berlin", INT64_C(-4000000000)), 3208); /* local mean time */
}

static void test_years_after_the_packed_ones(void **state) {
  (void)state;
  assert_int_equal(offset("Europe/Berlin", INT64_C(2540246400)), 7200); /* 2050-07-01 */
  assert_int_equal(offset("Europe/Berlin", INT64_C(2556144000)), 3600); /* 2051-01-01 */
  assert_int_equal(offset("Australia/Sydney", INT64_C(2556144000)), 39600);
  assert_int_equal(offset("Asia/Tokyo", INT64_C(8640000000000)), 32400); /* the last day of Date */
  assert_int_equal(offset("Asia/Tokyo", INT64_C(-8640000000000)), 33539);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_offsets),
      cmocka_unit_test(test_years_after_the_packed_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
