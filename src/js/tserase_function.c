#include "js/tserase_parser.h"

/* --- Targets ------------------------------------------------------------------------------------------------------ */
static bool function_read_default(lt_tserase *p) {
  return !lt_tserase_take(p, '=') || lt_tserase_expression_read_single(p);
}

static bool function_read_element(lt_tserase *p) {
  if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
    lt_tserase_advance(p);
  }
  return lt_tserase_function_read_target(p) && function_read_default(p);
}

static bool function_read_array_target(lt_tserase *p) {
  lt_tserase_advance(p);
  while (!lt_tserase_is(p, ']')) {
    if (!lt_tserase_is(p, ',') && !function_read_element(p)) {
      return false;
    }
    if (!lt_tserase_take(p, ',') && !lt_tserase_is(p, ']')) {
      return false;
    }
  }
  return lt_tserase_take(p, ']');
}

/* `key: target = default`, `name = default`, `...rest` */
static bool function_read_property(lt_tserase *p) {
  if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
    return function_read_element(p);
  }
  if (lt_tserase_peek(p, 1)->punct != ':' && lt_tserase_is_kind(p, LT_JSTOK_WORD)) {
    return function_read_element(p);
  }
  return lt_tserase_function_read_key(p) && lt_tserase_take(p, ':') && function_read_element(p);
}

static bool function_read_object_target(lt_tserase *p) {
  lt_tserase_advance(p);
  while (!lt_tserase_is(p, '}')) {
    if (!function_read_property(p) || (!lt_tserase_take(p, ',') && !lt_tserase_is(p, '}'))) {
      return false;
    }
  }
  return lt_tserase_take(p, '}');
}

bool lt_tserase_function_read_target(lt_tserase *p) {
  if (lt_tserase_is_name(lt_tserase_peek(p, 0))) {
    return lt_tserase_advance(p);
  }
  bool is_array = lt_tserase_is(p, '[');
  if ((!is_array && !lt_tserase_is(p, '{')) || !lt_tserase_enter(p)) {
    return false;
  }
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_target = is_array ? function_read_array_target(p) : function_read_object_target(p);
  lt_tserase_go_outside(p, outside);
  lt_tserase_leave(p);
  return is_target;
}

bool lt_tserase_function_read_key(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  if (token->kind == LT_JSTOK_WORD || token->kind == LT_JSTOK_STRING || token->kind == LT_JSTOK_NUMBER) {
    return lt_tserase_advance(p);
  }
  if (!lt_tserase_take(p, '[')) {
    return false;
  }
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_key = lt_tserase_expression_read_single(p);
  lt_tserase_go_outside(p, outside);
  return is_key && lt_tserase_take(p, ']');
}

/* --- Parameters --------------------------------------------------------------------------------------------------- */
/* `this: T,` is no parameter. */
static bool function_erase_this(lt_tserase *p) {
  size_t start = p->at;
  lt_tserase_advance(p);
  if (!lt_tserase_type_erase_annotation(p)) {
    return false;
  }
  lt_tserase_take(p, ',');
  lt_tserase_erase_from(p, start);
  return true;
}

/* `private a` is a property, too. */
static bool function_is_property(const lt_tserase *p) {
  const lt_tserase_token *next = lt_tserase_peek(p, 1);
  switch (lt_tserase_peek(p, 0)->word) {
    case LT_WORD_PUBLIC:
    case LT_WORD_PRIVATE:
    case LT_WORD_PROTECTED:
    case LT_WORD_READONLY:
    case LT_WORD_OVERRIDE:
      return next->kind == LT_JSTOK_WORD || next->punct == '{' || next->punct == '[';
    default:
      return false;
  }
}

/* `...rest: T[]`, which is the last one. The engine never sees the parameters of a function without a body. */
static bool function_read_rest(lt_tserase *p) {
  lt_tserase_advance(p);
  return lt_tserase_function_read_target(p) && lt_tserase_type_erase_annotation(p) && lt_tserase_is(p, ')');
}

/* Erases `private readonly`. What stands before a pattern, or in a function that is no constructor, is an error. */
static bool function_erase_modifiers(lt_tserase *p, lt_tserase_properties *properties) {
  size_t start = p->at;
  while (function_is_property(p)) {
    lt_tserase_advance(p);
  }
  if (p->at == start) {
    return true;
  }
  if (properties == NULL || !lt_tserase_is_name(lt_tserase_peek(p, 0))) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  uint32_t name = (uint32_t)p->at;
  if (properties->first == 0) {
    properties->first = name;
  } else {
    p->tokens[properties->last].mate = name;
  }
  properties->last = name;
  return true;
}

static bool function_read_parameter(lt_tserase *p, lt_tserase_properties *properties) {
  if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
    return function_read_rest(p);
  }
  if (!function_erase_modifiers(p, properties) || !lt_tserase_function_read_target(p)) {
    return false;
  }
  size_t mark = p->at;
  lt_tserase_take(p, '?');
  lt_tserase_erase_from(p, mark);
  return lt_tserase_type_erase_annotation(p) && function_read_default(p);
}

static bool function_read_parameter_list(lt_tserase *p, lt_tserase_properties *properties) {
  if (lt_tserase_is_word(p, LT_WORD_THIS) && !function_erase_this(p)) {
    return false;
  }
  while (!lt_tserase_is(p, ')')) {
    if (!function_read_parameter(p, properties) || (!lt_tserase_take(p, ',') && !lt_tserase_is(p, ')'))) {
      return false;
    }
  }
  return true;
}

bool lt_tserase_function_read_parameters(lt_tserase *p) {
  lt_tserase_properties *properties = p->properties;
  p->properties = NULL; /* parameters may contain functions */
  if (!lt_tserase_take(p, '(')) {
    return false;
  }
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_list = function_read_parameter_list(p, properties);
  lt_tserase_go_outside(p, outside);
  return is_list && lt_tserase_take(p, ')');
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */
bool lt_tserase_function_read_signature(lt_tserase *p) {
  return lt_tserase_type_erase_parameters(p) && lt_tserase_function_read_parameters(p) &&
         lt_tserase_type_erase_result(p);
}

bool lt_tserase_function_read_body(lt_tserase *p) {
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_body = lt_tserase_statement_read_block(p);
  lt_tserase_go_outside(p, outside);
  return is_body;
}

bool lt_tserase_function_read(lt_tserase *p, bool *ret_has_body) {
  lt_tserase_advance(p);
  lt_tserase_take(p, '*');
  if (lt_tserase_is_name(lt_tserase_peek(p, 0))) {
    lt_tserase_advance(p);
  }
  if (!lt_tserase_function_read_signature(p)) {
    return false;
  }
  if (ret_has_body != NULL) {
    *ret_has_body = lt_tserase_is(p, '{');
    if (!*ret_has_body) {
      return lt_tserase_end_statement(p);
    }
  }
  return lt_tserase_function_read_body(p);
}
