/* The compiled policy, shared by policy.c (decisions) and budget.c (counting).
 */
#ifndef LT_TOOL_POLICY_POLICY_SET_H
#define LT_TOOL_POLICY_POLICY_SET_H

#include "base/arena.h"
#include "tool/policy/policy.h"
#include "tool/policy/policy_condition.h"

typedef struct lt_policy_compiled_rule {
  lt_str match;
  const lt_policy_condition *when; /* NULL: always */
  lt_str reason;
  lt_action action;
} lt_policy_compiled_rule;

struct lt_policy {
  lt_arena arena;
  lt_policy_compiled_rule *rules;
  size_t count;
  lt_policy_budget *budgets;
  size_t budget_count;
};

#endif
