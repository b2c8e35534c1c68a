/* Whether a condition holds for a call: yes, no or unknown; internal to tool/policy/. */
#ifndef LT_TOOL_POLICY_POLICY_JUDGE_H
#define LT_TOOL_POLICY_POLICY_JUDGE_H

#include "base/arena.h"
#include "tool/policy/policy.h"
#include "tool/policy/policy_condition.h"

/* In the order of Kleene's logic: && is the least of two, || the greatest, ! reverses the order. */
typedef enum lt_policy_truth { LT_TRUTH_NO, LT_TRUTH_UNKNOWN, LT_TRUTH_YES } lt_policy_truth;

/* The judging of one call, by one condition after another. */
typedef struct lt_policy_judge {
  const lt_policy_call *call;
  lt_arena arena;      /* the characters of strings that are written with escapes */
  uint64_t steps_left; /* of work; at 0 everything is unknown */
  lt_json item;        /* of the innermost any() or all() */
  bool hints[LT_HINT_COUNT];
  bool has_read_hints;
} lt_policy_judge;

void lt_policy_judge_init(lt_policy_judge *judge, const lt_policy_call *call);
void lt_policy_judge_release(lt_policy_judge *judge);
lt_policy_truth lt_policy_judge_condition(lt_policy_judge *judge, const lt_policy_condition *cond);

/* Takes steps of work; false: none are left. */
static inline bool lt_policy_judge_spend(lt_policy_judge *judge, uint64_t steps) {
  judge->steps_left = judge->steps_left > steps ? judge->steps_left - steps : 0;
  return judge->steps_left > 0;
}

#endif
