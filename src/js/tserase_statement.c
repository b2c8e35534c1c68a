#include "js/tserase_parser.h"

static bool statement_read(lt_tserase *p, bool is_listed);

/* --- Declarations ------------------------------------------------------------------------------------------------- */
static bool statement_read_variable(lt_tserase *p) {
  if (!lt_tserase_function_read_target(p)) {
    return false;
  }
  size_t mark = p->at;
  lt_tserase_take(p, '!');
  lt_tserase_erase_from(p, mark);
  return lt_tserase_type_erase_annotation(p) && (!lt_tserase_take(p, '=') || lt_tserase_expression_read_single(p));
}

/* `a: T = 1, b`, behind `const`. */
static bool statement_read_variables(lt_tserase *p) {
  lt_tserase_advance(p);
  do {
    if (!statement_read_variable(p)) {
      return false;
    }
  } while (lt_tserase_take(p, ','));
  return true;
}

static bool statement_is_variables(const lt_tserase *p) {
  const lt_tserase_token *next = lt_tserase_peek(p, 1);
  switch (lt_tserase_peek(p, 0)->word) {
    case LT_WORD_CONST:
      return next->word != LT_WORD_ENUM;
    case LT_WORD_VAR:
      return true;
    case LT_WORD_LET:
      return lt_tserase_is_name(next) || next->punct == '[' || next->punct == '{';
    default:
      return false;
  }
}

static bool statement_skip_alias(lt_tserase *p) {
  lt_tserase_advance(p);
  lt_tserase_advance(p);
  return (!lt_tserase_is(p, '<') || lt_tserase_type_skip_parameters(p)) && lt_tserase_take(p, '=') &&
         lt_tserase_type_skip(p) && lt_tserase_end_statement(p);
}

static bool statement_skip_interface(lt_tserase *p) {
  lt_tserase_advance(p);
  lt_tserase_advance(p);
  return (!lt_tserase_is(p, '<') || lt_tserase_type_skip_parameters(p)) &&
         (!lt_tserase_take_word(p, LT_WORD_EXTENDS) || lt_tserase_type_skip_list(p)) && lt_tserase_type_skip_object(p);
}

/* `declare namespace A.B { ... }`, `declare module "m" { ... }`, `declare global { ... }`, `declare enum E { ... }` */
static bool statement_skip_ambient_block(lt_tserase *p) {
  while (lt_tserase_is_kind(p, LT_JSTOK_WORD) || lt_tserase_is_kind(p, LT_JSTOK_STRING) || lt_tserase_is(p, '.')) {
    lt_tserase_advance(p);
  }
  if (!lt_tserase_is(p, '{')) {
    return false;
  }
  p->at = lt_tserase_peek(p, 0)->mate;
  return lt_tserase_advance(p);
}

/* A statement that has no value, from token `start` on, which the words before it are part of, too. */
static bool statement_erase(lt_tserase *p, size_t start, bool (*skip)(lt_tserase *p)) {
  size_t open_end = p->open_end;
  if (!skip(p)) {
    return false;
  }
  p->open_end = open_end;
  lt_tserase_erase_statement(p, start);
  return true;
}

static bool statement_read_function(lt_tserase *p, size_t start) {
  size_t open_end = p->open_end;
  bool has_body = true;
  lt_tserase_take_word(p, LT_WORD_ASYNC);
  if (!lt_tserase_function_read(p, &has_body)) {
    return false;
  }
  if (!has_body) { /* one of several signatures */
    p->open_end = open_end;
    lt_tserase_erase_statement(p, start);
  }
  return true;
}

static bool statement_read_class(lt_tserase *p) {
  size_t start = p->at;
  if (lt_tserase_take_word(p, LT_WORD_ABSTRACT)) {
    lt_tserase_erase_from(p, start);
  }
  return lt_tserase_class_read(p);
}

