/* Budgets: how many calls a run may make in all and in a minute, on a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tool/policy/policy.h"

typedef struct fix {
  lt_policy *policy;
  lt_budget *budget;
  lt_err err;
} fix;

static void fix_init(fix *f, const lt_policy_budget *budgets, size_t count) {
  *f = (fix){0};
  if (lt_policy_new(NULL, 0, budgets, count, &f->policy, &f->err) != LT_OK) {
    fail_msg("%s", f->err.msg);
  }
  f->budget = lt_budget_new(f->policy);
  assert_non_null(f->budget);
}

static void fix_release(fix *f) {
  lt_budget_free(f->budget);
  lt_policy_free(f->policy);
}

static bool take(fix *f, const char *tool, uint64_t now_ms) {
  f->err = LT_ERR_INIT;
  lt_status status = lt_budget_take(f->budget, lt_str_of(tool), now_ms, &f->err);
  assert_true(status == LT_OK || status == LT_E_LIMIT);
  return status == LT_OK;
}

static void check_refused(fix *f, const char *tool, uint64_t now_ms, const char *message) {
  assert_false(take(f, tool, now_ms));
  assert_string_equal(f->err.msg, message);
}

static void test_calls_per_run(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("search.*"), .calls = 3}};
  fix f;
  fix_init(&f, budgets, 1);
  for (int i = 0; i < 3; i++) {
    assert_true(take(&f, i % 2 ? "search.web" : "search.news", 1000));
  }
  assert_true(take(&f, "files.read", 1000));
  check_refused(&f, "search.web", 1000, "the budget for \"search.*\" is used up: 3 calls per run (tools.budgets)");
  assert_false(take(&f, "search.web", 1000000000)); /* time does not bring them back */
  assert_true(take(&f, "files.read", 1000));
  fix_release(&f);
}

static void test_one_call(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("a"), .calls = 1}, {.match = LT_STR("b"), .per_minute = 1}};
  fix f;
  fix_init(&f, budgets, 2);
  assert_true(take(&f, "a", 0) && take(&f, "b", 0));
  check_refused(&f, "a", 0, "the budget for \"a\" is used up: 1 call per run (tools.budgets)");
  check_refused(&f, "b", 59001, "the budget for \"b\" is used up: 1 call per minute: try again in 1 s (tools.budgets)");
  assert_true(take(&f, "b", 60000));
  fix_release(&f);
}

static void test_calls_per_minute(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .per_minute = 3}};
  fix f;
  fix_init(&f, budgets, 1);
  assert_true(take(&f, "t", 5000));
  assert_true(take(&f, "t", 20000));
  assert_true(take(&f, "t", 20001));
  check_refused(&f, "t", 53000,
                "the budget for \"*\" is used up: 3 calls per minute: try again in 12 s (tools.budgets)");
  assert_false(take(&f, "t", 64999));
  assert_true(take(&f, "t", 65000)); /* refused ones have not counted */
  assert_false(take(&f, "t", 79999));
  assert_true(take(&f, "t", 80000));
  assert_true(take(&f, "t", 80001));
  assert_false(take(&f, "t", 80002));
  assert_true(take(&f, "t", 1000000));
  fix_release(&f);
}

/* In no 60 seconds more than allowed, in whatever order calls come; and as many as that. */
static void test_window_slides(void **state) {
  (void)state;
  enum { RATE = 37, CALLS = 2000 };
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .per_minute = RATE}};
  static uint64_t made[CALLS];
  size_t count = 0;
  uint32_t random = 1;
  fix f;
  fix_init(&f, budgets, 1);
  uint64_t now = 0;
  for (int i = 0; i < CALLS; i++) {
    random = random * 1664525 + 1013904223;
    now += random >> 21; /* 0 to 2 s: above the rate for most of the time */
    size_t recent = 0;
    while (recent < count && now - made[count - 1 - recent] < 60000) {
      recent++;
    }
    assert_int_equal(take(&f, "t", now), recent < RATE);
    if (recent < RATE) {
      made[count++] = now;
    }
  }
  assert_true(count > 500 && count < CALLS);
  fix_release(&f);
}

static int take_many(fix *f, int count, uint64_t now_ms) {
  int taken = 0;
  for (int i = 0; i < count; i++) {
    taken += take(f, "t", now_ms);
  }
  return taken;
}

/* More calls at once than before, when the first ones have been forgotten. */
static void test_window_grows(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .per_minute = 40}};
  fix f;
  fix_init(&f, budgets, 1);
  assert_int_equal(take_many(&f, 10, 0), 10);
  assert_int_equal(take_many(&f, 6, 30000), 6);
  assert_int_equal(take_many(&f, 50, 61000), 34);
  assert_int_equal(take_many(&f, 50, 90000), 6);
  assert_int_equal(take_many(&f, 50, 120999), 0);
  assert_int_equal(take_many(&f, 50, 121000), 34);
  fix_release(&f);
}

