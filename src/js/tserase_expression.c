#include "js/tserase_parser.h"

/* --- In brackets -------------------------------------------------------------------------------------------------- */
static bool expression_read_inside(lt_tserase *p, bool (*read)(lt_tserase *p)) {
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_read = read(p);
  lt_tserase_go_outside(p, outside);
  return is_read;
}

/* Items with commas, some of which may be missing, up to a closing bracket. */
static bool expression_read_items(lt_tserase *p, char closing) {
  while (!lt_tserase_is(p, closing)) {
    if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
      lt_tserase_advance(p);
    }
    if (!lt_tserase_is(p, ',') && !lt_tserase_expression_read_single(p)) {
      return false;
    }
    if (!lt_tserase_take(p, ',') && !lt_tserase_is(p, closing)) {
      return false;
    }
  }
  return lt_tserase_advance(p);
}

static bool expression_read_array(lt_tserase *p) {
  return lt_tserase_take(p, '[') && expression_read_items(p, ']');
}

static bool expression_read_arguments(lt_tserase *p) {
  return lt_tserase_take(p, '(') && expression_read_items(p, ')');
}

static bool expression_read_in_parentheses(lt_tserase *p) {
  return lt_tserase_take(p, '(') && lt_tserase_expression_read(p) && lt_tserase_take(p, ')');
}

static bool expression_read_index(lt_tserase *p) {
  return lt_tserase_take(p, '[') && lt_tserase_expression_read(p) && lt_tserase_take(p, ']');
}

static bool expression_read_template(lt_tserase *p) {
  while (lt_tserase_peek(p, 0)->opens) {
    lt_tserase_advance(p);
    if (!lt_tserase_expression_read(p) || !lt_tserase_is_kind(p, LT_JSTOK_TEMPLATE)) {
      return false;
    }
  }
  return lt_tserase_advance(p);
}

/* Whether a template begins here, not goes on. */
static bool expression_is_template(const lt_tserase *p, const lt_tserase_token *token) {
  return token->kind == LT_JSTOK_TEMPLATE && p->source.p[token->start] == '`';
}

/* --- Objects ------------------------------------------------------------------------------------------------------ */
static bool expression_is_key(const lt_tserase_token *token) {
  return token->kind == LT_JSTOK_WORD || token->kind == LT_JSTOK_STRING || token->kind == LT_JSTOK_NUMBER ||
         token->punct == '[' || token->punct == '*';
}

static void expression_take_modifiers(lt_tserase *p) {
  while ((lt_tserase_is_word(p, LT_WORD_ASYNC) || lt_tserase_is_word(p, LT_WORD_GET) ||
          lt_tserase_is_word(p, LT_WORD_SET)) &&
         expression_is_key(lt_tserase_peek(p, 1))) {
    lt_tserase_advance(p);
  }
  lt_tserase_take(p, '*');
}

static bool expression_read_member(lt_tserase *p) {
  if (lt_tserase_is_kind(p, LT_JSTOK_SPREAD)) {
    return lt_tserase_advance(p) && lt_tserase_expression_read_single(p);
  }
  expression_take_modifiers(p);
  bool is_name = lt_tserase_is_name(lt_tserase_peek(p, 0));
  if (!lt_tserase_function_read_key(p)) {
    return false;
  }
  if (lt_tserase_is(p, '(') || lt_tserase_is(p, '<')) {
    return lt_tserase_function_read_signature(p) && lt_tserase_function_read_body(p);
  }
  if (lt_tserase_take(p, ':') || (is_name && lt_tserase_take(p, '='))) {
    return lt_tserase_expression_read_single(p);
  }
  return is_name;
}

static bool expression_read_object(lt_tserase *p) {
  lt_tserase_advance(p);
  while (!lt_tserase_is(p, '}')) {
    if (!expression_read_member(p) || (!lt_tserase_take(p, ',') && !lt_tserase_is(p, '}'))) {
      return false;
    }
  }
  return lt_tserase_take(p, '}');
}

/* --- Arrow functions ---------------------------------------------------------------------------------------------- */
typedef enum arrow_kind { ARROW_NONE, ARROW_NAME, ARROW_LIST } arrow_kind;

