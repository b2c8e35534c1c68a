/* Policy: decides which calls are allowed, need an approval or are denied, and how many calls a run may make.
 *
 * Rules come from the configuration (`tools.policy`) and are compiled; lt_policy_replace alone changes them. They have
 * two layers, the user's configuration and the project's. In each layer the first rule that matches a call decides, and
 * the stricter of the two decisions wins. A rule matches a tool's id by a glob; its condition, if any, must hold for
 * the call. A call without a matching rule in any layer is allowed, unless the tool itself needs an approval.
 * docs/guide/policy.md describes the language to users. Loop thread only; nothing here suspends.
 */
#ifndef LT_TOOL_POLICY_POLICY_H
#define LT_TOOL_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

/* In the order of strictness. */
typedef enum lt_action { LT_ACTION_ALLOW, LT_ACTION_ASK, LT_ACTION_DENY } lt_action;

/* Whose configuration a rule or budget is from. */
#define LT_POLICY_USER    0
#define LT_POLICY_PROJECT 1
#define LT_POLICY_LAYERS  2

typedef struct lt_policy_rule {
  lt_str match;  /* glob on tool ids: "*" any characters, "?" one */
  lt_str when;   /* a condition, such as `input.amount <= 1000 && !annotations.destructiveHint`; may be empty */
  lt_str reason; /* shown with the question or the refusal; may be empty */
  lt_action action;
  unsigned layer; /* LT_POLICY_USER or LT_POLICY_PROJECT */
} lt_policy_rule;

/* A limit for the calls of all matching tools together. 0: no limit. */
typedef struct lt_policy_budget {
  lt_str match;
  int64_t calls;      /* per run */
  int64_t per_minute; /* in any 60 seconds of a run */
  unsigned layer;
} lt_policy_budget;

typedef struct lt_policy lt_policy;

/* Rules and budgets in any order of their layers; within a layer the order counts. */
typedef struct lt_policy_source {
  const lt_policy_rule *rules;
  size_t count;
  const lt_policy_budget *budgets;
  size_t budget_count;
  lt_str files[LT_POLICY_LAYERS]; /* each layer's file, for messages; may be empty */
} lt_policy_source;

/* Compiles. Borrows nothing. Errors: LT_E_INVALID with the rule's file and its zero-based index in that file, such as
 * "lathe.yaml: tools.policy[2].when: expected a value after `<=`, but it ends there"; LT_E_LIMIT; LT_E_NOMEM. Owns: the
 * caller, lt_policy_free. */
lt_status lt_policy_compile(const lt_policy_source *source, lt_policy **ret_policy, lt_err *err);
/* The same for rules and budgets of no file. */
lt_status lt_policy_new(const lt_policy_rule *rules, size_t count, const lt_policy_budget *budgets, size_t budget_count,
                        lt_policy **ret_policy, lt_err *err);
void lt_policy_free(lt_policy *policy); /* NULL is allowed */
/* Gives `policy` the rules and budgets of `with`, for all who hold it and from their next call on; a run's budgets stay
 * those that it began with. Owns: `with`, with what it replaces, until lt_policy_free. */
void lt_policy_replace(lt_policy *policy, lt_policy *with);

/* The parts of a call that rules can test. */
typedef struct lt_policy_call {
  lt_str tool;         /* the tool's id */
  lt_json input;       /* an object */
  lt_json annotations; /* an object with MCP's annotations, or NONE; missing hints have the defaults of the protocol
                          (2025-11-25, ToolAnnotations): readOnlyHint false, destructiveHint true, ... */
  bool needs_approval; /* the tool itself needs it */
} lt_policy_call;

typedef struct lt_policy_decision {
  lt_action action;
  size_t rule;    /* zero-based index of the deciding rule in its layer; SIZE_MAX: no rule matched */
  unsigned layer; /* of the deciding rule */
  lt_str reason;  /* the rule's reason; may be empty. Borrows: the policy */
  bool unsure;    /* the rule's condition was unknown */
} lt_policy_decision;

/* `policy` may be NULL: no rules. A condition is unknown when a value is missing or has another type. An unknown
 * condition counts as true for ask and deny, and as false for allow: an unclear call is never allowed. Of two equally
 * strict rules the user's is named. */
lt_policy_decision lt_policy_decide(const lt_policy *policy, const lt_policy_call *call);
/* Appends where a rule is: "tools.policy[2]", and its file when both layers have rules. */
void lt_policy_put_rule(const lt_policy *policy, unsigned layer, size_t rule, lt_buf *out);

/* --- Budgets ------------------------------------------------------------------------------------------------------ */
/* The use of the policy's budgets by one run. */
typedef struct lt_budget lt_budget;

/* Borrows: the policy, which may be NULL. NULL: no memory. Owns: the caller, lt_budget_free. */
lt_budget *lt_budget_new(const lt_policy *policy);
void lt_budget_free(lt_budget *budget); /* NULL is allowed */
/* Whether there are any, that a call may have to be counted for. `budget` may be NULL. */
bool lt_budget_has_limits(const lt_budget *budget);
/* Counts a call for every matching budget. A refused call counts for no budget. LT_E_LIMIT names the budget and, for
 * rates, the time to wait; LT_E_NOMEM. `budget` may be NULL: no limits. `now_ms` comes from a monotonic clock. */
lt_status lt_budget_take(lt_budget *budget, lt_str tool, uint64_t now_ms, lt_err *err);

#endif
