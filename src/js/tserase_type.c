/* Types are skipped, not understood; but what is no type is never taken for one. */
#include "js/tserase_parser.h"

/* In brackets what held outside does not. */
static bool type_skip_bracketed(lt_tserase *p, bool (*skip)(lt_tserase *p)) {
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_type = skip(p);
  lt_tserase_go_outside(p, outside);
  return is_type;
}

/* --- Names and literals ------------------------------------------------------------------------------------------- */
static bool type_is_dot(const lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  return token->punct == '.' && token->end - token->start == 1; /* not ?. */
}

/* `.b.c` */
static bool type_skip_path(lt_tserase *p) {
  while (type_is_dot(p)) {
    lt_tserase_advance(p);
    lt_tserase_take(p, '#');
    if (!lt_tserase_is_kind(p, LT_JSTOK_WORD)) {
      return false;
    }
    lt_tserase_advance(p);
  }
  return true;
}

static bool type_skip_more_arguments(lt_tserase *p) {
  bool has_any = lt_tserase_is(p, '<') && !lt_tserase_peek(p, 0)->newline_before;
  return !has_any || lt_tserase_type_skip_arguments(p);
}

/* `("module", { with: {...} }).A.B<C>`, behind `import`. */
static bool type_skip_import(lt_tserase *p) {
  if (!lt_tserase_take(p, '(') || !lt_tserase_is_kind(p, LT_JSTOK_STRING)) {
    return false;
  }
  lt_tserase_advance(p);
  if (lt_tserase_take(p, ',') && lt_tserase_is(p, '{')) {
    p->at = lt_tserase_peek(p, 0)->mate;
    lt_tserase_advance(p);
  }
  return lt_tserase_take(p, ')') && type_skip_path(p) && type_skip_more_arguments(p);
}

/* Behind `typeof`: a value, by its path. */
static bool type_skip_query(lt_tserase *p) {
  if (lt_tserase_take_word(p, LT_WORD_IMPORT)) {
    return type_skip_import(p);
  }
  if (!lt_tserase_is_name(lt_tserase_peek(p, 0)) && !lt_tserase_is_word(p, LT_WORD_THIS)) {
    return false;
  }
  return lt_tserase_advance(p) && type_skip_path(p) && type_skip_more_arguments(p);
}

static bool type_skip_template(lt_tserase *p) {
  while (lt_tserase_peek(p, 0)->opens) {
    lt_tserase_advance(p);
    if (!type_skip_bracketed(p, lt_tserase_type_skip) || !lt_tserase_is_kind(p, LT_JSTOK_TEMPLATE)) {
      return false;
    }
  }
  return lt_tserase_advance(p);
}

static bool type_skip_word(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  switch (token->word) {
    case LT_WORD_TYPEOF:
      return lt_tserase_advance(p) && type_skip_query(p);
    case LT_WORD_IMPORT:
      return lt_tserase_advance(p) && type_skip_import(p);
    case LT_WORD_ANY:
    case LT_WORD_BIGINT:
    case LT_WORD_BOOLEAN:
    case LT_WORD_FALSE:
    case LT_WORD_NEVER:
    case LT_WORD_NULL:
    case LT_WORD_NUMBER:
    case LT_WORD_OBJECT:
    case LT_WORD_STRING:
    case LT_WORD_SYMBOL:
    case LT_WORD_THIS:
    case LT_WORD_TRUE:
    case LT_WORD_UNDEFINED:
    case LT_WORD_UNKNOWN:
    case LT_WORD_VOID:
      return lt_tserase_advance(p); /* takes no arguments: a < behind it compares */
    default:
      return !lt_tserase_is_reserved(token) && lt_tserase_advance(p) && type_skip_path(p) &&
             type_skip_more_arguments(p);
  }
}

/* --- Brackets ----------------------------------------------------------------------------------------------------- */
static bool type_skip_in_parentheses(lt_tserase *p) {
  return lt_tserase_take(p, '(') && lt_tserase_type_skip(p) && lt_tserase_take(p, ')');
}

/* `...name?: T`, `T?` */
static bool type_skip_tuple_item(lt_tserase *p) {
  if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
    lt_tserase_advance(p);
  }
  bool has_mark = lt_tserase_peek(p, 1)->punct == '?' && lt_tserase_peek(p, 2)->punct == ':';
  if (lt_tserase_is_kind(p, LT_JSTOK_WORD) && (has_mark || lt_tserase_peek(p, 1)->punct == ':')) {
    for (int tokens = has_mark ? 3 : 2; tokens > 0; tokens--) {
      lt_tserase_advance(p);
    }
  }
  if (!lt_tserase_type_skip(p)) {
    return false;
  }
  lt_tserase_take(p, '?');
  return true;
}