/* Whether the ( or < here begins an arrow function. The place stays. */
static bool arrow_has_list(lt_tserase *p) {
  size_t start = p->at;
  bool is_arrow = !lt_tserase_is(p, '<') || lt_tserase_type_skip_parameters(p);
  if (is_arrow && lt_tserase_is(p, '(')) {
    p->at = lt_tserase_peek(p, 0)->mate;
    lt_tserase_advance(p);
    is_arrow = !lt_tserase_take(p, ':') || lt_tserase_type_skip_result(p);
    is_arrow = is_arrow && lt_tserase_is_kind(p, LT_JSTOK_ARROW);
  } else {
    is_arrow = false;
  }
  p->at = start;
  return is_arrow;
}

/* Whether the current token begins an arrow function. */
static arrow_kind arrow_find(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0), *next = lt_tserase_peek(p, 1);
  if (token->punct == '(' || token->punct == '<') {
    return arrow_has_list(p) ? ARROW_LIST : ARROW_NONE;
  }
  if (!lt_tserase_is_name(token)) {
    return ARROW_NONE;
  }
  if (next->kind == LT_JSTOK_ARROW) {
    return ARROW_NAME;
  }
  if (token->word != LT_WORD_ASYNC || next->newline_before) {
    return ARROW_NONE;
  }
  if (lt_tserase_is_name(next)) {
    return lt_tserase_peek(p, 2)->kind == LT_JSTOK_ARROW ? ARROW_NAME : ARROW_NONE;
  }
  if (next->punct != '(' && next->punct != '<') {
    return ARROW_NONE;
  }
  p->at++;
  bool has_list = arrow_has_list(p);
  p->at--;
  return has_list ? ARROW_LIST : ARROW_NONE;
}

static bool arrow_has_newline(const lt_tserase *p, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    if (lt_tserase_token_at(p, i)->newline_before) {
      return true;
    }
  }
  return false;
}

/* No line break may stand between `async` or `return` and the ( (ECMA-262, 12.10.1). Where the type parameters have
 * one, the ( moves before them. */
static bool arrow_erase_parameters(lt_tserase *p) {
  size_t start = p->at;
  if (!lt_tserase_type_erase_parameters(p)) {
    return false;
  }
  if (start < p->at && arrow_has_newline(p, start + 1, p->at + 1)) {
    p->out[p->tokens[start].start] = '(';
    p->out[lt_tserase_peek(p, 0)->start] = ' ';
  }
  return true;
}

/* No line break may stand before the arrow (ECMA-262, 15.3). Where the result's type has one, the ) moves behind it. */
static bool arrow_erase_result(lt_tserase *p) {
  size_t colon = p->at;
  if (!lt_tserase_type_erase_result(p) || !lt_tserase_is_kind(p, LT_JSTOK_ARROW)) {
    return false;
  }
  if (arrow_has_newline(p, p->at, p->at + 1)) {
    return false;
  }
  if (arrow_has_newline(p, colon, p->at)) {
    p->out[p->tokens[colon - 1].start] = ' ';
    p->out[p->erased_to - 1] = ')';
  }
  return true;
}

bool lt_tserase_expression_is_assertion(lt_tserase *p) {
  return lt_tserase_is(p, '<') && !arrow_has_list(p);
}

static bool arrow_read(lt_tserase *p, arrow_kind kind) {
  bool has_colon_outside = p->is_before_colon;
  if (lt_tserase_is_word(p, LT_WORD_ASYNC) && lt_tserase_peek(p, 1)->kind != LT_JSTOK_ARROW) {
    lt_tserase_advance(p);
  }
  if (kind == ARROW_NAME) {
    lt_tserase_advance(p);
    if (lt_tserase_peek(p, 0)->newline_before) {
      return false;
    }
  } else {
    if (!arrow_erase_parameters(p) || !lt_tserase_function_read_parameters(p)) {
      return false;
    }
    if (lt_tserase_is(p, ':') ? has_colon_outside || !arrow_erase_result(p) : arrow_has_newline(p, p->at, p->at + 1)) {
      return false;
    }
  }
  lt_tserase_advance(p); /* => */
  if (lt_tserase_is(p, '{')) {
    return lt_tserase_function_read_body(p);
  }
  return !lt_tserase_expression_is_assertion(p) && lt_tserase_expression_read_single(p);
}

