/* A rule's condition, compiled; internal to tool/policy/.
 *
 * A condition always ends: its only loops go over the items of an array in the call, and its size, depth and work are
 * bounded. policy_judge.h says whether it holds for a call.
 */
#ifndef LT_TOOL_POLICY_POLICY_CONDITION_H
#define LT_TOOL_POLICY_POLICY_CONDITION_H

#include "base/arena.h"
#include "tool/policy/policy.h"

typedef enum lt_policy_operand_kind {
  LT_OPERAND_LITERAL,
  LT_OPERAND_INPUT,
  LT_OPERAND_ANNOTATIONS,
  LT_OPERAND_HINT, /* one of the four hints with a default */
  LT_OPERAND_TOOL_ID,
  LT_OPERAND_IT, /* the item of the innermost any() or all() */
} lt_policy_operand_kind;

typedef enum lt_policy_hint {
  LT_HINT_READ_ONLY,
  LT_HINT_DESTRUCTIVE,
  LT_HINT_IDEMPOTENT,
  LT_HINT_OPEN_WORLD,
  LT_HINT_COUNT
} lt_policy_hint;

extern const char *const lt_policy_hint_names[LT_HINT_COUNT];

/* One step of a path into a value: .key, ["key"] or [index]. */
typedef struct lt_policy_path_step {
  const struct lt_policy_path_step *next;
  lt_str key;
  uint32_t index;
  bool is_index;
} lt_policy_path_step;

typedef struct lt_policy_operand {
  struct lt_policy_operand *next; /* next in a list */
  lt_policy_operand_kind kind;
  lt_json_type type; /* of a literal */
  lt_str text;       /* of a literal: a string's characters, a number as written */
  lt_policy_hint hint;
  const lt_policy_path_step *steps;
  bool is_length; /* length(...) of the value */
} lt_policy_operand;

typedef enum lt_policy_condition_kind {
  LT_COND_OR,
  LT_COND_AND,
  LT_COND_NOT,
  LT_COND_TRUTH, /* `left` itself is true */
  LT_COND_COMPARE,
  LT_COND_IN,
  LT_COND_MATCHES,
  LT_COND_WITHIN,
  LT_COND_HAS,
  LT_COND_ANY, /* of the items of `left`, by the condition `first` */
  LT_COND_ALL,
} lt_policy_condition_kind;

typedef enum lt_policy_comparison {
  LT_CMP_EQ,
  LT_CMP_NE,
  LT_CMP_LT,
  LT_CMP_LE,
  LT_CMP_GT,
  LT_CMP_GE
} lt_policy_comparison;

typedef struct lt_policy_condition {
  struct lt_policy_condition *next;  /* next operand of the same OR or AND */
  struct lt_policy_condition *first; /* first inner condition */
  lt_policy_condition_kind kind;
  lt_policy_comparison op;
  const lt_policy_operand *left;
  const lt_policy_operand *right; /* right side of a comparison, or the list of an IN */
  lt_str text;                    /* a pattern, or a folder: normalised, without a slash at its end */
} lt_policy_condition;

/* Compiles. Errors: LT_E_INVALID, with the place and what was expected; LT_E_LIMIT; LT_E_NOMEM. Owns: the arena; `text`
 * is not kept. */
lt_status lt_policy_parse_condition(lt_arena *arena, lt_str text, const lt_policy_condition **ret_cond, lt_err *err);

#endif
