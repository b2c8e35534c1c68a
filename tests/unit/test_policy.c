/* Policies: which rule decides, what conditions mean, what cannot be told, and what is refused when they are compiled.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tool/policy/policy_explain.h"
#include "tool/policy/policy_text.h"

/* --- Helpers ------------------------------------------------------------------------------------------------------ */

/* The text ends where its memory ends, so that a read past it is seen. */
static lt_str tight(lt_str s) {
  char *copy = malloc(s.n > 0 ? s.n : 1);
  assert_non_null(copy);
  if (s.n > 0) {
    memcpy(copy, s.p, s.n);
  }
  return (lt_str){copy, s.n};
}

static void drop(lt_str s) {
  free((void *)(uintptr_t)s.p);
}

typedef struct world {
  lt_arena arena;
  lt_json_doc input;
  lt_json_doc annotations;
  lt_policy_call call;
} world;

static void parse(lt_arena *arena, lt_str text, lt_json_doc *doc) {
  lt_err err = LT_ERR_INIT;
  if (lt_json_parse(arena, text, doc, &err) != LT_OK) {
    fail_msg("%.*s: %s", LT_STR_ARG(text), err.msg);
  }
}

/* `annotations` may be NULL. */
static void world_init(world *w, const char *tool, lt_str input, const char *annotations) {
  memset(w, 0, sizeof(*w));
  lt_arena_init(&w->arena, 256 * LT_MIB);
  parse(&w->arena, input, &w->input);
  w->call = (lt_policy_call){.tool = lt_str_of(tool), .input = lt_json_root(&w->input)};
  if (annotations != NULL) {
    parse(&w->arena, lt_str_of(annotations), &w->annotations);
    w->call.annotations = lt_json_root(&w->annotations);
  }
}

static void world_release(world *w) {
  lt_arena_release(&w->arena);
}

static lt_policy *policy_of(const lt_policy_rule *rules, size_t count) {
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  if (lt_policy_new(rules, count, NULL, 0, &policy, &err) != LT_OK) {
    fail_msg("%s", err.msg);
  }
  return policy;
}

/* 'y', 'n' or '?'. */
static char judge_in(const char *when, const world *w) {
  lt_str text = tight(lt_str_of(when));
  lt_policy_rule rules[] = {{.match = LT_STR("*"), .when = text, .action = LT_ACTION_DENY},
                            {.match = LT_STR("*"), .when = text, .action = LT_ACTION_ALLOW},
                            {.match = LT_STR("*"), .action = LT_ACTION_ASK}};
  lt_policy *policy = policy_of(rules, 1);
  drop(text); /* nothing is borrowed */
  lt_policy_decision decision = lt_policy_decide(policy, &w->call);
  lt_policy_free(policy);
  return decision.action != LT_ACTION_DENY ? 'n' : decision.unsure ? '?' : 'y';
}

static char judge(const char *when, const char *input) {
  world w;
  world_init(&w, "files.write_file", lt_str_of(input), "{\"readOnlyHint\":false,\"title\":\"Write\"}");
  char got = judge_in(when, &w);
  world_release(&w);
  return got;
}

typedef struct row {
  const char *when;
  const char *input;
  char want;
} row;

static void check_rows(const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char got = judge(rows[i].when, rows[i].input);
    if (got != rows[i].want) {
      fail_msg("%s with %s: %c, not %c", rows[i].when, rows[i].input, got, rows[i].want);
    }
  }
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static lt_action decide(const lt_policy_rule *rules, size_t count, const char *tool, const char *input) {
  world w;
  world_init(&w, tool, lt_str_of(input), NULL);
  lt_policy *policy = policy_of(rules, count);
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  lt_policy_free(policy);
  world_release(&w);
  return decision.action;
}

/* --- Rules -------------------------------------------------------------------------------------------------------- */

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

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

