#include "tool/policy/policy.h"

#include "base/limits.h"
#include "base/mem.h"
#include "tool/policy/policy_judge.h"
#include "tool/policy/policy_set.h"
#include "tool/policy/policy_text.h"

/* --- Compiling ---------------------------------------------------------------------------------------------------- */

static lt_status policy_no_memory(lt_err *err) {
  return lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status policy_keep(lt_policy *policy, lt_str s, lt_str *ret, lt_err *err) {
  lt_str copy = lt_arena_dup(&policy->arena, s);
  if (copy.p == NULL) {
    return policy_no_memory(err);
  }
  *ret = copy;
  return LT_OK;
}

/* `which` is "policy" or "budgets". */
static lt_status policy_keep_match(lt_policy *policy, const char *which, size_t index, lt_str match, lt_str *ret,
                                   lt_err *err) {
  if (match.n == 0) {
    return lt_fail(err, LT_E_INVALID, "tools.%s[%zu].match: empty; \"*\" is every tool", which, index);
  }
  if (match.n > LT_POLICY_MATCH_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "tools.%s[%zu].match: over %lu bytes", which, index, LT_POLICY_MATCH_MAX_BYTES);
  }
  return policy_keep(policy, match, ret, err);
}

static lt_status policy_compile_rule(lt_policy *policy, size_t i, const lt_policy_rule *rule, lt_err *err) {
  lt_policy_compiled_rule *made = &policy->rules[i];
  made->action = rule->action;
  LT_TRY(policy_keep_match(policy, "policy", i, rule->match, &made->match, err));
  if (rule->reason.n > LT_POLICY_REASON_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "tools.policy[%zu].reason: over %lu bytes", i, LT_POLICY_REASON_MAX_BYTES);
  }
  LT_TRY(policy_keep(policy, rule->reason, &made->reason, err));
  lt_str when = lt_str_trim(rule->when);
  lt_err fault = LT_ERR_INIT;
  if (when.n > 0 && lt_policy_parse_condition(&policy->arena, when, &made->when, &fault) != LT_OK) {
    return lt_fail(err, fault.status, "tools.policy[%zu].when: %s", i, fault.msg);
  }
  return LT_OK;
}

static lt_status policy_compile_budget(lt_policy *policy, size_t i, const lt_policy_budget *budget, lt_err *err) {
  policy->budgets[i] = *budget;
  LT_TRY(policy_keep_match(policy, "budgets", i, budget->match, &policy->budgets[i].match, err));
  if (budget->calls < 0 || budget->per_minute < 0) {
    return lt_fail(err, LT_E_INVALID, "tools.budgets[%zu].%s: must not be negative", i,
                   budget->calls < 0 ? "calls" : "perMinute");
  }
  if (budget->per_minute > LT_BUDGET_RATE_MAX) {
    return lt_fail(err, LT_E_LIMIT, "tools.budgets[%zu].perMinute: at most %d", i, LT_BUDGET_RATE_MAX);
  }
  return LT_OK;
}

static lt_status policy_compile(lt_policy *policy, const lt_policy_rule *rules, const lt_policy_budget *budgets,
                                lt_err *err) {
  policy->rules = lt_arena_zalloc(&policy->arena, policy->count, sizeof(*policy->rules));
  policy->budgets = lt_arena_zalloc(&policy->arena, policy->budget_count, sizeof(*policy->budgets));
  if (policy->rules == NULL || policy->budgets == NULL) {
    return policy_no_memory(err);
  }
  for (size_t i = 0; i < policy->count; i++) {
    LT_TRY(policy_compile_rule(policy, i, &rules[i], err));
  }
  for (size_t i = 0; i < policy->budget_count; i++) {
    LT_TRY(policy_compile_budget(policy, i, &budgets[i], err));
  }
  return LT_OK;
}

lt_status lt_policy_new(const lt_policy_rule *rules, size_t count, const lt_policy_budget *budgets, size_t budget_count,
                        lt_policy **ret_policy, lt_err *err) {
  if (count > LT_POLICY_RULES_MAX || budget_count > LT_POLICY_RULES_MAX) {
    return lt_fail(err, LT_E_LIMIT, "tools.%s: at most %d are read", count > LT_POLICY_RULES_MAX ? "policy" : "budgets",
                   LT_POLICY_RULES_MAX);
  }
  lt_policy *policy = lt_mem_zalloc(1, sizeof(*policy));
  if (policy == NULL) {
    return policy_no_memory(err);
  }
  lt_arena_init(&policy->arena, LT_POLICY_MEMORY_BYTES);
  policy->count = count;
  policy->budget_count = budget_count;
  lt_status status = policy_compile(policy, rules, budgets, err);
  if (status != LT_OK) {
    lt_policy_free(policy);
    return status;
  }
  *ret_policy = policy;
  return LT_OK;
}

void lt_policy_free(lt_policy *policy) {
  if (policy != NULL) {
    lt_arena_release(&policy->arena);
    lt_mem_free(policy);
  }
}

/* --- Deciding ----------------------------------------------------------------------------------------------------- */

lt_policy_decision lt_policy_decide(const lt_policy *policy, const lt_policy_call *call) {
  lt_policy_decision decision = {.action = call->needs_approval ? LT_ACTION_ASK : LT_ACTION_ALLOW, .rule = SIZE_MAX};
  lt_policy_judge judge;
  lt_policy_judge_init(&judge, call);
  for (size_t i = 0; policy != NULL && i < policy->count; i++) {
    const lt_policy_compiled_rule *rule = &policy->rules[i];
    if (!lt_policy_glob(rule->match, call->tool)) {
      continue;
    }
    lt_policy_truth truth = rule->when != NULL ? lt_policy_judge_condition(&judge, rule->when) : LT_TRUTH_YES;
    if (truth == LT_TRUTH_YES || (truth == LT_TRUTH_UNKNOWN && rule->action != LT_ACTION_ALLOW)) {
      decision = (lt_policy_decision){rule->action, i, rule->reason, truth == LT_TRUTH_UNKNOWN};
      break;
    }
  }
  lt_policy_judge_release(&judge);
  return decision;
}
