/* Policies: which rule decides, what layers do to each other, what globs match, and how rules are explained. */
#include "unit/policy_fix.h"

#include <limits.h>

#include "tool/policy/policy_explain.h"
#include "tool/policy/policy_text.h"

static lt_action decide(const lt_policy_rule *rules, size_t count, const char *tool, const char *input) {
  world w;
  world_init(&w, tool, lt_str_of(input), NULL);
  lt_policy *policy = policy_of(rules, count);
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  lt_policy_free(policy);
  world_release(&w);
  return decision.action;
}

/* Who holds the policy is told by the new rules; what was borrowed from the old ones stays. */
static void test_replaced(void **state) {
  (void)state;
  lt_policy_rule ask[] = {{.match = LT_STR("*"), .reason = LT_STR("first"), .action = LT_ACTION_ASK}};
  lt_policy_rule deny[] = {{.match = LT_STR("a*"), .reason = LT_STR("second"), .action = LT_ACTION_DENY}};
  lt_policy *policy = policy_of(ask, 1);
  const lt_policy_call call = {.tool = LT_STR("a.b")};
  lt_policy_decision before = lt_policy_decide(policy, &call);
  lt_policy_replace(policy, policy_of(deny, 1));
  assert_int_equal(lt_policy_decide(policy, &call).action, LT_ACTION_DENY);
  assert_int_equal(before.action, LT_ACTION_ASK);
  assert_true(lt_str_eqc(before.reason, "first"));
  lt_policy_replace(policy, policy_of(NULL, 0));
  assert_int_equal(lt_policy_decide(policy, &call).action, LT_ACTION_ALLOW);
  lt_policy_free(policy);
}

static void test_first_rule_decides(void **state) {
  (void)state;
  lt_policy_rule rules[] = {
      {.match = LT_STR("bank.transfer"), .when = LT_STR("input.amount <= 1000"), .action = LT_ACTION_ALLOW},
      {.match = LT_STR("bank.*"), .action = LT_ACTION_ASK, .reason = LT_STR("moves money")},
      {.match = LT_STR("*"), .when = LT_STR("annotations.destructiveHint"), .action = LT_ACTION_DENY}};
  assert_int_equal(decide(rules, 3, "bank.transfer", "{\"amount\":1000}"), LT_ACTION_ALLOW);
  assert_int_equal(decide(rules, 3, "bank.transfer", "{\"amount\":1000.01}"), LT_ACTION_ASK);
  assert_int_equal(decide(rules, 3, "bank.transfer", "{\"amount\":\"1\"}"), LT_ACTION_ASK);
  assert_int_equal(decide(rules, 3, "bank.transfer", "{}"), LT_ACTION_ASK);
  assert_int_equal(decide(rules, 3, "bank", "{}"), LT_ACTION_DENY);
}

static lt_policy_decision decide_layers(const lt_policy_source *source, const char *tool, bool needs_approval) {
  world w;
  world_init(&w, tool, LT_STR("{\"amount\":5}"), NULL);
  w.call.needs_approval = needs_approval;
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  if (lt_policy_compile(source, &policy, &err) != LT_OK) {
    fail_msg("%s", err.msg);
  }
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  decision.reason = LT_STR("");
  lt_policy_free(policy);
  world_release(&w);
  return decision;
}

/* Every pair of actions: the first letter is the user's, the second the project's; "-" is no rule. */
static void test_stricter_layer_wins(void **state) {
  (void)state;
  static const char order[] = "-aqd"; /* none, allow, ask, deny */
  for (size_t user = 0; user < 4; user++) {
    for (size_t project = 0; project < 4; project++) {
      lt_policy_rule rules[2];
      size_t n = 0;
      if (project > 0) {
        rules[n++] =
            (lt_policy_rule){.match = LT_STR("*"), .action = (lt_action)(project - 1), .layer = LT_POLICY_PROJECT};
      }
      if (user > 0) {
        rules[n++] = (lt_policy_rule){.match = LT_STR("*"), .action = (lt_action)(user - 1)};
      }
      lt_policy_decision decision = decide_layers(&(lt_policy_source){.rules = rules, .count = n}, "t.x", true);
      size_t want = user > project ? user : project;
      want = want > 0 ? want - 1 : LT_ACTION_ASK; /* the tool's own wish */
      if (decision.action != want || (n > 0 && decision.layer != (user >= project ? 0U : 1U))) {
        fail_msg("%c and %c: %d of layer %u", order[user], order[project], decision.action, decision.layer);
      }
      assert_true((decision.rule == SIZE_MAX) == (n == 0));
    }
  }
}