static bool type_skip_tuple(lt_tserase *p) {
  lt_tserase_advance(p);
  while (!lt_tserase_is(p, ']')) {
    if (!type_skip_tuple_item(p) || (!lt_tserase_take(p, ',') && !lt_tserase_is(p, ']'))) {
      return false;
    }
  }
  return lt_tserase_take(p, ']');
}

static bool type_take_sign(lt_tserase *p) {
  return lt_tserase_take(p, '+') || lt_tserase_take(p, '-');
}

static bool type_is_mapped(const lt_tserase *p) {
  size_t at = 1; /* behind the { */
  at += lt_tserase_peek(p, at)->punct == '+' || lt_tserase_peek(p, at)->punct == '-';
  at += lt_tserase_peek(p, at)->word == LT_WORD_READONLY;
  return lt_tserase_peek(p, at)->punct == '[' && lt_tserase_is_name(lt_tserase_peek(p, at + 1)) &&
         lt_tserase_peek(p, at + 2)->word == LT_WORD_IN;
}

/* `{ -readonly [K in T as U]?: V }` */
static bool type_skip_mapped(lt_tserase *p) {
  lt_tserase_advance(p);
  type_take_sign(p);
  lt_tserase_take_word(p, LT_WORD_READONLY);
  for (int tokens = 3; tokens > 0; tokens--) { /* [K in */
    lt_tserase_advance(p);
  }
  if (!lt_tserase_type_skip(p) || (lt_tserase_take_word(p, LT_WORD_AS) && !lt_tserase_type_skip(p)) ||
      !lt_tserase_take(p, ']')) {
    return false;
  }
  if (type_take_sign(p) && !lt_tserase_is(p, '?')) {
    return false;
  }
  lt_tserase_take(p, '?');
  if (lt_tserase_take(p, ':') && !lt_tserase_type_skip(p)) {
    return false;
  }
  if (!lt_tserase_take(p, ';')) {
    lt_tserase_take(p, ',');
  }
  return lt_tserase_take(p, '}');
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */
/* `...{ a, b }?: T` */
static bool type_skip_parameter(lt_tserase *p) {
  if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
    lt_tserase_advance(p);
  }
  if (lt_tserase_is(p, '{') || lt_tserase_is(p, '[')) {
    p->at = lt_tserase_peek(p, 0)->mate;
  } else if (!lt_tserase_is_name(lt_tserase_peek(p, 0)) && !lt_tserase_is_word(p, LT_WORD_THIS)) {
    return false;
  }
  lt_tserase_advance(p);
  lt_tserase_take(p, '?');
  return !lt_tserase_take(p, ':') || lt_tserase_type_skip(p);
}

static bool type_skip_function_parameters(lt_tserase *p) {
  if (!lt_tserase_take(p, '(')) {
    return false;
  }
  while (!lt_tserase_is(p, ')')) {
    if (!type_skip_bracketed(p, type_skip_parameter) || (!lt_tserase_take(p, ',') && !lt_tserase_is(p, ')'))) {
      return false;
    }
  }
  return lt_tserase_take(p, ')');
}

static bool type_skip_own_parameters(lt_tserase *p) {
  return !lt_tserase_is(p, '<') || lt_tserase_type_skip_parameters(p);
}

/* Whether what a ( opens are parameters: `(a: T`, `({ a },`, `()`. A type in brackets may have an arrow behind it, too,
 * when it is the result of an arrow function. */
static bool type_has_parameters(const lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 1);
  if (token->punct == ')' || token->kind == LT_JSTOK_SPREAD) {
    return true;
  }
  bool is_pattern = token->punct == '{' || token->punct == '[';
  if (!is_pattern && token->kind != LT_JSTOK_WORD) {
    return false;
  }
  const lt_tserase_token *next = is_pattern ? lt_tserase_token_at(p, token->mate + 1) : lt_tserase_peek(p, 2);
  return next->punct == ':' || next->punct == ',' || next->punct == '?' || next->punct == ')';
}

