/* What is refused when a policy is compiled, and what becomes of a policy without memory. */
#include "unit/policy_fix.h"

#include <stdio.h>

static lt_status compile(const char *when, lt_err *err) {
  lt_policy_rule rules[] = {{.match = LT_STR("*"), .action = LT_ACTION_ALLOW},
                            {.match = LT_STR("*"), .when = tight(lt_str_of(when)), .action = LT_ACTION_DENY}};
  lt_policy *policy = NULL;
  lt_status status = lt_policy_new(rules, 2, NULL, 0, &policy, err);
  drop(rules[1].when);
  if (status != LT_OK) {
    assert_null(policy);
  }
  lt_policy_free(policy);
  return status;
}

static void check_limit(char *when, lt_status want) {
  lt_err err = LT_ERR_INIT;
  lt_status status = compile(when, &err);
  if (status != want) {
    fail_msg("%.60s...: %s", when, err.msg);
  }
  lt_mem_free(when);
}

static void test_size_is_bounded(void **state) {
  (void)state;
  check_limit(repeat("true", " && true", 300, ""), LT_OK);
  check_limit(repeat("true", " && true", 600, ""), LT_E_LIMIT);
  check_limit(repeat("", "(", 31, "true)))))))))))))))))))))))))))))))"), LT_OK);
  check_limit(repeat("", "(", 5000, "true"), LT_E_LIMIT);
  check_limit(repeat("", "!", 5000, "true"), LT_E_LIMIT);
  check_limit(repeat("", "any(input.a, ", 900, "true"), LT_E_LIMIT);
  check_limit(repeat("input", ".a", 3000, ""), LT_E_LIMIT);
  check_limit(repeat("input.a == '", "x", 16000, "'"), LT_OK);
  check_limit(repeat("input.a == '", "\"", 16000, "'"), LT_OK);
  check_limit(repeat("input.a == '", "x", 17000, "'"), LT_E_LIMIT);
}

typedef struct refusal {
  const char *when;
  const char *message; /* after "tools.policy[1].when: " */
} refusal;

static void check_refusal(const char *when, const char *message) {
  lt_err err = LT_ERR_INIT;
  lt_status status = compile(when, &err);
  char want[1200];
  snprintf(want, sizeof want, "tools.policy[1].when: %s", message);
  if (status != LT_E_INVALID || strcmp(err.msg, want) != 0) {
    fail_msg("%s\n  gives  %s\n  wanted %s", when, status == LT_OK ? "no error" : err.msg, want);
  }
}

