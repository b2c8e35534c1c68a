/* The compiled policy, shared by policy.c (decisions) and budget.c (counting).
 */
#ifndef LT_TOOL_POLICY_POLICY_SET_H
#define LT_TOOL_POLICY_POLICY_SET_H

#include "base/arena.h"
#include "tool/policy/policy.h"
#include "tool/policy/policy_condition.h"

typedef struct lt_policy_compiled_rule {
  lt_str match;
  lt_str when_text;
  const lt_policy_condition *when; /* NULL: always */
  lt_str reason;
  lt_action action;
} lt_policy_compiled_rule;

/* The rules of one layer. */
typedef struct lt_policy_rules {
  lt_str file;
  lt_policy_compiled_rule *list;
  size_t count;
} lt_policy_rules;

struct lt_policy {
  lt_arena arena;
  lt_policy_rules layers[LT_POLICY_LAYERS];
  lt_policy_budget *budgets; /* of all layers */
  size_t budget_count;
  lt_policy *replaced; /* those before, which budgets and reasons still borrow */
};

#endif
