#include "tool/policy/policy.h"

#include <stdarg.h>
#include <stdio.h>

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

/* Where a rule or budget is, for messages. */
typedef struct policy_place {
  lt_str file;       /* may be empty */
  const char *which; /* "policy" or "budgets" */
  size_t index;
} policy_place;

static lt_status policy_fail(const policy_place *place, lt_status status, lt_err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static lt_status policy_fail(const policy_place *place, lt_status status, lt_err *err, const char *fmt, ...) {
  char what[LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  return lt_fail(err, status, "%.*s%stools.%s[%zu].%s", LT_STR_ARG(place->file), place->file.n > 0 ? ": " : "",
                 place->which, place->index, what);
}

static lt_status policy_keep_match(lt_policy *policy, const policy_place *place, lt_str match, lt_str *ret,
                                   lt_err *err) {
  if (match.n == 0) {
    return policy_fail(place, LT_E_INVALID, err, "match: empty; \"*\" is every tool");
  }
  if (match.n > LT_POLICY_MATCH_MAX_BYTES) {
    return policy_fail(place, LT_E_LIMIT, err, "match: over %lu bytes", LT_POLICY_MATCH_MAX_BYTES);
  }
  return policy_keep(policy, match, ret, err);
}

/* Appends the rule to its layer. */
static lt_status policy_add_rule(lt_policy *policy, const lt_policy_rule *rule, lt_err *err) {
  lt_policy_rules *layer = &policy->layers[rule->layer];
  const policy_place place = {layer->file, "policy", layer->count};
  lt_policy_compiled_rule *made = &layer->list[layer->count++];
  made->action = rule->action;
  LT_TRY(policy_keep_match(policy, &place, rule->match, &made->match, err));
  if (rule->reason.n > LT_POLICY_REASON_MAX_BYTES) {
    return policy_fail(&place, LT_E_LIMIT, err, "reason: over %lu bytes", LT_POLICY_REASON_MAX_BYTES);
  }
  LT_TRY(policy_keep(policy, rule->reason, &made->reason, err));
  LT_TRY(policy_keep(policy, lt_str_trim(rule->when), &made->when_text, err));
  LT_ERR_VAR(fault);
  if (made->when_text.n > 0 &&
      lt_policy_parse_condition(&policy->arena, made->when_text, &made->when, &fault) != LT_OK) {
    return policy_fail(&place, fault.status, err, "when: %s", fault.msg);
  }
  return LT_OK;
}

static lt_status policy_compile_budget(lt_policy *policy, lt_policy_budget *made, const lt_policy_budget *budget,
                                       size_t index, lt_err *err) {
  const policy_place place = {policy->layers[budget->layer].file, "budgets", index};
  *made = *budget;
  LT_TRY(policy_keep_match(policy, &place, budget->match, &made->match, err));
  if (budget->calls < 0 || budget->per_minute < 0) {
    return policy_fail(&place, LT_E_INVALID, err, "%s: must not be negative",
                       budget->calls < 0 ? "calls" : "perMinute");
  }
  if (budget->per_minute > LT_BUDGET_RATE_MAX) {
    return policy_fail(&place, LT_E_LIMIT, err, "perMinute: at most %d", LT_BUDGET_RATE_MAX);
  }
  return LT_OK;
}

static lt_status policy_compile_rules(lt_policy *policy, const lt_policy_source *source, lt_err *err) {
  for (unsigned layer = 0; layer < LT_POLICY_LAYERS; layer++) {
    lt_policy_rules *rules = &policy->layers[layer];
    LT_TRY(policy_keep(policy, source->files[layer], &rules->file, err));
    rules->list = lt_arena_zalloc(&policy->arena, source->count, sizeof *rules->list);
    if (rules->list == NULL) {
      return policy_no_memory(err);
    }
  }
  for (size_t i = 0; i < source->count; i++) {
    LT_TRY(policy_add_rule(policy, &source->rules[i], err));
  }
  return LT_OK;
}

static lt_status policy_compile_budgets(lt_policy *policy, const lt_policy_source *source, lt_err *err) {
  size_t counts[LT_POLICY_LAYERS] = {0};
  policy->budgets = lt_arena_zalloc(&policy->arena, source->budget_count, sizeof *policy->budgets);
  if (policy->budgets == NULL) {
    return policy_no_memory(err);
  }
  policy->budget_count = source->budget_count;
  for (size_t i = 0; i < source->budget_count; i++) {
    const lt_policy_budget *budget = &source->budgets[i];
    LT_TRY(policy_compile_budget(policy, &policy->budgets[i], budget, counts[budget->layer]++, err));
  }
  return LT_OK;
}

static lt_status policy_compile(lt_policy *policy, const lt_policy_source *source, lt_err *err) {
  LT_TRY(policy_compile_rules(policy, source, err));
  return policy_compile_budgets(policy, source, err);
}

/* Each layer has its own room: the rules of a project's file leave that of the user's as it is. */
static lt_status policy_check_counts(const lt_policy_source *source, lt_err *err) {
  size_t rules[LT_POLICY_LAYERS] = {0};
  size_t budgets[LT_POLICY_LAYERS] = {0};
  for (size_t i = 0; i < source->count; i++) {
    rules[source->rules[i].layer]++;
  }
  for (size_t i = 0; i < source->budget_count; i++) {
    budgets[source->budgets[i].layer]++;
  }
  for (unsigned layer = 0; layer < LT_POLICY_LAYERS; layer++) {
    lt_str file = source->files[layer];
    if (rules[layer] > LT_POLICY_RULES_MAX || budgets[layer] > LT_POLICY_RULES_MAX) {
      return lt_fail(err, LT_E_LIMIT, "%.*s%stools.%s: at most %d are read", LT_STR_ARG(file), file.n > 0 ? ": " : "",
                     rules[layer] > LT_POLICY_RULES_MAX ? "policy" : "budgets", LT_POLICY_RULES_MAX);
    }
  }
  return LT_OK;
}

lt_status lt_policy_compile(const lt_policy_source *source, lt_policy **ret_policy, lt_err *err) {
  LT_TRY(policy_check_counts(source, err));
  lt_policy *policy = lt_mem_zalloc(1, sizeof(*policy));
  if (policy == NULL) {
    return policy_no_memory(err);
  }
  lt_arena_init(&policy->arena, LT_POLICY_MEMORY_BYTES);
  lt_status status = policy_compile(policy, source, err);
  if (status != LT_OK) {
    lt_policy_free(policy);
    return status;
  }
  *ret_policy = policy;
  return LT_OK;
}

lt_status lt_policy_new(const lt_policy_rule *rules, size_t count, const lt_policy_budget *budgets, size_t budget_count,
                        lt_policy **ret_policy, lt_err *err) {
  const lt_policy_source source = {.rules = rules, .count = count, .budgets = budgets, .budget_count = budget_count};
  return lt_policy_compile(&source, ret_policy, err);
}

void lt_policy_free(lt_policy *policy) {
  while (policy != NULL) {
    lt_policy *before = policy->replaced;
    lt_arena_release(&policy->arena);
    lt_mem_free(policy);
    policy = before;
  }
}

void lt_policy_replace(lt_policy *policy, lt_policy *with) {
  lt_policy old = *policy;
  *policy = *with;
  *with = old;
  policy->replaced = with;
}

/* --- Deciding ----------------------------------------------------------------------------------------------------- */

#define POLICY_NO_RULE SIZE_MAX

/* The first rule of a layer that holds. */
static lt_policy_decision policy_decide_layer(const lt_policy *policy, unsigned layer, lt_policy_judge *judge,
                                              lt_str tool) {
  const lt_policy_rules *rules = &policy->layers[layer];
  for (size_t i = 0; i < rules->count; i++) {
    const lt_policy_compiled_rule *rule = &rules->list[i];
    if (!lt_policy_glob(rule->match, tool)) {
      continue;
    }
    lt_policy_truth truth = rule->when != NULL ? lt_policy_judge_condition(judge, rule->when) : LT_TRUTH_YES;
    if (truth == LT_TRUTH_YES || (truth == LT_TRUTH_UNKNOWN && rule->action != LT_ACTION_ALLOW)) {
      return (lt_policy_decision){rule->action, i, layer, rule->reason, truth == LT_TRUTH_UNKNOWN};
    }
  }
  return (lt_policy_decision){.rule = POLICY_NO_RULE};
}

/* A layer without a rule for the call says nothing. So a project's `allow` overrides a tool's own wish for an approval,
 * but never a rule of the user. */
lt_policy_decision lt_policy_decide(const lt_policy *policy, const lt_policy_call *call) {
  lt_policy_decision strictest = {.rule = POLICY_NO_RULE};
  lt_policy_judge judge;
  lt_policy_judge_init(&judge, call);
  for (unsigned layer = 0; policy != NULL && layer < LT_POLICY_LAYERS; layer++) {
    lt_policy_decision decision = policy_decide_layer(policy, layer, &judge, call->tool);
    bool decides = decision.rule != POLICY_NO_RULE;
    if (decides && (strictest.rule == POLICY_NO_RULE || decision.action > strictest.action)) {
      strictest = decision;
    }
  }
  lt_policy_judge_release(&judge);
  if (strictest.rule == POLICY_NO_RULE) {
    strictest.action = call->needs_approval ? LT_ACTION_ASK : LT_ACTION_ALLOW;
  }
  return strictest;
}

void lt_policy_put_rule(const lt_policy *policy, unsigned layer, size_t rule, lt_buf *out) {
  bool both = policy->layers[LT_POLICY_USER].count > 0 && policy->layers[LT_POLICY_PROJECT].count > 0;
  lt_str file = policy->layers[layer].file;
  lt_buf_printf(out, "tools.policy[%zu]", rule);
  if (both && file.n > 0) {
    lt_buf_printf(out, " in %.*s", LT_STR_ARG(file));
  }
}