static bool type_is_function(const lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  if (token->punct == '(') {
    return lt_tserase_token_at(p, token->mate + 1)->kind == LT_JSTOK_ARROW && type_has_parameters(p);
  }
  return token->punct == '<' || token->word == LT_WORD_NEW ||
         (token->word == LT_WORD_ABSTRACT && lt_tserase_peek(p, 1)->word == LT_WORD_NEW);
}

static bool type_skip_function(lt_tserase *p) {
  lt_tserase_take_word(p, LT_WORD_ABSTRACT);
  lt_tserase_take_word(p, LT_WORD_NEW);
  if (!type_skip_own_parameters(p) || !type_skip_function_parameters(p) || !lt_tserase_is_kind(p, LT_JSTOK_ARROW)) {
    return false;
  }
  return lt_tserase_advance(p) && type_skip_bracketed(p, lt_tserase_type_skip_result);
}

/* --- Members of an object type ------------------------------------------------------------------------------------ */
/* `<T>(a: T): U` */
static bool type_skip_signature(lt_tserase *p) {
  return type_skip_own_parameters(p) && type_skip_function_parameters(p) &&
         (!lt_tserase_take(p, ':') || lt_tserase_type_skip_result(p));
}

static bool type_is_key(const lt_tserase_token *token) {
  return token->kind == LT_JSTOK_WORD || token->kind == LT_JSTOK_STRING || token->kind == LT_JSTOK_NUMBER ||
         token->punct == '[';
}

/* `[Symbol.iterator]`, `["a b"]` */
static bool type_skip_computed_key(lt_tserase *p) {
  lt_tserase_advance(p);
  if (lt_tserase_is_kind(p, LT_JSTOK_STRING) || lt_tserase_is_kind(p, LT_JSTOK_NUMBER)) {
    return lt_tserase_advance(p) && lt_tserase_take(p, ']');
  }
  return lt_tserase_is_name(lt_tserase_peek(p, 0)) && lt_tserase_advance(p) && type_skip_path(p) &&
         lt_tserase_take(p, ']');
}

static bool type_skip_key(lt_tserase *p) {
  if (lt_tserase_is(p, '[')) {
    return type_skip_computed_key(p);
  }
  return type_is_key(lt_tserase_peek(p, 0)) && lt_tserase_advance(p);
}

static void type_take_modifiers(lt_tserase *p) {
  while ((lt_tserase_is_word(p, LT_WORD_READONLY) || lt_tserase_is_word(p, LT_WORD_GET) ||
          lt_tserase_is_word(p, LT_WORD_SET)) &&
         type_is_key(lt_tserase_peek(p, 1))) {
    lt_tserase_advance(p);
  }
}

static bool type_skip_member(lt_tserase *p) {
  bool constructs = lt_tserase_is_word(p, LT_WORD_NEW) &&
                    (lt_tserase_peek(p, 1)->punct == '(' || lt_tserase_peek(p, 1)->punct == '<');
  if (constructs) {
    lt_tserase_advance(p);
  }
  if (lt_tserase_is(p, '(') || lt_tserase_is(p, '<')) {
    return type_skip_signature(p);
  }
  type_take_modifiers(p);
  if (lt_tserase_type_is_index(p)) {
    return lt_tserase_type_skip_index(p);
  }
  if (!type_skip_key(p)) {
    return false;
  }
  lt_tserase_take(p, '?');
  if (lt_tserase_is(p, '(') || lt_tserase_is(p, '<')) {
    return type_skip_signature(p);
  }
  return !lt_tserase_take(p, ':') || lt_tserase_type_skip(p);
}

static bool type_skip_members(lt_tserase *p) {
  lt_tserase_advance(p);
  while (!lt_tserase_is(p, '}')) {
    if (!type_skip_member(p)) {
      return false;
    }
    bool is_separated = lt_tserase_take(p, ';') || lt_tserase_take(p, ',');
    if (!is_separated && !lt_tserase_is(p, '}') && !lt_tserase_peek(p, 0)->newline_before) {
      return false;
    }
  }
  return lt_tserase_take(p, '}');
}

bool lt_tserase_type_skip_object(lt_tserase *p) {
  if (!lt_tserase_is(p, '{')) {
    return false;
  }
  return type_skip_bracketed(p, type_is_mapped(p) ? type_skip_mapped : type_skip_members);
}

bool lt_tserase_type_is_index(const lt_tserase *p) {
  return lt_tserase_is(p, '[') && lt_tserase_is_name(lt_tserase_peek(p, 1)) && lt_tserase_peek(p, 2)->punct == ':';
}