/* A condition of the project that takes all the work leaves the user's rule as it is: the user's layer comes first. */
static void test_a_layer_cannot_starve_the_other(void **state) {
  (void)state;
  lt_buf input;
  lt_buf_init(&input, 16 * LT_MIB);
  lt_buf_addc(&input, "{\"amount\":5,\"l\":[0");
  for (size_t i = 0; i < LT_POLICY_STEPS_MAX + 10; i++) {
    lt_buf_addc(&input, ",0");
  }
  lt_buf_addc(&input, "]}");
  lt_policy_rule rules[] = {
      {.match = LT_STR("*"),
       .when = LT_STR("any(input.l, it == 1)"),
       .action = LT_ACTION_ALLOW,
       .layer = LT_POLICY_PROJECT},
      {.match = LT_STR("*"), .when = LT_STR("input.amount == 5"), .action = LT_ACTION_DENY, .layer = LT_POLICY_USER}};
  world w;
  world_init(&w, "t.x", lt_buf_view(&input), NULL);
  lt_policy *policy = policy_of(rules, 2);
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  assert_int_equal(decision.action, LT_ACTION_DENY);
  assert_false(decision.unsure);
  lt_policy_free(policy);
  world_release(&w);
  lt_buf_release(&input);
}

static void test_layers_count_for_themselves(void **state) {
  (void)state;
  /* In the order in which a configuration may hand them over. */
  lt_policy_rule rules[] = {
      {.match = LT_STR("t.y"), .action = LT_ACTION_DENY, .layer = LT_POLICY_PROJECT},
      {.match = LT_STR("u.*"), .action = LT_ACTION_DENY, .layer = LT_POLICY_USER},
      {.match = LT_STR("t.x"), .action = LT_ACTION_ALLOW, .layer = LT_POLICY_PROJECT},
      {.match = LT_STR("t.x"), .when = LT_STR("input.amount > 1"), .action = LT_ACTION_ASK, .layer = LT_POLICY_USER},
      {.match = LT_STR("t.*"), .action = LT_ACTION_DENY, .layer = LT_POLICY_PROJECT},
      {.match = LT_STR("t.*"), .action = LT_ACTION_ALLOW, .layer = LT_POLICY_USER},
  };
  const lt_policy_source source = {.rules = rules, .count = 6};
  lt_policy_decision decision = decide_layers(&source, "t.x", false);
  assert_int_equal(decision.action, LT_ACTION_ASK);
  assert_int_equal(decision.layer, LT_POLICY_USER);
  assert_int_equal(decision.rule, 1);
  decision = decide_layers(&source, "t.z", false);
  assert_int_equal(decision.action, LT_ACTION_DENY);
  assert_int_equal(decision.layer, LT_POLICY_PROJECT);
  assert_int_equal(decision.rule, 2);
  decision = decide_layers(&source, "u.z", false);
  assert_int_equal(decision.layer, LT_POLICY_USER);
  assert_int_equal(decision.rule, 0);
  assert_true(decide_layers(&source, "v.z", false).rule == SIZE_MAX);
}