static void test_refusals(void **state) {
  (void)state;
  const refusal rows[] = {
      {"input.a <=", "expected a value after `<=`, but it ends there"},
      {"input.a <= && true", "expected a value after `<=`, found `&&` at character 12"},
      {"input.a = 1", "expected &&, || or the end after `a`, found `=` at character 9 (write ==)"},
      {"input.a === 1", "expected &&, || or the end after `a`, found `===` at character 9 (write ==)"},
      {"input.a and input.b", "expected &&, || or the end after `a`, found `and` at character 9 (write &&)"},
      {"input.a & input.b", "expected &&, || or the end after `a`, found `&` at character 9 (write &&)"},
      {"not input.a",
       "there is no such value; values begin with input, annotations or tool, and a string stands in "
       "quotes (at character 1: `not`)"},
      {"inputs.a == 1", "there is no such value: did you mean \"input\"? (at character 1: `inputs`)"},
      {"input.mode == fast",
       "there is no such value; values begin with input, annotations or tool, and a string stands "
       "in quotes (at character 15: `fast`)"},
      {"lenght(input.a) == 1",
       "there is no such function: did you mean \"length\"?; there are all, any, has and length (at character 1: "
       "`lenght`)"},
      {"now() == 1", "there is no such function; there are all, any, has and length (at character 1: `now`)"},
      {"length(length(input.a)) == 1", "length(...) cannot stand here (at character 8: `length`)"},
      {"tool.name == 'x'", "of a tool there is tool.id only (at character 1: `tool`)"},
      {"annotations.readonlyHint",
       "there is no annotation \"readonlyHint\": did you mean \"readOnlyHint\"? (at character "
       "1: `annotations`)"},
      {"it == 1", "\"it\" is the item that any() or all() looks at (at character 1: `it`)"},
      {"any(input.a, it) && it", "\"it\" is the item that any() or all() looks at (at character 21: `it`)"},
      {"any(it, true)", "\"it\" is the item that any() or all() looks at (at character 5: `it`)"},
      {"1 < input.a < 3", "comparisons do not chain: join two of them with && (at character 13: `<`)"},
      {"!input.a == 1", "put what \"!\" turns around in parentheses: !( ... ) (at character 1: `!`)"},
      {"input.a within 'tmp'", "a folder begins with \"/\" (at character 16: `'tmp'`)"},
      {"input.a within input.b", "expected a folder in quotes after `within`, found `input` at character 16"},
      {"input.a matches 5", "expected a pattern in quotes after `matches`, found `5` at character 17"},
      {"input.a in 5", "expected \"[\" and a list after `in`, found `5` at character 12"},
      {"input.a in []", "expected a string, number, true, false or null after `[`, found `]` at character 13"},
      {"input.a in [1, 'x']", "a number cannot be compared with a string (at character 9: `in`)"},
      {"input.a in [1, null, 'x']", "a number cannot be compared with a string (at character 9: `in`)"},
      {"tool.id in ['x', null, 1]", "a string cannot be compared with a number (at character 9: `in`)"},
      {"tool.id in [null, 1]", "a string cannot be compared with a number (at character 9: `in`)"},
      {"input.a in [1 2]", "expected \",\" or \"]\" after `1`, found `2` at character 15"},
      {"(input.a", "expected &&, || or \")\" after `a`, but it ends there"},
      {"input.a)", "expected &&, || or the end after `a`, found `)` at character 8"},
      {"()", "expected a value after `(`, found `)` at character 2"},
      {"&& true", "expected a value, found `&&` at character 1"},
      {"input.", "expected a name after `.`, but it ends there"},
      {"input.0", "expected a name after `.`, found `0` at character 7"},
      {"input.a[-1]", "an index is a whole number from 0 (at character 9: `-1`)"},
      {"input.a[1.5]", "an index is a whole number from 0 (at character 9: `1.5`)"},
      {"input.a[1", "expected \"]\" after `1`, but it ends there"},
      {"input.a[b]", "expected an index or a name in quotes after `[`, found `b` at character 9"},
      {"input.dry-run",
       "expected &&, || or the end after `dry`, found `-` at character 10 (there is no arithmetic; a "
       "name with a \"-\" is written input[\"a-b\"])"},
      {"input.a == 'x", "this string has no closing quote (at character 12: `'x`)"},
      {"input.a == 'x\\", "this string has no closing quote (at character 12: `'x\\`)"},
      {"input.a == 'x\\'", "this string has no closing quote (at character 12: `'x\\'`)"},
      {"input.a == '\\x41'",
       "this string cannot be read: escapes are those of JSON and \\', a line break is \\n (at character 12: "
       "`'\\x41'`)"},
      {"input.a == 01",
       "this number cannot be read: write it as in JSON, such as 10, -0.5 or 1e6 (at character 12: "
       "`01`)"},
      {"input.a == 1.2.3",
       "this number cannot be read: write it as in JSON, such as 10, -0.5 or 1e6 (at character 12: "
       "`1.2.3`)"},
      {"input.a < true", "only numbers and strings have an order, a boolean has none (at character 9: `<`)"},
      {"null <= input.a", "only numbers and strings have an order, null has none (at character 6: `<=`)"},
      {"length(input.a) == '1'", "a number cannot be compared with a string (at character 17: `==`)"},
      {"annotations.readOnlyHint == 'true'", "a boolean cannot be compared with a string (at character 26: `==`)"},
      {"tool.id == 5", "a string cannot be compared with a number (at character 9: `==`)"},
      {"length(input.a) matches 'x'", "a number is no text (at character 17: `matches`)"},
      {"length(input.a)", "expected a comparison after `)`, but it ends there"},
      {"'x'", "expected a comparison after `'x'`, but it ends there"},
      {"has(tool.id)", "this is always there (at character 5: `tool`)"},
      {"has(5)", "expected a value of the call, such as input.path, after `(`, found `5` at character 5"},
      {"any(input.a)", "expected \",\" and a condition on \"it\" after `a`, found `)` at character 12"},
      {"any(input.a, it == 1", "expected \")\" after `1`, but it ends there"},
      {"input.\xC3\xA9 == 'a' ?", "expected &&, || or the end after `'a'`, found `?` at character 16"},
      {"input.a == 1 \x01", "expected &&, || or the end after `1`, found ` ` at character 14"},
      {"input.a == '\xFF'", "this is not UTF-8"},
      {"input.\xC3 \xA9", "this is not UTF-8"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_refusal(rows[i].when, rows[i].message);
  }
}

static void check_rule(lt_policy_rule rule, lt_status want, const char *message) {
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_policy_new(&rule, 1, NULL, 0, &policy, &err), want);
  if (strcmp(err.msg, message) != 0) {
    fail_msg("%s, not %s", err.msg, message);
  }
}

