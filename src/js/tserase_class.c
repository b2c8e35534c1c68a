#include "js/tserase_parser.h"

/* --- Modifiers ---------------------------------------------------------------------------------------------------- */
static bool class_is_key(const lt_tserase_token *token) {
  return token->kind == LT_JSTOK_WORD || token->kind == LT_JSTOK_STRING || token->kind == LT_JSTOK_NUMBER ||
         token->punct == '[' || token->punct == '*' || token->punct == '#';
}

/* Whether the current word says something of the member behind it, rather than being its name. */
static bool class_is_modifier(const lt_tserase *p) {
  const lt_tserase_token *next = lt_tserase_peek(p, 1);
  switch (lt_tserase_peek(p, 0)->word) {
    case LT_WORD_STATIC:
    case LT_WORD_GET:
    case LT_WORD_SET:
      return class_is_key(next);
    case LT_WORD_ABSTRACT:
    case LT_WORD_ACCESSOR:
    case LT_WORD_ASYNC:
    case LT_WORD_DECLARE:
    case LT_WORD_OVERRIDE:
    case LT_WORD_PRIVATE:
    case LT_WORD_PROTECTED:
    case LT_WORD_PUBLIC:
    case LT_WORD_READONLY:
      return class_is_key(next) && !next->newline_before;
    default:
      return false;
  }
}

/* Erases those of TypeScript. `ret_is_declared`: the member has no value. False: one that no engine knows. */
static bool class_read_modifiers(lt_tserase *p, bool *ret_is_declared) {
  while (class_is_modifier(p)) {
    size_t start = p->at;
    lt_tserase_word word = (lt_tserase_word)lt_tserase_peek(p, 0)->word;
    if (word == LT_WORD_ACCESSOR) {
      return false;
    }
    lt_tserase_advance(p);
    if (word == LT_WORD_ABSTRACT || word == LT_WORD_DECLARE) {
      *ret_is_declared = true;
    } else if (word != LT_WORD_STATIC && word != LT_WORD_GET && word != LT_WORD_SET && word != LT_WORD_ASYNC) {
      lt_tserase_erase_statement(p, start); /* `[a]` behind it might continue the field before */
    }
  }
  lt_tserase_take(p, '*');
  return true;
}

/* --- Members ------------------------------------------------------------------------------------------------------ */
static bool class_read_field(lt_tserase *p) {
  if (!lt_tserase_type_erase_annotation(p) || (lt_tserase_take(p, '=') && !lt_tserase_expression_read_single(p))) {
    return false;
  }
  return lt_tserase_end_statement(p);
}

/* `ret_has_value` is false for one of several signatures. */
static bool class_read_method(lt_tserase *p, bool *ret_has_value) {
  if (!lt_tserase_function_read_signature(p)) {
    return false;
  }
  *ret_has_value = lt_tserase_is(p, '{');
  return *ret_has_value ? lt_tserase_function_read_body(p) : lt_tserase_end_statement(p);
}

static bool class_read_key(lt_tserase *p) {
  if (lt_tserase_take(p, '#')) {
    return lt_tserase_is_kind(p, LT_JSTOK_WORD) && lt_tserase_advance(p);
  }
  return lt_tserase_function_read_key(p);
}

/* Behind the modifiers. */
static bool class_read_named(lt_tserase *p, bool *ret_has_value) {
  if (lt_tserase_type_is_index(p)) {
    *ret_has_value = false;
    return lt_tserase_type_skip_index(p) && lt_tserase_end_statement(p);
  }
  if (!class_read_key(p)) {
    return false;
  }
  size_t mark = p->at;
  if (!lt_tserase_take(p, '?')) {
    lt_tserase_take(p, '!');
  }
  lt_tserase_erase_from(p, mark);
  if (lt_tserase_is(p, '(') || lt_tserase_is(p, '<')) {
    return class_read_method(p, ret_has_value);
  }
  return class_read_field(p);
}

static bool class_read_member(lt_tserase *p) {
  if (lt_tserase_take(p, ';')) {
    return true;
  }
  size_t start = p->at, open_end = p->open_end;
  if (lt_tserase_is_word(p, LT_WORD_STATIC) && lt_tserase_peek(p, 1)->punct == '{') {
    return lt_tserase_advance(p) && lt_tserase_function_read_body(p);
  }
  bool is_declared = false, has_value = true;
  if (!class_read_modifiers(p, &is_declared) || !class_read_named(p, &has_value)) {
    return false;
  }
  if (is_declared || !has_value) {
    p->open_end = open_end;
    lt_tserase_erase_statement(p, start);
  }
  return true;
}

static bool class_read_members(lt_tserase *p) {
  while (!lt_tserase_is(p, '}')) {
    if (!class_read_member(p)) {
      return false;
    }
  }
  return true;
}

/* --- A class ------------------------------------------------------------------------------------------------------ */
static bool class_read_body(lt_tserase *p) {
  if (!lt_tserase_take(p, '{') || !lt_tserase_enter(p)) {
    return false;
  }
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_body = class_read_members(p);
  lt_tserase_go_outside(p, outside);
  lt_tserase_leave(p);
  return is_body && lt_tserase_take(p, '}');
}

static bool class_erase_interfaces(lt_tserase *p) {
  size_t start = p->at;
  if (lt_tserase_take_word(p, LT_WORD_IMPLEMENTS) && !lt_tserase_type_skip_list(p)) {
    return false;
  }
  lt_tserase_erase_from(p, start);
  return true;
}

bool lt_tserase_class_read(lt_tserase *p) {
  lt_tserase_advance(p);
  if (lt_tserase_is_name(lt_tserase_peek(p, 0)) && !lt_tserase_is_word(p, LT_WORD_IMPLEMENTS)) {
    lt_tserase_advance(p);
  }
  return lt_tserase_type_erase_parameters(p) &&
         (!lt_tserase_take_word(p, LT_WORD_EXTENDS) || lt_tserase_expression_read_heritage(p)) &&
         class_erase_interfaces(p) && class_read_body(p);
}
