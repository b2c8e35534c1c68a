/* Parser of operands: literals, paths into the call, length(...); internal to the compiler of conditions. */
#ifndef LT_TOOL_POLICY_POLICY_OPERAND_H
#define LT_TOOL_POLICY_POLICY_OPERAND_H

#include "tool/policy/policy_condition.h"
#include "tool/policy/policy_lex.h"

/* The type of an operand, as far as the text shows it. */
typedef enum lt_policy_type {
  LT_POLICY_ANY,
  LT_POLICY_NULL,
  LT_POLICY_BOOLEAN,
  LT_POLICY_NUMBER,
  LT_POLICY_STRING
} lt_policy_type;

lt_policy_type lt_policy_operand_type(const lt_policy_operand *operand);

/* Whether a literal begins at the current token. */
bool lt_policy_operand_is_literal(const lt_policy_parser *p);

/* Parse an operand at the current token. NULL: the fault is recorded. */
lt_policy_operand *lt_policy_operand_parse(lt_policy_parser *p);
lt_policy_operand *lt_policy_operand_parse_literal(lt_policy_parser *p);
lt_policy_operand *lt_policy_operand_parse_path(lt_policy_parser *p);

#endif