static void test_faults_name_the_file(void **state) {
  (void)state;
  lt_policy_rule rules[] = {
      {.match = LT_STR("a"), .layer = LT_POLICY_USER},
      {.match = LT_STR("b"), .layer = LT_POLICY_USER},
      {.match = LT_STR("c"), .when = LT_STR("input.a <="), .layer = LT_POLICY_PROJECT},
  };
  lt_policy_budget budgets[] = {{.match = LT_STR("a"), .calls = 1, .layer = LT_POLICY_PROJECT},
                                {.match = LT_STR("b"), .calls = -1, .layer = LT_POLICY_USER}};
  lt_policy_source source = {
      .rules = rules, .count = 3, .budgets = budgets, .budget_count = 2, .files = {LT_STR("/u"), LT_STR("/p")}};
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_policy_compile(&source, &policy, &err), LT_E_INVALID);
  assert_non_null(strstr(err.msg, "/p: tools.policy[0].when: expected a value"));
  source.count = 2;
  assert_int_equal(lt_policy_compile(&source, &policy, &err), LT_E_INVALID);
  assert_string_equal(err.msg, "/u: tools.budgets[0].calls: must not be negative");
}

/* What a glob may begin with, and how far it is from a text. */
static void test_near_globs(void **state) {
  (void)state;
  assert_true(lt_policy_may_begin(LT_STR("bank.*"), LT_STR("bank.")));
  assert_true(lt_policy_may_begin(LT_STR("b*"), LT_STR("bank.")));
  assert_true(lt_policy_may_begin(LT_STR("*x"), LT_STR("bank.")));
  assert_true(lt_policy_may_begin(LT_STR("b?nk.x"), LT_STR("bank.")));
  assert_true(lt_policy_may_begin(LT_STR("b*k.x"), LT_STR("bank.")));
  assert_false(lt_policy_may_begin(LT_STR("bank."), LT_STR("bank."))); /* no tool has an empty name */
  assert_false(lt_policy_may_begin(LT_STR("bank"), LT_STR("bank.")));
  assert_false(lt_policy_may_begin(LT_STR("banks.*"), LT_STR("bank.")));
  assert_false(lt_policy_may_begin(LT_STR(""), LT_STR("")));
  static const struct {
    const char *pattern, *text;
    unsigned want;
  } rows[] = {
      {"bank.transfer", "bank.transfer", 0},
      {"bank.trasfer", "bank.transfer", 1},
      {"bnk.*", "bank.transfer", 1},
      {"bank.t*x", "bank.transfer", 1},
      {"*trasnfer*", "bank.transfer", 2},
      {"?ank.*", "ank.x", 1},
      {"", "ab", 2},
      {"*", "", 0},
      {"abc*", "", 3},
      {"a*b*c", "axxbyyd", 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    unsigned got = lt_policy_distance(lt_str_of(rows[i].pattern), lt_str_of(rows[i].text), 5);
    if (got != rows[i].want) {
      fail_msg("%s and %s: %u, not %u", rows[i].pattern, rows[i].text, got, rows[i].want);
    }
    assert_true((got == 0) == lt_policy_glob(lt_str_of(rows[i].pattern), lt_str_of(rows[i].text)));
  }
  assert_true(lt_policy_distance(LT_STR("abcdef"), LT_STR("ghijkl"), 5) == UINT_MAX);
  char long_text[LT_POLICY_NEAR_MAX_BYTES + 1];
  memset(long_text, 'a', sizeof long_text);
  assert_true(lt_policy_distance(LT_STR("*"), lt_str_from(long_text, sizeof long_text), 5) == UINT_MAX);
  assert_int_equal(lt_policy_distance(LT_STR("*b"), lt_str_from(long_text, sizeof long_text - 1), 5), 1);
}

/* The rules that can decide a tool's calls are those that decide. */
static void test_explained_rules(void **state) {
  (void)state;
  lt_policy_rule rules[] = {
      {.match = LT_STR("x.*"), .action = LT_ACTION_DENY},
      {.match = LT_STR("t.*"), .when = LT_STR("annotations.readOnlyHint"), .action = LT_ACTION_ALLOW},
      {.match = LT_STR("t.*"), .when = LT_STR("!(input.a == 1)"), .action = LT_ACTION_ASK},
      {.match = LT_STR("t.*"), .when = LT_STR("any(annotations.l, it == 1)"), .action = LT_ACTION_DENY},
      {.match = LT_STR("t.*"), .when = LT_STR("annotations.odd == 1"), .action = LT_ACTION_ALLOW},
      {.match = LT_STR("t.*"), .when = LT_STR("annotations.odd == 1"), .action = LT_ACTION_DENY},
      {.match = LT_STR("*"), .action = LT_ACTION_ALLOW}};
  world w;
  world_init(&w, "t.x", LT_STR("{}"), NULL);
  lt_policy *policy = policy_of(rules, 7);
  lt_policy_view views[4];
  assert_int_equal(lt_policy_explain(policy, LT_POLICY_USER, &w.call, views, 4), 3);
  assert_int_equal(views[0].index, 2);
  assert_true(views[0].is_conditional);
  assert_int_equal(views[1].index, 3);
  assert_int_equal(views[2].index, 5); /* unknown denies, and ends the list */
  assert_false(views[2].is_conditional);
  assert_int_equal(lt_policy_explain(policy, LT_POLICY_USER, &w.call, views, 1), 3);
  assert_int_equal(views[0].index, 5); /* the last one is always there */
  assert_int_equal(lt_policy_explain(policy, LT_POLICY_PROJECT, &w.call, views, 4), 0);
  assert_int_equal(lt_policy_explain(NULL, LT_POLICY_USER, &w.call, views, 4), 0);
  assert_true(lt_policy_view_at(policy, 6, &views[0]));
  assert_false(lt_policy_view_at(policy, 7, &views[0]));
  lt_policy_free(policy);
  world_release(&w);
}

static void test_decision_names_its_rule(void **state) {
  (void)state;
  lt_policy_rule rules[] = {{.match = LT_STR("x"), .action = LT_ACTION_DENY},
                            {.match = LT_STR("b?nk.*"), .action = LT_ACTION_ASK, .reason = LT_STR("moves money")}};
  world w;
  world_init(&w, "bank.pay", LT_STR("{}"), NULL);
  lt_policy *policy = policy_of(rules, 2);
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  assert_int_equal(decision.rule, 1);
  assert_true(lt_str_eqc(decision.reason, "moves money"));
  assert_false(decision.unsure);
  w.call.tool = LT_STR("else");
  decision = lt_policy_decide(policy, &w.call);
  assert_true(decision.rule == SIZE_MAX);
  assert_int_equal(decision.reason.n, 0);
  lt_policy_free(policy);
  world_release(&w);
}

/* Without a rule the tool's own word counts; a rule overrules it. */
static void test_own_word(void **state) {
  (void)state;
  lt_policy_rule rules[] = {{.match = LT_STR("bank.*"), .action = LT_ACTION_ALLOW}};
  world w;
  world_init(&w, "mail.send", LT_STR("{}"), NULL);
  lt_policy *policy = policy_of(rules, 1);
  w.call.needs_approval = true;
  assert_int_equal(lt_policy_decide(policy, &w.call).action, LT_ACTION_ASK);
  assert_int_equal(lt_policy_decide(NULL, &w.call).action, LT_ACTION_ASK);
  w.call.tool = LT_STR("bank.pay");
  assert_int_equal(lt_policy_decide(policy, &w.call).action, LT_ACTION_ALLOW);
  w.call = (lt_policy_call){.tool = LT_STR("mail.send"), .input = w.call.input};
  assert_int_equal(lt_policy_decide(policy, &w.call).action, LT_ACTION_ALLOW);
  assert_int_equal(lt_policy_decide(NULL, &w.call).action, LT_ACTION_ALLOW);
  lt_policy_free(policy);
  world_release(&w);
}

/* What cannot be told holds for ask and deny and does not for allow. */
static void test_unknown_is_never_let_through(void **state) {
  (void)state;
  lt_action actions[] = {LT_ACTION_ALLOW, LT_ACTION_ASK, LT_ACTION_DENY};
  const char *unknown[] = {"input.x == 1", "!(input.x == 1)", "input.x", "!input.x", "input.x within \"/tmp\""};
  for (size_t a = 0; a < 3; a++) {
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
      lt_policy_rule rules[] = {
          {.match = LT_STR("*"), .when = lt_str_of(unknown[i]), .action = actions[a]},
          {.match = LT_STR("*"), .action = LT_ACTION_DENY},
      };
      lt_action want = actions[a] == LT_ACTION_ALLOW ? LT_ACTION_DENY : actions[a];
      assert_int_equal(decide(rules, 2, "t", "{\"y\":1}"), want);
    }
  }
}