/* --- Operands ----------------------------------------------------------------------------------------------------- */
/* `.name`, `.#name`, `?.[0]`, `?.()`, `?.<T>()` */
static bool expression_read_dot(lt_tserase *p) {
  const lt_tserase_token *dot = lt_tserase_peek(p, 0);
  bool is_optional = dot->end - dot->start == 2;
  lt_tserase_advance(p);
  if (is_optional && (lt_tserase_is(p, '(') || lt_tserase_is(p, '[') || lt_tserase_is(p, '<'))) {
    return true; /* the next suffix */
  }
  lt_tserase_take(p, '#');
  return lt_tserase_is_kind(p, LT_JSTOK_WORD) && lt_tserase_advance(p);
}

/* TypeScript's `value!`, not `value != other`. */
static bool expression_is_non_null(const lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  return token->punct == '!' && !token->newline_before && lt_tserase_byte_after(p, token) != '=';
}

static bool expression_erase_bang(lt_tserase *p) {
  lt_tserase_advance(p);
  lt_tserase_erase_from(p, p->at - 1);
  return true;
}

typedef enum angle_kind { ANGLE_COMPARES, ANGLE_ARGUMENTS, ANGLE_UNSURE } angle_kind;

/* Where no operand can follow, a > does not compare. */
static bool expression_ends_before(const lt_tserase_token *token) {
  bool is_statement = token->newline_before && token->kind == LT_JSTOK_WORD && token->word != LT_WORD_IN &&
                      token->word != LT_WORD_INSTANCEOF;
  return is_statement || token->kind == LT_JSTOK_END ||
         (token->punct != '\0' && strchr(")]},;:", token->punct) != NULL);
}

/* What a < behind a value is, as TypeScript decides it: type arguments if they end, and what follows can follow them.
 */
static angle_kind expression_look_at_angle(lt_tserase *p) {
  size_t start = p->at;
  bool is_list = lt_tserase_type_skip_arguments(p);
  size_t end = p->at;
  const lt_tserase_token *next = lt_tserase_peek(p, 0);
  p->at = start;
  char after = is_list ? lt_tserase_byte_after(p, &p->tokens[end - 1]) : '\0';
  if (!is_list || after == '>' || after == '=') {
    return ANGLE_COMPARES;
  }
  bool is_heritage = p->is_heritage && (next->punct == '{' || next->word == LT_WORD_IMPLEMENTS);
  if (next->punct == '(' || expression_is_template(p, next) || is_heritage || expression_ends_before(next)) {
    return ANGLE_ARGUMENTS;
  }
  bool has_operand = lt_tserase_is_name(next) || next->kind == LT_JSTOK_NUMBER || next->kind == LT_JSTOK_STRING;
  bool compares = next->punct == '<' || next->punct == '>' || next->punct == '+' || next->punct == '-' || has_operand;
  return compares && next->word != LT_WORD_AS && next->word != LT_WORD_SATISFIES ? ANGLE_COMPARES : ANGLE_UNSURE;
}

static bool expression_erase_arguments(lt_tserase *p) {
  size_t start = p->at;
  if (!lt_tserase_type_skip_arguments(p)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}

/* `ret_goes_on` is false where the value ends. `is_callee`: behind `new`, the first arguments are not the value's. */
static bool expression_read_suffix(lt_tserase *p, bool is_callee, bool *ret_goes_on) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  *ret_goes_on = true;
  switch (token->punct) {
    case '.':
      return expression_read_dot(p);
    case '[':
      return expression_read_inside(p, expression_read_index);
    case '(':
      *ret_goes_on = !is_callee;
      return is_callee || expression_read_inside(p, expression_read_arguments);
    case '!':
      *ret_goes_on = expression_is_non_null(p);
      return !*ret_goes_on || expression_erase_bang(p);
    case '<': {
      angle_kind kind = expression_look_at_angle(p);
      *ret_goes_on = kind == ANGLE_ARGUMENTS;
      return kind == ANGLE_COMPARES || (kind == ANGLE_ARGUMENTS && expression_erase_arguments(p));
    }
    default:
      break;
  }
  if (expression_is_template(p, token)) {
    return expression_read_inside(p, expression_read_template);
  }
  *ret_goes_on = false;
  return true;
}

