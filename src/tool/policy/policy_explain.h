/* What a compiled policy says, for people: its rules and budgets one by one, and those that can decide a tool's calls.
 *
 * Loop thread only; nothing here suspends. Views borrow from the policy.
 */
#ifndef LT_TOOL_POLICY_POLICY_EXPLAIN_H
#define LT_TOOL_POLICY_POLICY_EXPLAIN_H

#include "tool/policy/policy.h"

/* A rule or a budget. */
typedef struct lt_policy_view {
  unsigned layer;
  size_t index; /* zero-based, in its layer */
  lt_str match;
  bool is_budget;
  int64_t calls, per_minute; /* of a budget */
  lt_action action;          /* of a rule ... */
  lt_str when;               /* ... its condition as written; may be empty */
  lt_str reason;             /* ... may be empty */
  bool is_conditional;       /* ... the input decides whether it holds; otherwise it holds for every call */
} lt_policy_view;

/* The file of a layer; may be empty. `policy` may be NULL. */
lt_str lt_policy_file(const lt_policy *policy, unsigned layer);
/* The i-th rule or budget: the user's rules, the project's rules, then the budgets. False: there is none. `policy` may
 * be NULL. */
bool lt_policy_view_at(const lt_policy *policy, size_t i, lt_policy_view *ret_view);

/* Finds the rules of a layer that can decide a call of a tool, in their order: any number of conditional ones, then at
 * most one that holds for every call. The call's input is not used. Returns the number of rules; at most `max` of them
 * are written, and the last one is always among them. `max` is not 0. `policy` may be NULL. */
size_t lt_policy_explain(const lt_policy *policy, unsigned layer, const lt_policy_call *call, lt_policy_view *ret_views,
                         size_t max);

#endif