static void check_glob(const char *pattern, const char *id, bool want) {
  lt_policy_rule rule = {.match = lt_str_of(pattern), .action = LT_ACTION_DENY};
  lt_str tool = tight(lt_str_of(id));
  lt_policy *policy = policy_of(&rule, 1);
  lt_policy_call call = {.tool = tool};
  if ((lt_policy_decide(policy, &call).action == LT_ACTION_DENY) != want) {
    fail_msg("%s %s %s", pattern, want ? "should match" : "should not match", id);
  }
  lt_policy_free(policy);
  drop(tool);
}

static void test_globs(void **state) {
  (void)state;
  check_glob("*", "", true);
  check_glob("*", "anything", true);
  check_glob("?", "", false);
  check_glob("a", "a", true);
  check_glob("a", "A", false);
  check_glob("a", "ab", false);
  check_glob("bank.*", "bank.", true);
  check_glob("bank.*", "bank.pay.now", true);
  check_glob("bank.*", "bank", false);
  check_glob("bank.*", "my.bank.pay", false);
  check_glob("*.delete_*", "files.delete_all", true);
  check_glob("*.delete_*", "files.undelete_all", false);
  check_glob("*a*b*c*", "xxaxxbxxc", true);
  check_glob("*a*b*c*", "xxbxxaxxc", false);
  check_glob("*ab", "aaab", true);
  check_glob("*aab", "aaab", true);
  check_glob("**", "x", true);
  check_glob("a**b", "ab", true);
  check_glob("?.?", "a.b", true);
  check_glob("?.?", "ab", false);
  check_glob("?", "\xC3\xA9", true); /* one character, not one byte */
  check_glob("??", "\xC3\xA9", false);
  check_glob("[ab]", "a", false); /* nothing else is special */
  check_glob("{a,b}", "{a,b}", true);
  check_glob("a\\*", "a*", false);
}

