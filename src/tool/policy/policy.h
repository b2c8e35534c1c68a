/* Policy: which calls are made, which need an approval first, which are never made; and how many a run may make.
 *
 * Rules come from the configuration (`tools.policy`), are compiled once and immutable; the first one that matches a
 * call decides. A rule matches a tool's id by glob and, when it has a condition, the call by that. A call that no rule
 * matches is allowed, or needs an approval when the tool itself says so. docs/guide/policy.md describes the
 * language to users. Loop thread only; nothing here suspends.
 */
#ifndef LT_TOOL_POLICY_POLICY_H
#define LT_TOOL_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

typedef enum lt_action { LT_ACTION_ALLOW, LT_ACTION_ASK, LT_ACTION_DENY } lt_action;

typedef struct lt_policy_rule {
  lt_str match;  /* glob on tool ids: "*" any characters, "?" one */
  lt_str when;   /* a condition, such as `input.amount <= 1000 && !annotations.destructiveHint`; may be empty */
  lt_str reason; /* shown with the question or the refusal; may be empty */
  lt_action action;
} lt_policy_rule;

/* A limit for the calls of all tools that match, together. 0: no limit. */
typedef struct lt_policy_budget {
  lt_str match;
  int64_t calls;      /* per run */
  int64_t per_minute; /* in any 60 seconds of a run */
} lt_policy_budget;

typedef struct lt_policy lt_policy;

/* Compiles. Borrows nothing. `count` and `budget_count` may be 0.
 * Errors: LT_E_INVALID with the rule's number from 0, such as "tools.policy[2].when: expected a value after `<=`, but
 * it ends there"; LT_E_LIMIT; LT_E_NOMEM. Owns: the caller, lt_policy_free. */
lt_status lt_policy_new(const lt_policy_rule *rules, size_t count, const lt_policy_budget *budgets, size_t budget_count,
                        lt_policy **ret_policy, lt_err *err);
void lt_policy_free(lt_policy *policy); /* NULL is allowed */

/* What rules see of a call. */
typedef struct lt_policy_call {
  lt_str tool;         /* its id */
  lt_json input;       /* an object */
  lt_json annotations; /* an object as MCP has it, or NONE; hints that are missing have the defaults of the protocol
                          (2025-11-25, ToolAnnotations): readOnlyHint false, destructiveHint true, ... */
  bool needs_approval; /* the tool itself says so */
} lt_policy_call;

typedef struct lt_policy_decision {
  lt_action action;
  size_t rule;   /* index of the rule that decided; SIZE_MAX: none did */
  lt_str reason; /* the rule's; may be empty. Borrows: the policy */
  bool unsure;   /* its condition was unknown */
} lt_policy_decision;

/* `policy` may be NULL: no rules. A condition that is unknown (a value is missing or of another type) counts as met for
 * ask and deny, and as not met for allow: an unknown call is never let through. */
lt_policy_decision lt_policy_decide(const lt_policy *policy, const lt_policy_call *call);

/* --- Budgets ------------------------------------------------------------------------------------------------------ */
/* What one run has used of the policy's budgets. */
typedef struct lt_budget lt_budget;

/* Borrows: the policy, which may be NULL. NULL when there is no memory. Owns: the caller, lt_budget_free. */
lt_budget *lt_budget_new(const lt_policy *policy);
void lt_budget_free(lt_budget *budget); /* NULL is allowed */
/* Counts a call for every budget that matches, or refuses it and counts it for none: LT_E_LIMIT, with the budget and,
 * for rates, after how long to try again; LT_E_NOMEM. `budget` may be NULL: no limits. `now_ms` is of a clock that only
 * goes forward. */
lt_status lt_budget_take(lt_budget *budget, lt_str tool, uint64_t now_ms, lt_err *err);

#endif
