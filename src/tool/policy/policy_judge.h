/* Whether a condition holds for a call: yes, no or unknown; internal to tool/policy/. */
#ifndef LT_TOOL_POLICY_POLICY_JUDGE_H
#define LT_TOOL_POLICY_POLICY_JUDGE_H

#include "base/arena.h"
#include "tool/policy/policy.h"
#include "tool/policy/policy_condition.h"

/* Three-valued logic (Kleene): && is the minimum of two values, || the maximum, ! reverses the order. */
typedef enum lt_policy_truth { LT_TRUTH_NO, LT_TRUTH_UNKNOWN, LT_TRUTH_YES } lt_policy_truth;

/* The evaluation of conditions for one call. */
typedef struct lt_policy_judge {
  const lt_policy_call *call;
  lt_arena arena;      /* characters of strings with escapes */
  uint64_t steps_left; /* work that is left; at 0 every result is unknown */
  lt_json item;        /* the item of the innermost any() or all() */
  bool hints[LT_HINT_COUNT];
  bool has_read_hints;
} lt_policy_judge;

void lt_policy_judge_init(lt_policy_judge *judge, const lt_policy_call *call);
void lt_policy_judge_release(lt_policy_judge *judge);
lt_policy_truth lt_policy_judge_condition(lt_policy_judge *judge, const lt_policy_condition *cond);

/* Uses up steps of work. False: no steps are left. */
static inline bool lt_policy_judge_spend(lt_policy_judge *judge, uint64_t steps) {
  judge->steps_left = judge->steps_left > steps ? judge->steps_left - steps : 0;
  return judge->steps_left > 0;
}

#endif