/* Whether the word that is `ahead` tokens further begins a declaration with the word behind it. */
static bool statement_declares(const lt_tserase *p, size_t ahead) {
  const lt_tserase_token *next = lt_tserase_peek(p, ahead + 1), *third = lt_tserase_peek(p, ahead + 2);
  switch (lt_tserase_peek(p, ahead)->word) {
    case LT_WORD_CLASS:
    case LT_WORD_FUNCTION:
    case LT_WORD_CONST:
    case LT_WORD_VAR:
    case LT_WORD_LET:
    case LT_WORD_ENUM:
      return true;
    case LT_WORD_ASYNC:
      return next->word == LT_WORD_FUNCTION && !next->newline_before;
    case LT_WORD_ABSTRACT:
      return next->word == LT_WORD_CLASS && !next->newline_before;
    case LT_WORD_TYPE:
      return lt_tserase_is_name(next) && !next->newline_before && (third->punct == '=' || third->punct == '<');
    case LT_WORD_INTERFACE:
      return lt_tserase_is_name(next) && !next->newline_before;
    case LT_WORD_NAMESPACE:
    case LT_WORD_MODULE:
      return (lt_tserase_is_name(next) || next->kind == LT_JSTOK_STRING) && !next->newline_before;
    case LT_WORD_GLOBAL:
      return next->punct == '{' && !next->newline_before;
    default:
      return false;
  }
}

static bool statement_skip_declared(lt_tserase *p) {
  size_t start = p->at;
  lt_tserase_advance(p);
  switch (lt_tserase_peek(p, 0)->word) {
    case LT_WORD_NAMESPACE:
    case LT_WORD_MODULE:
    case LT_WORD_GLOBAL:
    case LT_WORD_ENUM:
      return statement_skip_ambient_block(p);
    case LT_WORD_CONST:
      if (lt_tserase_peek(p, 1)->word == LT_WORD_ENUM) {
        return statement_skip_ambient_block(p);
      }
      break;
    default:
      break;
  }
  if (statement_is_variables(p)) {
    return statement_read_variables(p) && lt_tserase_end_statement(p);
  }
  return lt_tserase_statement_read_declaration(p, start);
}

static bool statement_is_declared(const lt_tserase *p) {
  return lt_tserase_is_word(p, LT_WORD_DECLARE) && !lt_tserase_peek(p, 1)->newline_before && statement_declares(p, 1);
}

bool lt_tserase_statement_read_declaration(lt_tserase *p, size_t start) {
  if (statement_is_declared(p)) {
    return statement_erase(p, start, statement_skip_declared);
  }
  if (statement_is_variables(p)) {
    return statement_read_variables(p) && lt_tserase_end_statement(p);
  }
  if (!statement_declares(p, 0)) {
    return false;
  }
  switch (lt_tserase_peek(p, 0)->word) {
    case LT_WORD_TYPE:
      return statement_erase(p, start, statement_skip_alias);
    case LT_WORD_INTERFACE:
      return statement_erase(p, start, statement_skip_interface);
    case LT_WORD_ASYNC:
    case LT_WORD_FUNCTION:
      return statement_read_function(p, start);
    case LT_WORD_ABSTRACT:
    case LT_WORD_CLASS:
      return statement_read_class(p);
    case LT_WORD_CONST:
    case LT_WORD_ENUM:
      return lt_tserase_enum_read(p, start);
    default: /* namespaces */
      return false;
  }
}

/* A scope of its own. */
static bool statement_read_in_braces(lt_tserase *p, bool (*read)(lt_tserase *p)) {
  uint32_t outside = p->block;
  p->block = (uint32_t)p->at;
  bool is_read = lt_tserase_take(p, '{') && read(p) && lt_tserase_take(p, '}');
  p->block = outside;
  return is_read;
}

