#include "tool/policy/policy_explain.h"

#include "base/limits.h"
#include "tool/policy/policy_judge.h"
#include "tool/policy/policy_set.h"
#include "tool/policy/policy_text.h"

/* --- Views -------------------------------------------------------------------------------------------------------- */

static lt_policy_view explain_view_rule(const lt_policy *policy, unsigned layer, size_t index) {
  const lt_policy_compiled_rule *rule = &policy->layers[layer].list[index];
  return (lt_policy_view){.layer = layer,
                          .index = index,
                          .match = rule->match,
                          .action = rule->action,
                          .when = rule->when_text,
                          .reason = rule->reason,
                          .is_conditional = rule->when != NULL};
}

static lt_policy_view explain_view_budget(const lt_policy *policy, size_t i) {
  const lt_policy_budget *budget = &policy->budgets[i];
  size_t index = 0;
  for (size_t k = 0; k < i; k++) {
    index += policy->budgets[k].layer == budget->layer;
  }
  return (lt_policy_view){.layer = budget->layer,
                          .index = index,
                          .match = budget->match,
                          .is_budget = true,
                          .calls = budget->calls,
                          .per_minute = budget->per_minute};
}

lt_str lt_policy_file(const lt_policy *policy, unsigned layer) {
  return policy != NULL ? policy->layers[layer].file : LT_STR("");
}

bool lt_policy_view_at(const lt_policy *policy, size_t i, lt_policy_view *ret_view) {
  for (unsigned layer = 0; policy != NULL && layer < LT_POLICY_LAYERS; layer++) {
    size_t count = policy->layers[layer].count;
    if (i < count) {
      *ret_view = explain_view_rule(policy, layer, i);
      return true;
    }
    i -= count;
  }
  if (policy == NULL || i >= policy->budget_count) {
    return false;
  }
  *ret_view = explain_view_budget(policy, i);
  return true;
}

/* --- The rules for one tool --------------------------------------------------------------------------------------- */

static bool explain_reads_input(const lt_policy_operand *operand) {
  for (; operand != NULL; operand = operand->next) {
    if (operand->kind == LT_OPERAND_INPUT || operand->kind == LT_OPERAND_IT) {
      return true;
    }
  }
  return false;
}

/* Its depth is bounded by LT_POLICY_DEPTH_MAX. */
static bool explain_depends_on_input(const lt_policy_condition *condition) {
  for (; condition != NULL; condition = condition->next) {
    if (explain_reads_input(condition->left) || explain_reads_input(condition->right) ||
        explain_depends_on_input(condition->first)) {
      return true;
    }
  }
  return false;
}

/* Whether a rule without a look at the input holds for every call of the tool, or for none. */
static bool explain_holds(lt_policy_judge *judge, const lt_policy_compiled_rule *rule) {
  lt_policy_truth truth = rule->when != NULL ? lt_policy_judge_condition(judge, rule->when) : LT_TRUTH_YES;
  return truth == LT_TRUTH_YES || (truth == LT_TRUTH_UNKNOWN && rule->action != LT_ACTION_ALLOW);
}

static size_t explain_layer(const lt_policy *policy, unsigned layer, lt_policy_judge *judge, lt_str tool,
                            lt_policy_view *ret_views, size_t max) {
  const lt_policy_rules *rules = &policy->layers[layer];
  size_t n = 0;
  for (size_t i = 0; i < rules->count; i++) {
    const lt_policy_compiled_rule *rule = &rules->list[i];
    if (!lt_policy_glob(rule->match, tool)) {
      continue;
    }
    bool is_conditional = explain_depends_on_input(rule->when);
    if (!is_conditional && !explain_holds(judge, rule)) {
      continue;
    }
    lt_policy_view *view = &ret_views[n < max ? n : max - 1];
    *view = explain_view_rule(policy, layer, i);
    view->is_conditional = is_conditional;
    n++;
    if (!is_conditional) {
      break;
    }
  }
  return n;
}

size_t lt_policy_explain(const lt_policy *policy, unsigned layer, const lt_policy_call *call, lt_policy_view *ret_views,
                         size_t max) {
  if (policy == NULL) {
    return 0;
  }
  lt_policy_judge judge;
  lt_policy_judge_init(&judge, call);
  size_t count = explain_layer(policy, layer, &judge, call->tool, ret_views, max);
  lt_policy_judge_release(&judge);
  return count;
}