bool lt_tserase_type_skip_index(lt_tserase *p) {
  for (int tokens = 3; tokens > 0; tokens--) { /* [k: */
    lt_tserase_advance(p);
  }
  return lt_tserase_type_skip(p) && lt_tserase_take(p, ']') && (!lt_tserase_take(p, ':') || lt_tserase_type_skip(p));
}

/* --- Types -------------------------------------------------------------------------------------------------------- */
static bool type_skip_primary(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  switch (token->punct) {
    case '(':
      return type_skip_bracketed(p, type_skip_in_parentheses);
    case '[':
      return type_skip_bracketed(p, type_skip_tuple);
    case '{':
      return lt_tserase_type_skip_object(p);
    case '-':
      lt_tserase_advance(p);
      return lt_tserase_is_kind(p, LT_JSTOK_NUMBER) && lt_tserase_advance(p);
    default:
      break;
  }
  switch (token->kind) {
    case LT_JSTOK_STRING:
    case LT_JSTOK_NUMBER:
      return lt_tserase_advance(p);
    case LT_JSTOK_TEMPLATE:
      return type_skip_template(p);
    case LT_JSTOK_WORD:
      return type_skip_word(p);
    default:
      return false;
  }
}

/* `T[]`, `T["key"]` */
static bool type_skip_with_indexes(lt_tserase *p) {
  if (!type_skip_primary(p)) {
    return false;
  }
  while (lt_tserase_is(p, '[') && !lt_tserase_peek(p, 0)->newline_before) {
    lt_tserase_advance(p);
    if (!lt_tserase_is(p, ']') && !type_skip_bracketed(p, lt_tserase_type_skip)) {
      return false;
    }
    if (!lt_tserase_take(p, ']')) {
      return false;
    }
  }
  return true;
}

static bool type_skip_operand(lt_tserase *p);

/* `U extends V`, behind `infer`. Outside the part of a conditional type in which `infer` makes sense, a ? behind it
 * would say that this is a conditional type. */
static bool type_skip_inferred(lt_tserase *p) {
  if (!lt_tserase_is_name(lt_tserase_peek(p, 0))) {
    return false;
  }
  lt_tserase_advance(p);
  size_t at = p->at;
  if (!lt_tserase_take_word(p, LT_WORD_EXTENDS)) {
    return true;
  }
  bool is_outside = !p->is_in_extends;
  p->is_in_extends = true;
  bool is_constraint = lt_tserase_type_skip(p);
  p->is_in_extends = !is_outside;
  if (!is_constraint || (is_outside && lt_tserase_is(p, '?'))) {
    p->at = at;
  }
  return true;
}

/* Whether the word before this token is an operator of types, not a type's name. */
static bool type_is_operand(const lt_tserase_token *token) {
  return token->kind == LT_JSTOK_WORD || token->kind == LT_JSTOK_STRING || token->kind == LT_JSTOK_TEMPLATE ||
         token->punct == '(' || token->punct == '{' || token->punct == '[';
}

static bool type_skip_operated(lt_tserase *p) {
  bool is_operator = lt_tserase_is_word(p, LT_WORD_KEYOF) || lt_tserase_is_word(p, LT_WORD_UNIQUE) ||
                     lt_tserase_is_word(p, LT_WORD_READONLY);
  const lt_tserase_token *next = lt_tserase_peek(p, 1);
  if (is_operator && type_is_operand(next) && !next->newline_before) {
    return lt_tserase_advance(p) && type_skip_operand(p);
  }
  if (lt_tserase_is_word(p, LT_WORD_INFER) && lt_tserase_is_name(next) && !next->newline_before) {
    return lt_tserase_advance(p) && type_skip_inferred(p);
  }
  return type_skip_with_indexes(p);
}

static bool type_skip_operand(lt_tserase *p) {
  if (!lt_tserase_enter(p)) {
    return false;
  }
  bool is_type = type_skip_operated(p);
  lt_tserase_leave(p);
  return is_type;
}

/* `|` and `&`, not `||`, `|=`. */
static bool type_take_joint(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  char next = lt_tserase_byte_after(p, token);
  return (token->punct == '|' || token->punct == '&') && next != token->punct && next != '=' && lt_tserase_advance(p);
}

static bool type_skip_union(lt_tserase *p) {
  type_take_joint(p);
  do {
    if (type_is_function(p) ? !type_skip_function(p) : !type_skip_operand(p)) {
      return false;
    }
  } while (type_take_joint(p));
  return true;
}