static bool expression_read_all_suffixes(lt_tserase *p, bool is_callee) {
  bool goes_on = true;
  while (goes_on) {
    if (!expression_read_suffix(p, is_callee, &goes_on)) {
      return false;
    }
  }
  return true;
}

static bool expression_read_suffixes(lt_tserase *p) {
  if (!expression_read_all_suffixes(p, false)) {
    return false;
  }
  if (lt_tserase_is_kind(p, LT_JSTOK_INCDEC) && !lt_tserase_peek(p, 0)->newline_before) {
    lt_tserase_advance(p);
  }
  return true;
}

static bool expression_read_primary(lt_tserase *p);

/* `new a.b<T>(...)`, `new new A()()`, `new.target` */
static bool expression_read_new(lt_tserase *p) {
  lt_tserase_advance(p);
  if (lt_tserase_is(p, '.')) {
    return lt_tserase_advance(p) && lt_tserase_is_kind(p, LT_JSTOK_WORD) && lt_tserase_advance(p);
  }
  if (!lt_tserase_enter(p)) {
    return false;
  }
  bool is_callee = expression_read_primary(p) && expression_read_all_suffixes(p, true);
  lt_tserase_leave(p);
  return is_callee && (!lt_tserase_is(p, '(') || expression_read_inside(p, expression_read_arguments));
}

/* `import(...)`, `import.meta` */
static bool expression_read_import(lt_tserase *p) {
  lt_tserase_advance(p);
  if (lt_tserase_is(p, '(')) {
    return expression_read_inside(p, expression_read_arguments);
  }
  return lt_tserase_take(p, '.') && lt_tserase_is_kind(p, LT_JSTOK_WORD) && lt_tserase_advance(p);
}

static bool expression_read_word(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0), *next = lt_tserase_peek(p, 1);
  switch (token->word) {
    case LT_WORD_FUNCTION:
      return lt_tserase_function_read(p, NULL);
    case LT_WORD_CLASS:
      return lt_tserase_class_read(p);
    case LT_WORD_NEW:
      return expression_read_new(p);
    case LT_WORD_IMPORT:
      return expression_read_import(p);
    case LT_WORD_FALSE:
    case LT_WORD_NULL:
    case LT_WORD_SUPER:
    case LT_WORD_THIS:
    case LT_WORD_TRUE:
      return lt_tserase_advance(p);
    case LT_WORD_ASYNC:
      if (next->word == LT_WORD_FUNCTION && !next->newline_before) {
        return lt_tserase_advance(p) && lt_tserase_function_read(p, NULL);
      }
      return lt_tserase_advance(p);
    default:
      return !lt_tserase_is_reserved(token) && lt_tserase_advance(p);
  }
}

static bool expression_read_primary(lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  switch (token->punct) {
    case '(':
      return expression_read_inside(p, expression_read_in_parentheses);
    case '[':
      return expression_read_inside(p, expression_read_array);
    case '{':
      return expression_read_inside(p, expression_read_object);
    case '#': /* `#x in object` */
      return lt_tserase_advance(p) && lt_tserase_is_kind(p, LT_JSTOK_WORD) && lt_tserase_advance(p) &&
             lt_tserase_is_word(p, LT_WORD_IN);
    default:
      break;
  }
  switch (token->kind) {
    case LT_JSTOK_NUMBER:
    case LT_JSTOK_STRING:
    case LT_JSTOK_REGEX:
      return lt_tserase_advance(p);
    case LT_JSTOK_TEMPLATE:
      return expression_is_template(p, token) && expression_read_inside(p, expression_read_template);
    case LT_JSTOK_WORD:
      return expression_read_word(p);
    default:
      return false;
  }
}