/* --- Statements with a head --------------------------------------------------------------------------------------- */
static bool statement_read_head(lt_tserase *p) {
  return lt_tserase_take(p, '(') && lt_tserase_expression_read(p) && lt_tserase_take(p, ')');
}

static bool statement_read_if(lt_tserase *p) {
  lt_tserase_advance(p);
  return statement_read_head(p) && statement_read(p, false) &&
         (!lt_tserase_take_word(p, LT_WORD_ELSE) || statement_read(p, false));
}

/* `while (a) b`, `with (a) b` */
static bool statement_read_while(lt_tserase *p) {
  lt_tserase_advance(p);
  return statement_read_head(p) && statement_read(p, false);
}

static bool statement_read_do(lt_tserase *p) {
  lt_tserase_advance(p);
  if (!statement_read(p, false) || !lt_tserase_take_word(p, LT_WORD_WHILE) || !statement_read_head(p)) {
    return false;
  }
  lt_tserase_take(p, ';');
  return true;
}

static bool statement_read_for_begin(lt_tserase *p) {
  p->is_for_head = true;
  bool is_read = lt_tserase_is(p, ';') ||
                 (statement_is_variables(p) ? statement_read_variables(p) : lt_tserase_expression_read(p));
  p->is_for_head = false;
  return is_read;
}

/* `; a; b` */
static bool statement_read_for_rest(lt_tserase *p) {
  return lt_tserase_take(p, ';') && (lt_tserase_is(p, ';') || lt_tserase_expression_read(p)) &&
         lt_tserase_take(p, ';') && (lt_tserase_is(p, ')') || lt_tserase_expression_read(p));
}

static bool statement_read_for(lt_tserase *p) {
  lt_tserase_advance(p);
  lt_tserase_take_word(p, LT_WORD_AWAIT);
  if (!lt_tserase_take(p, '(') || !statement_read_for_begin(p)) {
    return false;
  }
  bool is_over_values = lt_tserase_take_word(p, LT_WORD_OF) || lt_tserase_take_word(p, LT_WORD_IN);
  return (is_over_values ? lt_tserase_expression_read(p) : statement_read_for_rest(p)) && lt_tserase_take(p, ')') &&
         statement_read(p, false);
}

static bool statement_read_try(lt_tserase *p) {
  lt_tserase_advance(p);
  if (!lt_tserase_statement_read_block(p)) {
    return false;
  }
  if (lt_tserase_take_word(p, LT_WORD_CATCH)) {
    if (lt_tserase_take(p, '(') &&
        !(lt_tserase_function_read_target(p) && lt_tserase_type_erase_annotation(p) && lt_tserase_take(p, ')'))) {
      return false;
    }
    if (!lt_tserase_statement_read_block(p)) {
      return false;
    }
  }
  return !lt_tserase_take_word(p, LT_WORD_FINALLY) || lt_tserase_statement_read_block(p);
}

/* `case a:`, `default:` */
static bool statement_read_case(lt_tserase *p) {
  if (lt_tserase_take_word(p, LT_WORD_CASE)) {
    p->is_before_colon = true;
    bool is_read = lt_tserase_expression_read(p);
    p->is_before_colon = false;
    return is_read && lt_tserase_take(p, ':');
  }
  return lt_tserase_take_word(p, LT_WORD_DEFAULT) && lt_tserase_take(p, ':');
}

static bool statement_read_cases(lt_tserase *p) {
  while (!lt_tserase_is(p, '}')) {
    if (!statement_read_case(p) || !lt_tserase_statement_read_list(p)) {
      return false;
    }
  }
  return true;
}

static bool statement_read_switch(lt_tserase *p) {
  lt_tserase_advance(p);
  return statement_read_head(p) && statement_read_in_braces(p, statement_read_cases);
}