static void test_comparisons(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a == 1", "{\"a\":1}", 'y'},
      {"input.a == 1", "{\"a\":1.0}", 'y'},
      {"input.a == 1", "{\"a\":10e-1}", 'y'},
      {"input.a == -0", "{\"a\":0}", 'y'},
      {"input.a != 1", "{\"a\":1}", 'n'},
      {"input.a != 1", "{\"a\":2}", 'y'},
      {"input.a < 2", "{\"a\":1}", 'y'},
      {"input.a < 1", "{\"a\":1}", 'n'},
      {"input.a <= 1", "{\"a\":1}", 'y'},
      {"input.a > 1", "{\"a\":1}", 'n'},
      {"input.a >= 1", "{\"a\":1}", 'y'},
      {"input.a >= -1", "{\"a\":-1.5}", 'n'},
      {"1 <= input.a", "{\"a\":1}", 'y'},
      {"input.a == input.b", "{\"a\":1,\"b\":1.0}", 'y'},
      {"input.a == \"x\"", "{\"a\":\"x\"}", 'y'},
      {"input.a == 'x'", "{\"a\":\"\\u0078\"}", 'y'},
      {"'x' == input.a", "{\"a\":\"\\u0078\"}", 'y'},
      {"input.a != 'x'", "{\"a\":\"y\"}", 'y'},
      {"input.a == input.b", "{\"a\":\"\\u0078\",\"b\":\"x\"}", 'y'},
      {"input.a < '2026-01-01'", "{\"a\":\"2025-12-31\"}", 'y'},
      {"input.a < 'b'", "{\"a\":\"bb\"}", 'n'},
      {"input.a >= ''", "{\"a\":\"\"}", 'y'},
      {"input.a == true", "{\"a\":true}", 'y'},
      {"input.a != true", "{\"a\":false}", 'y'},
      {"input.a == null", "{\"a\":null}", 'y'},
      {"input.a == null", "{\"a\":[]}", 'n'},
      {"input.a != null", "{\"a\":\"x\"}", 'y'},
      {"null == input.a", "{\"a\":null}", 'y'},
      {"input.a == input.b", "{\"a\":null,\"b\":null}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_what_cannot_be_compared(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a == 1", "{}", '?'},
      {"input.a == null", "{}", '?'},
      {"input.a != 1", "{}", '?'},
      {"input.a == 1", "{\"a\":\"1\"}", '?'},
      {"input.a != 'x'", "{\"a\":[\"x\"]}", '?'},
      {"input.a != 'x'", "{\"a\":null}", '?'},
      {"input.a == true", "{\"a\":\"true\"}", '?'},
      {"input.a == true", "{\"a\":1}", '?'},
      {"input.a == input.b", "{\"a\":[],\"b\":[]}", '?'},
      {"input.a == input.b", "{\"a\":{},\"b\":{}}", '?'},
      {"input.a < input.b", "{\"a\":true,\"b\":true}", '?'},
      {"input.a.b == 1", "{\"a\":1}", '?'},
      {"input.a[0] == 1", "{\"a\":{\"0\":1}}", '?'},
      {"input.a['0'] == 1", "{\"a\":[1]}", '?'},
  };
  CHECK_ROWS(rows);
}

/* `input.amount <= 1000` cannot be talked round. */
static void test_numbers_are_exact(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a <= 1000", "{\"a\":1000.0}", 'y'},
      {"input.a <= 1000", "{\"a\":1e3}", 'y'},
      {"input.a <= 1000", "{\"a\":1000.0000000000000000}", 'y'},
      {"input.a <= 1000", "{\"a\":1000.0001}", 'n'},
      {"input.a <= 1000", "{\"a\":1000.0000000000000001}", '?'}, /* 1000 to a tool that reads doubles */
      {"input.a < 1", "{\"a\":0.99999999999999999999}", '?'},
      {"input.a <= 1000", "{\"a\":1e400}", 'n'},
      {"input.a <= 1000", "{\"a\":-1e400}", 'y'},
      {"input.a > 0", "{\"a\":1e-400}", '?'},
      {"input.a >= 0", "{\"a\":1e-400}", 'y'},
      {"input.a == 9007199254740993", "{\"a\":9007199254740993}", 'y'},
      {"input.a == 9007199254740993", "{\"a\":9007199254740992}", '?'}, /* the same double */
      {"input.a == 9007199254740993", "{\"a\":9007199254740000}", 'n'},
      {"input.a <= 9007199254740992", "{\"a\":9007199254740993}", '?'},
      {"input.a <= 9007199254740993", "{\"a\":9007199254740992}", 'y'},
      {"input.a < 123456789012345678901234567890", "{\"a\":123456789012345678901234567890}", 'n'},
      {"input.a == 0.1", "{\"a\":0.1}", 'y'},
      {"input.a == 0.1", "{\"a\":0.10000000000000000001}", '?'},
      {"input.a == 0.3", "{\"a\":0.30000000000000004}", 'n'},
  };
  CHECK_ROWS(rows);
}

