/* Finds the values of a condition in a call. A value is unsure when it is missing, occurs twice or needs too much work.
 * Internal to tool/policy/. */
#ifndef LT_TOOL_POLICY_POLICY_VALUE_H
#define LT_TOOL_POLICY_POLICY_VALUE_H

#include "tool/policy/policy_judge.h"

/* A value to compare. LT_JSON_NONE: the value is missing or unsure. */
typedef struct lt_policy_value {
  lt_json_type type;
  lt_json json;    /* a value in the call */
  lt_str text;     /* a literal: a string's characters, or a number as written */
  char digits[24]; /* a length as a number's text */
} lt_policy_value;

lt_policy_value lt_policy_value_of(lt_policy_judge *judge, const lt_policy_operand *operand);

/* The characters of a string. False: the value is no string, or it contains a NUL. A tool in C ends the string at the
 * NUL and other tools do not, so such a string is unsure. */
bool lt_policy_value_text(lt_policy_judge *judge, const lt_policy_value *value, lt_str *ret);

/* Whether the operand, a path, leads to a value. */
typedef enum lt_policy_finding { LT_POLICY_FOUND, LT_POLICY_ABSENT, LT_POLICY_UNSURE } lt_policy_finding;
lt_policy_finding lt_policy_value_find(lt_policy_judge *judge, const lt_policy_operand *operand);

#endif