/* --- Simple statements -------------------------------------------------------------------------------------------- */
/* `return`, `throw` */
static bool statement_read_return(lt_tserase *p) {
  lt_tserase_advance(p);
  const lt_tserase_token *next = lt_tserase_peek(p, 0);
  bool ends = next->newline_before || next->punct == ';' || next->punct == '}' || next->kind == LT_JSTOK_END;
  return (ends || lt_tserase_expression_read(p)) && lt_tserase_end_statement(p);
}

/* `break`, `continue`, `debugger` */
static bool statement_read_break(lt_tserase *p) {
  lt_tserase_advance(p);
  const lt_tserase_token *next = lt_tserase_peek(p, 0);
  if (lt_tserase_is_name(next) && !next->newline_before) {
    lt_tserase_advance(p);
  }
  return lt_tserase_end_statement(p);
}

static bool statement_read_expression(lt_tserase *p, bool is_listed) {
  if (lt_tserase_is_name(lt_tserase_peek(p, 0)) && lt_tserase_peek(p, 1)->punct == ':') { /* a label */
    lt_tserase_advance(p);
    return lt_tserase_advance(p) && statement_read(p, is_listed);
  }
  return !lt_tserase_expression_is_assertion(p) && lt_tserase_expression_read(p) && lt_tserase_end_statement(p);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */
static bool statement_read_word(lt_tserase *p, bool is_listed) {
  switch (lt_tserase_peek(p, 0)->word) {
    case LT_WORD_IF:
      return statement_read_if(p);
    case LT_WORD_FOR:
      return statement_read_for(p);
    case LT_WORD_WHILE:
    case LT_WORD_WITH:
      return statement_read_while(p);
    case LT_WORD_DO:
      return statement_read_do(p);
    case LT_WORD_SWITCH:
      return statement_read_switch(p);
    case LT_WORD_TRY:
      return statement_read_try(p);
    case LT_WORD_RETURN:
    case LT_WORD_THROW:
      return statement_read_return(p);
    case LT_WORD_BREAK:
    case LT_WORD_CONTINUE:
    case LT_WORD_DEBUGGER:
      return statement_read_break(p);
    case LT_WORD_IMPORT:
      if (lt_tserase_peek(p, 1)->punct != '(' && lt_tserase_peek(p, 1)->punct != '.') {
        return is_listed && lt_tserase_module_read_import(p);
      }
      break;
    case LT_WORD_EXPORT:
      return is_listed && lt_tserase_module_read_export(p);
    default:
      break;
  }
  if (statement_declares(p, 0) || statement_is_declared(p)) { /* where it would be all there is, nothing is erased */
    return (is_listed || statement_is_variables(p)) && lt_tserase_statement_read_declaration(p, p->at);
  }
  return statement_read_expression(p, is_listed);
}

static bool statement_read_any(lt_tserase *p, bool is_listed) {
  if (lt_tserase_is(p, '{')) {
    return lt_tserase_statement_read_block(p);
  }
  if (lt_tserase_take(p, ';')) {
    return true;
  }
  return lt_tserase_is_kind(p, LT_JSTOK_WORD) ? statement_read_word(p, is_listed)
                                              : statement_read_expression(p, is_listed);
}

/* `is_listed`: one of several, and not the body of another statement. */
static bool statement_read(lt_tserase *p, bool is_listed) {
  if (!lt_tserase_enter(p)) {
    return false;
  }
  bool is_read = statement_read_any(p, is_listed);
  lt_tserase_leave(p);
  return is_read;
}

bool lt_tserase_statement_read_list(lt_tserase *p) {
  while (!lt_tserase_is(p, '}') && !lt_tserase_is_kind(p, LT_JSTOK_END) && !lt_tserase_is_word(p, LT_WORD_CASE) &&
         !lt_tserase_is_word(p, LT_WORD_DEFAULT)) {
    if (!statement_read(p, true)) {
      return false;
    }
  }
  return true;
}

bool lt_tserase_statement_read_block(lt_tserase *p) {
  return statement_read_in_braces(p, lt_tserase_statement_read_list);
}
