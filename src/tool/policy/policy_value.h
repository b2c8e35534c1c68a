/* The values that a condition names, found in a call. What is missing, given twice or too much work to look at is
 * unsure; internal to tool/policy/. */
#ifndef LT_TOOL_POLICY_POLICY_VALUE_H
#define LT_TOOL_POLICY_POLICY_VALUE_H

#include "tool/policy/policy_judge.h"

/* A value to compare. LT_JSON_NONE: it is missing or unsure. */
typedef struct lt_policy_value {
  lt_json_type type;
  lt_json json;    /* of a value in the call */
  lt_str text;     /* of a literal: a string's characters, a number as written */
  char digits[24]; /* of a number that is neither: a length */
} lt_policy_value;

lt_policy_value lt_policy_value_of(lt_policy_judge *judge, const lt_policy_operand *operand);

/* The characters of a string. False: it is no string, or it has a NUL in it: tools that are written in C see its end
 * there, others do not, so the string is unsure. */
bool lt_policy_value_text(lt_policy_judge *judge, const lt_policy_value *value, lt_str *ret);

/* Whether the operand, a path, leads to a value. */
typedef enum lt_policy_finding { LT_POLICY_FOUND, LT_POLICY_ABSENT, LT_POLICY_UNSURE } lt_policy_finding;
lt_policy_finding lt_policy_value_find(lt_policy_judge *judge, const lt_policy_operand *operand);

#endif
