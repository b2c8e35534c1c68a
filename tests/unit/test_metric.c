/* Metrics: their text, labels of strangers, the ceiling of series, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/metric.h"

static const lt_metric_kind calls = {"calls_total", "Calls.", LT_METRIC_COUNTER, {"tool", "outcome"}, 3};
static const lt_metric_kind seconds = {"call_seconds", "Time.", LT_METRIC_HISTOGRAM, {"tool"}, 3};
static const lt_metric_kind lag = {"lag_seconds", "Lag.", LT_METRIC_HISTOGRAM, {NULL}, 1};

static void expect_line(const lt_metric *metric, const char *line) {
  LT_AUTO_BUF(text, 100000);
  lt_metric_put(metric, &text);
  assert_int_equal(text.status, LT_OK);
  if (lt_str_find(lt_buf_view(&text), lt_str_of(line), 0) == SIZE_MAX) {
    fail_msg("no line %s in\n%s", line, text.p);
  }
}

static void test_counter(void **state) {
  (void)state;
  lt_metric metric;
  assert_int_equal(lt_metric_init(&metric, &calls, NULL), LT_OK);
  expect_line(&metric, "# HELP calls_total Calls.\n# TYPE calls_total counter\n");
  lt_metric_add(&metric, LT_STR("a"), LT_STR("ok"), 1);
  lt_metric_add(&metric, LT_STR("a"), LT_STR("ok"), 2);
  lt_metric_add(&metric, LT_STR("a"), LT_STR("error"), 1);
  lt_metric_add(&metric, LT_STR("ao"), LT_STR("k"), 7); /* the same letters, cut elsewhere */
  expect_line(&metric, "\ncalls_total{tool=\"a\",outcome=\"ok\"} 3\n");
  expect_line(&metric, "\ncalls_total{tool=\"a\",outcome=\"error\"} 1\n");
  expect_line(&metric, "\ncalls_total{tool=\"ao\",outcome=\"k\"} 7\n");
  lt_metric_release(&metric);
}

static void test_histogram(void **state) {
  (void)state;
  lt_metric metric;
  assert_int_equal(lt_metric_init(&metric, &seconds, NULL), LT_OK);
  lt_metric_observe(&metric, LT_STR("a"), LT_STR("ignored"), 1000); /* a bound belongs to its bucket */
  lt_metric_observe(&metric, LT_STR("a"), LT_STR("too"), 1001);
  lt_metric_observe(&metric, LT_STR("a"), LT_STR_NULL, 301ull * 1000000);
  expect_line(&metric, "\ncall_seconds_bucket{tool=\"a\",le=\"0.001\"} 1\n");
  expect_line(&metric, "\ncall_seconds_bucket{tool=\"a\",le=\"0.0025\"} 2\n");
  expect_line(&metric, "\ncall_seconds_bucket{tool=\"a\",le=\"300\"} 2\n");
  expect_line(&metric, "\ncall_seconds_bucket{tool=\"a\",le=\"+Inf\"} 3\n");
  expect_line(&metric, "\ncall_seconds_sum{tool=\"a\"} 301.002001\ncall_seconds_count{tool=\"a\"} 3\n");
  lt_metric_release(&metric);
  assert_int_equal(lt_metric_init(&metric, &lag, NULL), LT_OK);
  lt_metric_observe(&metric, LT_STR_NULL, LT_STR_NULL, 1);
  expect_line(&metric, "\nlag_seconds_bucket{le=\"0.001\"} 1\n");
  expect_line(&metric, "\nlag_seconds_count 1\n");
  lt_metric_release(&metric);
}

static void test_labels_of_strangers(void **state) {
  (void)state;
  const struct {
    lt_str value;
    const char *written;
  } cases[] = {
      {LT_STR("a\"b"), "a\\\"b"},
      {LT_STR("a\\"), "a\\\\"},
      {LT_STR("a\nb"), "a\\nb"},
      {LT_STR("a\x01\x1b\x7f"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {LT_STR("\xff"), "\xef\xbf\xbd"},
      {LT_STR("\xed\xa0\x80x"), "\xef\xbf\xbdx"},
      {LT_STR("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80"},
      {LT_STR(""), ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lt_metric metric;
    char line[100];
    assert_int_equal(lt_metric_init(&metric, &calls, NULL), LT_OK);
    lt_metric_add(&metric, cases[i].value, LT_STR("ok"), 1);
    snprintf(line, sizeof line, "\ncalls_total{tool=\"%s\",outcome=\"ok\"} 1\n", cases[i].written);
    expect_line(&metric, line);
    lt_metric_release(&metric);
  }
}

/* Names beyond the ceiling are one; each outcome of them is told apart; nothing is lost. */
static void test_ceiling(void **state) {
  (void)state;
  lt_metric metric;
  char name[16];
  assert_int_equal(lt_metric_init(&metric, &calls, NULL), LT_OK);
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "t%d", i);
    lt_metric_add(&metric, lt_str_of(name), i % 2 == 0 ? LT_STR("ok") : LT_STR("error"), 1);
  }
  expect_line(&metric, "\ncalls_total{tool=\"t1\",outcome=\"error\"} 1\n");
  expect_line(&metric, "\ncalls_total{tool=\"other\",outcome=\"ok\"} 498\n");
  expect_line(&metric, "\ncalls_total{tool=\"other\",outcome=\"error\"} 499\n");
  for (int i = 0; i < 1000; i++) { /* not even the second label makes it grow */
    snprintf(name, sizeof name, "o%d", i);
    lt_metric_add(&metric, LT_STR("x"), lt_str_of(name), 1);
  }
  assert_in_range(metric.used, 5, 3 + 32);
  lt_metric_release(&metric);
}

static void test_memory(void **state) {
  (void)state;
  lt_metric metric;
  lt_err err = LT_ERR_INIT;
  lt_mem_fail_at(0);
  assert_int_equal(lt_metric_init(&metric, &calls, &err), LT_E_NOMEM);
  assert_int_equal(lt_metric_init(&metric, &calls, NULL), LT_OK);
  lt_mem_fail_at(0);
  lt_metric_add(&metric, LT_STR("a"), LT_STR("ok"), 1); /* not counted */
  lt_metric_add(&metric, LT_STR("a"), LT_STR("ok"), 2);
  expect_line(&metric, "\ncalls_total{tool=\"a\",outcome=\"ok\"} 2\n");
  lt_metric_release(&metric);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counter), cmocka_unit_test(test_histogram), cmocka_unit_test(test_labels_of_strangers),
      cmocka_unit_test(test_ceiling), cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