static void test_longest_wait(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("a*"), .per_minute = 1}, {.match = LT_STR("*b"), .per_minute = 1}};
  fix f;
  fix_init(&f, budgets, 2);
  assert_true(take(&f, "b", 0) && take(&f, "a", 10000));
  check_refused(&f, "ab", 20000,
                "the budget for \"a*\" is used up: 1 call per minute: try again in 50 s (tools.budgets)");
  assert_true(take(&f, "ab", 70000));
  fix_release(&f);
}

static void test_several_budgets(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .calls = 5},
                                {.match = LT_STR("s.*"), .calls = 2, .per_minute = 1},
                                {.match = LT_STR("*.web"), .per_minute = 1}};
  fix f;
  fix_init(&f, budgets, 3);
  assert_true(take(&f, "s.web", 0));
  /* Of several waits the longest is told. */
  assert_true(take(&f, "x.web", 60000));
  check_refused(&f, "s.web", 61000,
                "the budget for \"*.web\" is used up: 1 call per minute: try again in 59 s (tools.budgets)");
  for (int i = 0; i < 20; i++) {
    assert_false(take(&f, "s.web", 61000)); /* none of these counts, for no budget */
  }
  assert_true(take(&f, "s.news", 61000));
  /* Waiting does not help where a budget of the run is used up, and so it is not what is told. */
  check_refused(&f, "s.web", 61001, "the budget for \"s.*\" is used up: 2 calls per run (tools.budgets)");
  assert_true(take(&f, "a", 61000) && take(&f, "a", 61000));
  check_refused(&f, "a", 61000, "the budget for \"*\" is used up: 5 calls per run (tools.budgets)");
  fix_release(&f);
}

static void test_no_limits(void **state) {
  (void)state;
  assert_int_equal(lt_budget_take(NULL, LT_STR("t"), 0, NULL), LT_OK);
  lt_budget *none = lt_budget_new(NULL);
  assert_non_null(none);
  assert_int_equal(lt_budget_take(none, LT_STR("t"), 0, NULL), LT_OK);
  lt_budget_free(none);
  lt_budget_free(NULL);
  lt_policy_budget budgets[] = {{.match = LT_STR("*")}};
  fix f;
  fix_init(&f, budgets, 1);
  for (int i = 0; i < 1000; i++) {
    assert_true(take(&f, "t", 0));
  }
  fix_release(&f);
}

/* Two runs of one policy know nothing of each other. */
static void test_runs_are_apart(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .calls = 1}};
  fix f;
  fix_init(&f, budgets, 1);
  lt_budget *other = lt_budget_new(f.policy);
  assert_true(take(&f, "t", 0));
  assert_int_equal(lt_budget_take(other, LT_STR("t"), 0, NULL), LT_OK);
  assert_int_equal(lt_budget_take(other, LT_STR("t"), 0, NULL), LT_E_LIMIT);
  lt_budget_free(other);
  fix_release(&f);
}

static void check_new(lt_policy_budget budget, lt_status want, const char *message) {
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_policy_new(NULL, 0, &budget, 1, &policy, &err), want);
  assert_string_equal(err.msg, message);
}

static void test_refused_budgets(void **state) {
  (void)state;
  check_new((lt_policy_budget){.match = LT_STR_NULL, .calls = 1}, LT_E_INVALID,
            "tools.budgets[0].match: empty; \"*\" is every tool");
  check_new((lt_policy_budget){.match = LT_STR("*"), .calls = -1}, LT_E_INVALID,
            "tools.budgets[0].calls: must not be negative");
  check_new((lt_policy_budget){.match = LT_STR("*"), .per_minute = -1}, LT_E_INVALID,
            "tools.budgets[0].perMinute: must not be negative");
  check_new((lt_policy_budget){.match = LT_STR("*"), .per_minute = 100001}, LT_E_LIMIT,
            "tools.budgets[0].perMinute: at most 100000");
}

/* A call that fails for want of memory has counted for nothing. */
static void test_allocation_failures(void **state) {
  (void)state;
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .calls = 40}, {.match = LT_STR("*"), .per_minute = 40}};
  fix f;
  fix_init(&f, budgets, 2);
  lt_mem_fail_at(0);
  assert_null(lt_budget_new(f.policy));
  lt_mem_fail_at(-1);
  int failures = 0;
  for (int i = 0; i < 40; i++) {
    lt_mem_fail_at(0);
    lt_status status = lt_budget_take(f.budget, LT_STR("t"), 0, NULL);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    failures += failed;
    assert_true(!failed || take(&f, "t", 0));
  }
  assert_int_equal(failures, 3); /* the ring of 16, 32 and 40 */
  assert_false(take(&f, "t", 0));
  fix_release(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_per_run),       cmocka_unit_test(test_one_call),
      cmocka_unit_test(test_calls_per_minute),    cmocka_unit_test(test_window_slides),
      cmocka_unit_test(test_window_grows),        cmocka_unit_test(test_longest_wait),
      cmocka_unit_test(test_several_budgets),     cmocka_unit_test(test_no_limits),
      cmocka_unit_test(test_runs_are_apart),      cmocka_unit_test(test_refused_budgets),
      cmocka_unit_test(test_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