/* --- Operators ---------------------------------------------------------------------------------------------------- */
/* `<T>value`. Without it, its line break might end a statement, and a function behind `default` be a declaration. */
static bool expression_erase_assertion(lt_tserase *p) {
  size_t start = p->at;
  lt_tserase_word before = start > 0 ? (lt_tserase_word)p->tokens[start - 1].word : LT_WORD_NONE;
  lt_tserase_advance(p);
  if (!lt_tserase_take_word(p, LT_WORD_CONST) && !lt_tserase_type_skip(p)) {
    return false;
  }
  if (!lt_tserase_take(p, '>')) {
    return false;
  }
  if (before == LT_WORD_DEFAULT || arrow_has_newline(p, start + 1, p->at + 1)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}

/* Whether an operand may begin here: `await` and `yield` may also be names. */
static bool expression_begins(const lt_tserase *p, const lt_tserase_token *token) {
  switch (token->kind) {
    case LT_JSTOK_WORD:
      return token->word != LT_WORD_IN && token->word != LT_WORD_INSTANCEOF && token->word != LT_WORD_OF &&
             token->word != LT_WORD_AS && token->word != LT_WORD_SATISFIES;
    case LT_JSTOK_NUMBER:
    case LT_JSTOK_STRING:
    case LT_JSTOK_REGEX:
    case LT_JSTOK_INCDEC:
      return true;
    case LT_JSTOK_TEMPLATE:
      return expression_is_template(p, token);
    case LT_JSTOK_PUNCT:
      return token->punct != '\0' && strchr("([{+-!~<#", token->punct) != NULL;
    default:
      return false;
  }
}

static bool expression_is_prefix(const lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  switch (token->word) {
    case LT_WORD_TYPEOF:
    case LT_WORD_VOID:
    case LT_WORD_DELETE:
      return true;
    case LT_WORD_AWAIT:
      return expression_begins(p, lt_tserase_peek(p, 1));
    default:
      return token->punct == '+' || token->punct == '-' || token->punct == '!' || token->punct == '~' ||
             token->kind == LT_JSTOK_INCDEC;
  }
}

static bool expression_read_unary(lt_tserase *p) {
  for (;;) {
    if (lt_tserase_is(p, '<')) {
      if (!expression_erase_assertion(p)) {
        return false;
      }
    } else if (expression_is_prefix(p)) {
      lt_tserase_advance(p);
    } else {
      return expression_read_primary(p) && expression_read_suffixes(p);
    }
  }
}

typedef enum operator_kind { OPERATOR_NONE, OPERATOR_BINARY, OPERATOR_ASSIGNS } operator_kind;

/* The longest operator at this byte (ECMA-262, 12.8), of those with two operands; `ret_n`: its bytes. */
static operator_kind operator_find(lt_str text, size_t *ret_n) {
  char c = text.p[0];
  size_t most = c == '>' ? 3 : c == '*' || c == '<' || c == '&' || c == '|' || c == '?' ? 2 : 1, n = 1;
  while (n < most && n < text.n && text.p[n] == c) {
    n++;
  }
  bool has_equals = n < text.n && text.p[n] == '=';
  bool has_two = has_equals && n + 1 < text.n && text.p[n + 1] == '=';
  if (c == '=' || c == '!') { /* = == === != !== */
    *ret_n = has_two ? 3 : has_equals ? 2 : 1;
    return has_equals ? OPERATOR_BINARY : c == '=' ? OPERATOR_ASSIGNS : OPERATOR_NONE;
  }
  if (memchr("+-*/%&|^<>?", c, 11) == NULL || (c == '?' && n == 1)) {
    return OPERATOR_NONE;
  }
  *ret_n = n + has_equals;
  return has_equals && !(n == 1 && (c == '<' || c == '>')) ? OPERATOR_ASSIGNS : OPERATOR_BINARY;
}

/* Reads an operator, which may be several tokens. `ret_kind`: OPERATOR_NONE where there is none. False: a part of a
 * token is left. */
static bool expression_read_operator(lt_tserase *p, operator_kind *ret_kind) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  size_t n = 0;
  *ret_kind = OPERATOR_NONE;
  if (token->kind != LT_JSTOK_PUNCT) {
    return true;
  }
  *ret_kind = operator_find(lt_str_sub(p->source, token->start, p->source.n), &n);
  if (*ret_kind == OPERATOR_NONE) {
    return true;
  }
  size_t end = token->start + n;
  while (lt_tserase_peek(p, 0)->start < end && !lt_tserase_is_kind(p, LT_JSTOK_END)) {
    lt_tserase_advance(p);
  }
  return p->tokens[p->at - 1].end == end || p->is_given_up;
}