static void test_globs_take_no_time(void **state) {
  (void)state;
  char pattern[201] = {0};
  static char text[60001];
  for (int i = 0; i < 200; i++) {
    pattern[i] = i % 2 ? '*' : 'a';
  }
  pattern[199] = 'b';
  memset(text, 'a', 60000);
  check_glob(pattern, text, false);
}

/* A condition of white space is none. */
static void test_no_condition(void **state) {
  (void)state;
  lt_policy_rule rule = {.match = LT_STR("*"), .when = LT_STR(" \n"), .action = LT_ACTION_DENY};
  assert_int_equal(decide(&rule, 1, "t", "{}"), LT_ACTION_DENY);
  lt_policy *policy = NULL;
  assert_int_equal(lt_policy_new(NULL, 0, NULL, 0, &policy, NULL), LT_OK);
  lt_policy_free(policy);
  lt_policy_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_rule_decides),
      cmocka_unit_test(test_replaced),
      cmocka_unit_test(test_stricter_layer_wins),
      cmocka_unit_test(test_layers_count_for_themselves),
      cmocka_unit_test(test_a_layer_cannot_starve_the_other),
      cmocka_unit_test(test_faults_name_the_file),
      cmocka_unit_test(test_near_globs),
      cmocka_unit_test(test_explained_rules),
      cmocka_unit_test(test_decision_names_its_rule),
      cmocka_unit_test(test_own_word),
      cmocka_unit_test(test_unknown_is_never_let_through),
      cmocka_unit_test(test_globs),
      cmocka_unit_test(test_globs_take_no_time),
      cmocka_unit_test(test_no_condition),
  };
  return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