static void test_members_given_twice(void **state) {
  (void)state;
  const row rows[] = {
      {"input.amount <= 1000", "{\"amount\":1,\"amount\":9999}", '?'},
      {"input.amount <= 1000", "{\"amount\":9999,\"amount\":1}", '?'},
      {"input.amount <= 1000", "{\"amount\":1,\"amount\":1}", '?'},
      {"input.amount <= 1000", "{\"amount\":1,\"\\u0061mount\":9999}", '?'},
      {"input.amount <= 1000", "{\"amount\":1,\"Amount\":9999}", '?'}, /* the same to some readers */
      {"input.amount <= 1000", "{\"AMOUNT\":1}", '?'},
      {"has(input.amount)", "{\"Amount\":1}", '?'},
      {"has(input.risk)", "{\"ri\xC5\xBFk\":1}", '?'},     /* the long s folds to s */
      {"has(input.risk)", "{\"ris\xE2\x84\xAA\":1}", '?'}, /* the Kelvin sign to k */
      {"has(input.risk)", "{\"ris\xE2\x84\xAB\":1}", 'n'},
      {"input.amount <= 1000", "{\"amount\":1,\"amounts\":9999}", 'y'},
      {"has(input.amount)", "{\"amount\":1,\"amount\":2}", '?'},
      {"input.a.b == 1", "{\"a\":{\"b\":1},\"a\":{\"b\":2}}", '?'},
      {"input.a.b == 1", "{\"a\":{\"b\":1,\"c\":2,\"c\":3},\"d\":1,\"d\":2}", 'y'},
      {"any(input.l, it.a == 1)", "{\"l\":[{\"a\":1,\"a\":2}]}", '?'},
      /* A reader in C ends a name at its NUL. */
      {"input.amount <= 1000", "{\"amount\":1,\"amount\\u0000\":9999}", '?'},
      {"input.amount <= 1000", "{\"amount\\u0000x\":9999,\"amount\":1}", '?'},
      {"has(input.amount)", "{\"amount\\u0000\":1}", '?'},
      {"has(input.amount)", "{\"AMOUNT\\u0000\":1}", '?'},
      {"has(input.amount)", "{\"\\u0000amount\":1}", 'n'},
      {"has(input.amount)", "{\"amoun\\u0000t\":1}", 'n'},
      /* JavaScript that copies members finds there what the object does not have. */
      {"has(input.force)", "{\"__proto__\":{\"force\":true}}", '?'},
      {"input.force", "{\"__proto__\":{\"force\":true},\"force\":false}", 'n'},
      {"has(input.a.force)", "{\"a\":{\"\\u005f_proto__\":{\"force\":true}}}", '?'},
      {"input.a == 1 || true", "{\"a\":1,\"a\":2}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_in(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a in [1, 2]", "{\"a\":2.0}", 'y'},
      {"input.a in [1, 2]", "{\"a\":3}", 'n'},
      {"input.a in ['GET', \"HEAD\"]", "{\"a\":\"HEAD\"}", 'y'},
      {"input.a in ['GET', \"HEAD\"]", "{\"a\":\"get\"}", 'n'},
      {"input.a in ['GET']", "{\"a\":[\"GET\"]}", '?'},
      {"input.a in ['GET']", "{}", '?'},
      {"input.a in [9007199254740993, 5]", "{\"a\":9007199254740992}", '?'},
      {"input.a in [5, 9007199254740993]", "{\"a\":9007199254740992}", '?'},
      {"input.a in [null, 'x']", "{\"a\":null}", 'y'},
      {"input.a in [null, 'x']", "{\"a\":\"y\"}", 'n'},
      {"!(input.a in ['x'])", "{\"a\":\"y\"}", 'y'},
      {"tool.id in ['a', 'files.write_file']", "{}", 'y'},
      {"length(input.a) in [1, 2]", "{\"a\":\"xy\"}", 'y'},
      {"input.in in [true]", "{\"in\":true}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_matches(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a matches '*.txt'", "{\"a\":\"x.txt\"}", 'y'},
      {"input.a matches '*.txt'", "{\"a\":\"x.txt.exe\"}", 'n'},
      {"input.a matches '*@example.org'", "{\"a\":\"me@example.org\"}", 'y'},
      {"input.a matches '?'", "{\"a\":\"\\u20ac\"}", 'y'},
      {"input.a matches '?'", "{\"a\":\"\\ud83d\\ude00\"}", 'y'},
      {"input.a matches ''", "{\"a\":\"\"}", 'y'},
      {"input.a matches '*'", "{\"a\":1}", '?'},
      {"input.a matches '*'", "{}", '?'},
      {"tool.id matches '*.write_*'", "{}", 'y'},
      {"annotations.title matches 'W*'", "{}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_within(void **state) {
  (void)state;
  const row rows[] = {
      {"input.p within '/tmp'", "{\"p\":\"/tmp\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/a/b\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"//tmp///a\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/x/../tmp/./a\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/tmpx/a\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/TMP/a\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/../etc/passwd\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/..\"}", 'n'},
      {"input.p within '/tmp/a'", "{\"p\":\"/tmp/a/b/../../a/c\"}", 'y'},
      {"input.p within '/tmp/a'", "{\"p\":\"/tmp/a/../b\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/a/../../etc\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/%2e%2e/etc\"}", 'y'}, /* a name like any other */
      {"input.p within '/tmp'", "{\"p\":\"/tmp/...\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"\\/tmp\\/..\\u002f..\\u002fetc\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"/../../tmp/a\"}", 'y'},
      {"input.p within '/tmp/.//x/../'", "{\"p\":\"/tmp/a\"}", 'y'},
      {"input.p within '/'", "{\"p\":\"/a\"}", 'y'},
      {"input.p within '/'", "{\"p\":\"/\"}", 'y'},
      {"input.p within '/tmp'", "{\"p\":\"/\"}", 'n'},
      {"input.p within '/tmp'", "{\"p\":\"tmp/a\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"../etc\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"~/a\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"file:///tmp/a\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":\"/tmp/a\\u0000/../../etc\"}", '?'},
      {"input.p within '/tmp'", "{\"p\":[\"/tmp/a\"]}", '?'},
      {"input.p within '/tmp'", "{}", '?'},
  };
  CHECK_ROWS(rows);
}

/* Where a NUL ends a string for the tool, it has seen another one. */
static void test_nul(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a == 'x'", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a != 'x'", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a in ['x']", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a < 'y'", "{\"a\":\"x\\u0000y\"}", '?'},
      {"input.a == input.b", "{\"a\":\"x\\u0000\",\"b\":\"x\"}", '?'},
      {"input.a matches '*.txt'", "{\"a\":\"run.sh\\u0000.txt\"}", '?'},
      {"input.a == 'x'", "{\"a\":\"x\\u0001y\"}", 'n'},
      {"length(input.a) == 3", "{\"a\":\"x\\u0000y\"}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_length(void **state) {
  (void)state;
  const row rows[] = {
      {"length(input.a) == 0", "{\"a\":\"\"}", 'y'},
      {"length(input.a) == 1", "{\"a\":\"\\ud83d\\ude00\"}", 'y'},
      {"length(input.a) == 2", "{\"a\":\"\xC3\xA9!\"}", 'y'},
      {"length(input.a) <= 2", "{\"a\":[1,[2,3],4]}", 'n'},
      {"length(input.a) == 2", "{\"a\":{\"x\":1,\"y\":{\"z\":1}}}", 'y'},
      {"length(input.a) <= 2", "{\"a\":12}", '?'},
      {"length(input.a) <= 2", "{\"a\":null}", '?'},
      {"length(input.a) <= 2", "{}", '?'},
      {"length(input) <= 2", "{\"a\":1}", 'y'},
      {"length(tool.id) > 3", "{}", 'y'},
      {"length(input.length) == 1", "{\"length\":\"x\"}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_has(void **state) {
  (void)state;
  const row rows[] = {
      {"has(input.a)", "{\"a\":null}", 'y'},
      {"has(input.a)", "{}", 'n'},
      {"has(input.a.b)", "{\"a\":{\"b\":1}}", 'y'},
      {"has(input.a.b)", "{\"a\":\"b\"}", 'n'},
      {"has(input.a[1])", "{\"a\":[1,2]}", 'y'},
      {"has(input.a[2])", "{\"a\":[1,2]}", 'n'},
      {"has(input)", "{}", 'y'},
      {"has(annotations.title)", "{}", 'y'},
      {"has(annotations.mine)", "{}", 'n'},
      {"has(input.a) && input.a", "{}", 'n'},
      {"has(input.has) && input.has", "{\"has\":true}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_paths(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a.b[0][\"odd key\"] == 1", "{\"a\":{\"b\":[{\"odd key\":1}]}}", 'y'},
      {"input['a'].b[1] == 2", "{\"a\":{\"b\":[1,2,3]}}", 'y'},
      {"input[\"it's\"] == 2", "{\"it's\":2}", 'y'},
      {"input['it\\'s \\\"x\\\" \"y\"'] == 2", "{\"it's \\\"x\\\" \\\"y\\\"\":2}", 'y'},
      {"input['\\u00e9\\n'] == 2", "{\"\xC3\xA9\\n\":2}", 'y'},
      {"input.\xC3\xA9 == 2", "{\"\xC3\xA9\":2}", 'y'},
      {"input.$_a1 == 2", "{\"$_a1\":2}", 'y'},
      {" input . a [ 0 ]\n==\t1 ", "{\"a\":[1]}", 'y'},
      {"input[''] == 1", "{\"\":1}", 'y'},
  };
  CHECK_ROWS(rows);
}

/* --- Logic -------------------------------------------------------------------------------------------------------- */

/* input.t is true, input.f false, input.u missing. */
static void test_kleene(void **state) {
  (void)state;
  static const char in[] = "{\"t\":true,\"f\":false}";
  const row rows[] = {
      {"input.t", in, 'y'},
      {"input.f", in, 'n'},
      {"input.u", in, '?'},
      {"!input.t", in, 'n'},
      {"!input.f", in, 'y'},
      {"!input.u", in, '?'},
      {"!!input.t", in, 'y'},
      {"input.t && input.t", in, 'y'},
      {"input.t && input.f", in, 'n'},
      {"input.t && input.u", in, '?'},
      {"input.f && input.u", in, 'n'},
      {"input.u && input.f", in, 'n'},
      {"input.u && input.t", in, '?'},
      {"input.u && input.u", in, '?'},
      {"input.f || input.f", in, 'n'},
      {"input.t || input.u", in, 'y'},
      {"input.u || input.t", in, 'y'},
      {"input.u || input.f", in, '?'},
      {"input.f || input.u", in, '?'},
      {"input.t || input.f && input.f", in, 'y'}, /* && binds tighter */
      {"(input.t || input.f) && input.f", in, 'n'},
      {"!(input.t && input.f)", in, 'y'},
      {"input.f || input.f || input.t", in, 'y'},
      {"input.u && input.t && input.f", in, 'n'},
      {"(input.f || input.u) || input.t", in, 'y'},
      {"true", in, 'y'},
      {"false", in, 'n'},
  };
  CHECK_ROWS(rows);
}

static void test_bare_operands(void **state) {
  (void)state;
  const row rows[] = {
      {"input.a", "{\"a\":\"true\"}", '?'}, {"input.a", "{\"a\":1}", '?'},         {"input.a", "{\"a\":null}", '?'},
      {"input.a", "{\"a\":[true]}", '?'},   {"input.a[0]", "{\"a\":[true]}", 'y'},
  };
  CHECK_ROWS(rows);
}

static void test_any_and_all(void **state) {
  (void)state;
  const row rows[] = {
      {"any(input.f, it within '/tmp')", "{\"f\":[\"/etc/x\",\"/tmp/x\"]}", 'y'},
      {"all(input.f, it within '/tmp')", "{\"f\":[\"/etc/x\",\"/tmp/x\"]}", 'n'},
      {"all(input.f, it within '/tmp')", "{\"f\":[\"/tmp/y\",\"/tmp/x\"]}", 'y'},
      {"all(input.f, it within '/tmp')", "{\"f\":[\"/tmp/y\",7]}", '?'},
      {"all(input.f, it within '/tmp')", "{\"f\":[7,\"/etc\"]}", 'n'},
      {"any(input.f, it within '/tmp')", "{\"f\":[7,\"/tmp/x\"]}", 'y'},
      {"any(input.f, it within '/tmp')", "{\"f\":[7,\"/etc\"]}", '?'},
      {"any(input.f, it == 1)", "{\"f\":[]}", 'n'},
      {"all(input.f, it == 1)", "{\"f\":[]}", 'y'},
      {"all(input.f, it == 1)", "{}", '?'},
      {"all(input.f, it == 1)", "{\"f\":1}", '?'},
      {"any(input.f, it == 1)", "{\"f\":{\"a\":1}}", '?'},
      {"all(input.l, it.n >= 1 && length(it.s) < 3)", "{\"l\":[{\"n\":1,\"s\":\"ab\"},{\"n\":2,\"s\":\"\"}]}", 'y'},
      {"any(input.l, all(it.m, it == 1))", "{\"l\":[{\"m\":[2]},{\"m\":[1,1]}]}", 'y'},
      {"any(input.l, all(it.m, it == 1) && it.k)", "{\"l\":[{\"m\":[1],\"k\":true}]}", 'y'},
      {"any(input.l, it[1] == 5)", "{\"l\":[[1,2],[1,5]]}", 'y'},
      {"any(input.l, it)", "{\"l\":[false,true]}", 'y'},
      {"any(input.any, it)", "{\"any\":[true]}", 'y'},
      {"any(input.l, has(it.x))", "{\"l\":[1,{\"x\":1}]}", 'y'},
  };
  CHECK_ROWS(rows);
}

typedef struct hint_row {
  const char *annotations; /* NULL: none */
  const char *want;        /* readOnly, destructive, idempotent, openWorld */
} hint_row;

static void test_hints(void **state) {
  (void)state;
  const hint_row rows[] = {
      {NULL, "nyny"},
      {"{}", "nyny"},
      {"{\"readOnlyHint\":true}", "ynyy"},
      {"{\"readOnlyHint\":true,\"destructiveHint\":true,\"idempotentHint\":false}", "ynyy"},
      {"{\"readOnlyHint\":false,\"destructiveHint\":false}", "nnny"},
      {"{\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}", "nnyn"},
      {"{\"readOnlyHint\":\"true\",\"openWorldHint\":0}", "nyny"},
      {"{\"readOnlyHint\":true,\"readOnlyHint\":true}", "nyny"},
      {"{\"readonlyhint\":true}", "nyny"},
      {"[true]", "nyny"},
  };
  const char *whens[] = {"annotations.readOnlyHint", "annotations.destructiveHint", "annotations['idempotentHint']",
                         "annotations.openWorldHint == true"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    world w;
    world_init(&w, "t", LT_STR("{}"), rows[i].annotations);
    for (size_t k = 0; k < 4; k++) {
      if (judge_in(whens[k], &w) != rows[i].want[k]) {
        fail_msg("%s of %s should be %c", whens[k], rows[i].annotations, rows[i].want[k]);
      }
    }
    world_release(&w);
  }
}

/* --- Bounds ------------------------------------------------------------------------------------------------------- */

static char *repeat(const char *first, const char *each, size_t count, const char *last) {
  lt_buf buf;
  lt_buf_init(&buf, 128 * LT_MIB);
  lt_buf_addc(&buf, first);
  for (size_t i = 0; i < count; i++) {
    lt_buf_addc(&buf, each);
  }
  lt_buf_addc(&buf, last);
  char *text = lt_buf_take(&buf, NULL);
  assert_non_null(text);
  return text;
}

static char judge_long(const char *when, char *input) {
  char got = judge(when, input);
  lt_mem_free(input);
  return got;
}

/* Past the work that is allowed nothing is known, and so nothing let through. */
static void test_work_is_bounded(void **state) {
  (void)state;
  const char *many = "{\"l\":[\"/tmp/x\"";
  assert_int_equal(judge_long("all(input.l, it within '/tmp')", repeat(many, ",\"/tmp/x\"", 10000, "]}")), 'y');
  assert_int_equal(judge_long("all(input.l, it within '/tmp')", repeat(many, ",\"/tmp/x\"", 1000000, "]}")), '?');
  assert_int_equal(judge_long("any(input.l, any(input.l, it == 1))", repeat("{\"l\":[0", ",0", 5000, "]}")), '?');
  assert_int_equal(judge_long("length(input.l) < 9000000", repeat("{\"l\":\"", "0123456789", 800000, "\"}")), 'y');
  assert_int_equal(judge_long("length(input.l) < 90000000", repeat("{\"l\":\"", "0123456789", 3000000, "\"}")), '?');
  assert_int_equal(judge_long("input.l matches '*a*a*a*b'", repeat("{\"l\":\"", "aaaaaaaaaa", 3000000, "\"}")), '?');
  assert_int_equal(judge_long("input.a == 1", repeat("{\"a\":1", ",\"b\":1", 1000, "}")), 'y');
  assert_int_equal(judge_long("input.a == 1", repeat("{\"a\":1", ",\"b\":1", 1200000, "}")), '?');
  assert_int_equal(judge_long("input.a == 'x'", repeat("{\"a\":\"", "\\u0078", 1000000, "\"}")), 'n');
}

/* A call that uses all the work up hides nothing from the rules behind, not what the tool says of itself either. */
static void test_annotations_behind_too_much_work(void **state) {
  (void)state;
  world w;
  const lt_policy_rule rules[] = {
      {.match = LT_STR("*"), .when = LT_STR("any(input.l, any(input.l, it == 1))"), .action = LT_ACTION_ALLOW},
      {.match = LT_STR("*"), .when = LT_STR("!annotations.openWorldHint"), .action = LT_ACTION_DENY}};
  char *input = repeat("{\"l\":[0", ",0", 5000, "]}");
  lt_policy *policy = policy_of(rules, 2);
  world_init(&w, "a.b", lt_str_of(input), "{\"openWorldHint\":false}");
  lt_policy_decision decision = lt_policy_decide(policy, &w.call);
  assert_int_equal(decision.action, LT_ACTION_DENY);
  assert_true(decision.unsure);
  world_release(&w);
  lt_policy_free(policy);
  lt_mem_free(input);
}

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

/* --- What is refused ---------------------------------------------------------------------------------------------- */

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
      cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_what_cannot_be_compared),
      cmocka_unit_test(test_numbers_are_exact),
      cmocka_unit_test(test_members_given_twice),
      cmocka_unit_test(test_in),
      cmocka_unit_test(test_matches),
      cmocka_unit_test(test_within),
      cmocka_unit_test(test_nul),
      cmocka_unit_test(test_length),
      cmocka_unit_test(test_has),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_kleene),
      cmocka_unit_test(test_bare_operands),
      cmocka_unit_test(test_any_and_all),
      cmocka_unit_test(test_hints),
      cmocka_unit_test(test_work_is_bounded),
      cmocka_unit_test(test_annotations_behind_too_much_work),
      cmocka_unit_test(test_size_is_bounded),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_refused_rules),
      cmocka_unit_test(test_no_condition),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_no_memory_to_decide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