/* `value as T`, `value satisfies T`, `value as const` */
static bool expression_is_cast(const lt_tserase *p) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  return (token->word == LT_WORD_AS || token->word == LT_WORD_SATISFIES) && !token->newline_before;
}

static bool expression_erase_cast(lt_tserase *p) {
  size_t start = p->at;
  lt_tserase_advance(p);
  if (!lt_tserase_take_word(p, LT_WORD_CONST) && !lt_tserase_type_skip(p)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}

/* Operands with operators between them; `ret_assigns`: the last one assigns, and its second operand has not been
 * read. */
static bool expression_read_operation(lt_tserase *p, bool *ret_assigns) {
  *ret_assigns = false;
  for (;;) {
    if (!expression_read_unary(p)) {
      return false;
    }
    while (expression_is_cast(p)) {
      if (!expression_erase_cast(p)) {
        return false;
      }
    }
    operator_kind kind = OPERATOR_NONE;
    if (lt_tserase_is_word(p, LT_WORD_INSTANCEOF) || (lt_tserase_is_word(p, LT_WORD_IN) && !p->is_for_head)) {
      lt_tserase_advance(p);
    } else if (!expression_read_operator(p, &kind)) {
      return false;
    } else if (kind != OPERATOR_BINARY) {
      *ret_assigns = kind == OPERATOR_ASSIGNS;
      return true;
    }
  }
}

/* `? a : b` */
static bool expression_read_choice(lt_tserase *p) {
  lt_tserase_advance(p);
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  p->is_before_colon = true;
  bool is_read = lt_tserase_expression_read_single(p);
  lt_tserase_go_outside(p, outside);
  return is_read && lt_tserase_take(p, ':') && lt_tserase_expression_read_single(p);
}

/* `yield`, `yield* a`, `yield a` */
static bool expression_read_yield(lt_tserase *p) {
  lt_tserase_advance(p);
  if (lt_tserase_take(p, '*')) {
    return lt_tserase_expression_read_single(p);
  }
  const lt_tserase_token *next = lt_tserase_peek(p, 0);
  return next->newline_before || !expression_begins(p, next) || lt_tserase_expression_read_single(p);
}

static bool expression_read_assignment(lt_tserase *p) {
  if (lt_tserase_is_word(p, LT_WORD_YIELD)) {
    return expression_read_yield(p);
  }
  arrow_kind arrow = arrow_find(p);
  if (arrow != ARROW_NONE) {
    return arrow_read(p, arrow);
  }
  bool assigns = false;
  if (!expression_read_operation(p, &assigns)) {
    return false;
  }
  if (assigns) {
    return lt_tserase_expression_read_single(p);
  }
  return !lt_tserase_is(p, '?') || expression_read_choice(p);
}

bool lt_tserase_expression_read_single(lt_tserase *p) {
  if (!lt_tserase_enter(p)) {
    return false;
  }
  bool is_read = expression_read_assignment(p);
  lt_tserase_leave(p);
  return is_read;
}

bool lt_tserase_expression_read(lt_tserase *p) {
  do {
    if (!lt_tserase_expression_read_single(p)) {
      return false;
    }
  } while (lt_tserase_take(p, ','));
  return true;
}

bool lt_tserase_expression_read_heritage(lt_tserase *p) {
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  p->is_heritage = true;
  bool is_read = expression_read_primary(p) && expression_read_all_suffixes(p, false);
  lt_tserase_go_outside(p, outside);
  return is_read;
}