static void test_refused_rules(void **state) {
  (void)state;
  static char big[2000];
  lt_str text = {memset(big, 'x', sizeof big), sizeof big};
  check_rule((lt_policy_rule){.match = LT_STR_NULL}, LT_E_INVALID, "tools.policy[0].match: empty; \"*\" is every tool");
  check_rule((lt_policy_rule){.match = text}, LT_E_LIMIT, "tools.policy[0].match: over 1024 bytes");
  check_rule((lt_policy_rule){.match = LT_STR("*"), .reason = text}, LT_E_LIMIT,
             "tools.policy[0].reason: over 1024 bytes");
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  static lt_policy_rule rules[1001];
  assert_int_equal(lt_policy_new(rules, 1001, NULL, 0, &policy, &err), LT_E_LIMIT);
  assert_string_equal(err.msg, "tools.policy: at most 1000 are read");
  /* A project's rules do not take the room of the user's. */
  for (size_t i = 0; i < 1001; i++) {
    rules[i] = (lt_policy_rule){.match = LT_STR("x"), .layer = i < 1000 ? LT_POLICY_PROJECT : LT_POLICY_USER};
  }
  assert_int_equal(lt_policy_new(rules, 1001, NULL, 0, &policy, &err), LT_OK);
  lt_policy_free(policy);
  rules[1000].layer = LT_POLICY_PROJECT;
  const lt_policy_source source = {.rules = rules, .count = 1001, .files = {LT_STR("/u"), LT_STR("/p")}};
  assert_int_equal(lt_policy_compile(&source, &policy, &err), LT_E_LIMIT);
  assert_string_equal(err.msg, "/p: tools.policy: at most 1000 are read");
}

static void test_allocation_failures(void **state) {
  (void)state;
  lt_policy_rule rules[] = {
      {.match = LT_STR("a.*"), .when = LT_STR("input.a[0].b in ['x\\n', 'y'] && !has(input.c)"), .reason = LT_STR("r")},
      {.match = LT_STR("*"), .when = LT_STR("all(input.l, it within '/tmp/../x') || length(input.s) < 1e3")}};
  lt_policy_budget budgets[] = {{.match = LT_STR("*"), .calls = 1}};
  for (long n = 0;; n++) {
    lt_policy *policy = NULL;
    lt_mem_fail_at(n);
    lt_status status = lt_policy_new(rules, 2, budgets, 1, &policy, NULL);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    lt_policy_free(policy);
    if (!failed) {
      assert_true(n > 3);
      return;
    }
  }
}

/* Without memory to look at a value it is unknown. */
static void test_no_memory_to_decide(void **state) {
  (void)state;
  lt_policy_rule rules[] = {{.match = LT_STR("*"), .when = LT_STR("input.p within '/tmp'"), .action = LT_ACTION_ALLOW},
                            {.match = LT_STR("*"), .action = LT_ACTION_DENY}};
  world w;
  world_init(&w, "t", LT_STR("{\"p\":\"/tmp\\u002fx\"}"), NULL);
  lt_policy *policy = policy_of(rules, 2);
  bool failed = true;
  for (long n = 0; failed; n++) {
    lt_mem_fail_at(n);
    lt_policy_decision decision = lt_policy_decide(policy, &w.call);
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_true(failed || n > 0);
    assert_int_equal(decision.action, failed ? LT_ACTION_DENY : LT_ACTION_ALLOW);
  }
  lt_policy_free(policy);
  world_release(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_size_is_bounded),     cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_refused_rules),       cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_no_memory_to_decide),
  };
  return cmocka_run_group_tests_name("policy_refusals", tests, NULL, NULL);
}