/* `extends U ? A : B` */
static bool type_skip_choice(lt_tserase *p) {
  lt_tserase_advance(p);
  p->is_in_extends = true;
  bool is_type = lt_tserase_type_skip(p);
  p->is_in_extends = false;
  return is_type && lt_tserase_take(p, '?') && lt_tserase_type_skip(p) && lt_tserase_take(p, ':') &&
         lt_tserase_type_skip(p);
}

bool lt_tserase_type_skip(lt_tserase *p) {
  if (!lt_tserase_enter(p)) {
    return false;
  }
  bool is_type = type_skip_union(p);
  if (is_type && !p->is_in_extends && lt_tserase_is_word(p, LT_WORD_EXTENDS) &&
      !lt_tserase_peek(p, 0)->newline_before) {
    is_type = type_skip_choice(p);
  }
  lt_tserase_leave(p);
  return is_type;
}

static bool type_names_parameter(const lt_tserase_token *token) {
  return lt_tserase_is_name(token) || token->word == LT_WORD_THIS;
}

bool lt_tserase_type_skip_result(lt_tserase *p) {
  const lt_tserase_token *next = lt_tserase_peek(p, 1);
  bool asserts = lt_tserase_is_word(p, LT_WORD_ASSERTS) && type_names_parameter(next) && !next->newline_before &&
                 next->word != LT_WORD_IS;
  if (asserts) {
    lt_tserase_advance(p);
    next = lt_tserase_peek(p, 1);
  }
  if (type_names_parameter(lt_tserase_peek(p, 0)) && next->word == LT_WORD_IS && !next->newline_before) {
    lt_tserase_advance(p);
    return lt_tserase_advance(p) && lt_tserase_type_skip(p);
  }
  return asserts ? lt_tserase_advance(p) : lt_tserase_type_skip(p);
}

/* --- Lists -------------------------------------------------------------------------------------------------------- */
bool lt_tserase_type_skip_list(lt_tserase *p) {
  do {
    if (!lt_tserase_type_skip(p)) {
      return false;
    }
  } while (lt_tserase_take(p, ','));
  return true;
}

bool lt_tserase_type_skip_arguments(lt_tserase *p) {
  return lt_tserase_take(p, '<') && type_skip_bracketed(p, lt_tserase_type_skip_list) && lt_tserase_take(p, '>');
}

static bool type_skip_parameter_of_type(lt_tserase *p) {
  while ((lt_tserase_is_word(p, LT_WORD_CONST) || lt_tserase_is_word(p, LT_WORD_IN) ||
          lt_tserase_is_word(p, LT_WORD_OUT)) &&
         (lt_tserase_is_name(lt_tserase_peek(p, 1)))) {
    lt_tserase_advance(p);
  }
  if (!lt_tserase_is_name(lt_tserase_peek(p, 0))) {
    return false;
  }
  lt_tserase_advance(p);
  return (!lt_tserase_take_word(p, LT_WORD_EXTENDS) || lt_tserase_type_skip(p)) &&
         (!lt_tserase_take(p, '=') || lt_tserase_type_skip(p));
}

static bool type_skip_parameter_list(lt_tserase *p) {
  do {
    if (lt_tserase_is(p, '>')) {
      break;
    }
    if (!type_skip_parameter_of_type(p)) {
      return false;
    }
  } while (lt_tserase_take(p, ','));
  return true;
}

bool lt_tserase_type_skip_parameters(lt_tserase *p) {
  return lt_tserase_take(p, '<') && !lt_tserase_is(p, '>') && type_skip_bracketed(p, type_skip_parameter_list) &&
         lt_tserase_take(p, '>');
}

/* --- What is erased ----------------------------------------------------------------------------------------------- */
bool lt_tserase_type_erase_annotation(lt_tserase *p) {
  size_t start = p->at;
  if (lt_tserase_take(p, ':') && !type_skip_bracketed(p, lt_tserase_type_skip)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}

bool lt_tserase_type_erase_result(lt_tserase *p) {
  size_t start = p->at;
  if (lt_tserase_take(p, ':') && !type_skip_bracketed(p, lt_tserase_type_skip_result)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}

bool lt_tserase_type_erase_parameters(lt_tserase *p) {
  size_t start = p->at;
  if (lt_tserase_is(p, '<') && !lt_tserase_type_skip_parameters(p)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}
