/* Which imports and exports are erased, TypeScript decides by how their names are used. Where that is a question, it is
 * left to the type stripper. */
#include "js/tserase_parser.h"

/* --- Parts -------------------------------------------------------------------------------------------------------- */
/* `from "module" with { type: "json" }`, and the statement's end. */
static bool module_read_source(lt_tserase *p) {
  if (!lt_tserase_is_kind(p, LT_JSTOK_STRING)) {
    return false;
  }
  lt_tserase_advance(p);
  if (lt_tserase_take_word(p, LT_WORD_WITH)) {
    if (!lt_tserase_is(p, '{')) {
      return false;
    }
    p->at = lt_tserase_peek(p, 0)->mate;
    lt_tserase_advance(p);
  }
  return lt_tserase_end_statement(p);
}

static bool module_read_from(lt_tserase *p) {
  return lt_tserase_take_word(p, LT_WORD_FROM) && module_read_source(p);
}

/* `* as name` */
static bool module_read_star(lt_tserase *p) {
  if (!lt_tserase_take(p, '*')) {
    return false;
  }
  return !lt_tserase_take_word(p, LT_WORD_AS) ||
         ((lt_tserase_is_kind(p, LT_JSTOK_WORD) || lt_tserase_is_kind(p, LT_JSTOK_STRING)) && lt_tserase_advance(p));
}

static bool module_skip_braces(lt_tserase *p) {
  if (!lt_tserase_is(p, '{')) {
    return false;
  }
  p->at = lt_tserase_peek(p, 0)->mate;
  return lt_tserase_advance(p);
}

static bool module_erase(lt_tserase *p, size_t start, size_t open_end) {
  p->open_end = open_end;
  lt_tserase_erase_statement(p, start);
  return true;
}

/* --- Imports ------------------------------------------------------------------------------------------------------ */
/* `import type A from "a"`, `import type { A } from "a"`, `import type * as a from "a"` */
static bool module_erase_type_import(lt_tserase *p, size_t start) {
  size_t open_end = p->open_end;
  lt_tserase_advance(p);
  bool is_name = lt_tserase_is_name(lt_tserase_peek(p, 0)) && !lt_tserase_is_word(p, LT_WORD_FROM);
  bool has_names = is_name ? lt_tserase_advance(p) : module_skip_braces(p) || module_read_star(p);
  return has_names && module_read_from(p) && module_erase(p, start, open_end);
}

bool lt_tserase_module_read_import(lt_tserase *p) {
  size_t start = p->at;
  lt_tserase_advance(p);
  return lt_tserase_is_word(p, LT_WORD_TYPE) ? module_erase_type_import(p, start) : module_read_source(p);
}

/* --- Exports ------------------------------------------------------------------------------------------------------ */
/* Whether there may be a type of this name. */
static bool module_may_be_type(const lt_tserase *p, const lt_tserase_token *name) {
  lt_str text = lt_str_sub(p->source, name->start, name->end);
  for (size_t i = 1; i < p->count; i++) {
    const lt_tserase_token *token = &p->tokens[i];
    lt_tserase_word before = (lt_tserase_word)token[-1].word;
    bool declares = before == LT_WORD_TYPE || before == LT_WORD_INTERFACE;
    if (token->word == LT_WORD_DECLARE ||
        (declares && lt_str_eq(lt_str_sub(p->source, token->start, token->end), text))) {
      return true;
    }
  }
  return false;
}

/* `export type { A } from "a"`, `export type * from "a"` */
static bool module_erase_type_export(lt_tserase *p, size_t start) {
  size_t open_end = p->open_end;
  lt_tserase_advance(p);
  bool is_read = lt_tserase_is(p, '*')
                     ? module_read_star(p) && module_read_from(p)
                     : module_skip_braces(p) &&
                           (lt_tserase_is_word(p, LT_WORD_FROM) ? module_read_from(p) : lt_tserase_end_statement(p));
  return is_read && module_erase(p, start, open_end);
}

static bool module_read_default(lt_tserase *p, size_t start) {
  lt_tserase_advance(p);
  const lt_tserase_token *token = lt_tserase_peek(p, 0), *next = lt_tserase_peek(p, 1);
  bool is_function =
      token->word == LT_WORD_FUNCTION || (token->word == LT_WORD_ASYNC && next->word == LT_WORD_FUNCTION);
  bool is_interface = token->word == LT_WORD_INTERFACE && lt_tserase_is_name(next);
  bool is_class = token->word == LT_WORD_CLASS || (token->word == LT_WORD_ABSTRACT && next->word == LT_WORD_CLASS);
  if (is_function || is_interface || is_class) {
    return lt_tserase_statement_read_declaration(p, start);
  }
  if (!lt_tserase_expression_read_single(p)) {
    return false;
  }
  bool is_name = lt_tserase_is_name(token) && lt_tserase_token_at(p, p->at - 1) == token;
  return (!is_name || !module_may_be_type(p, token)) && lt_tserase_end_statement(p);
}

/* `{ a, b as c } from "a"` */
static bool module_read_names(lt_tserase *p) {
  size_t end = lt_tserase_peek(p, 0)->mate;
  bool has_source = lt_tserase_token_at(p, end + 1)->word == LT_WORD_FROM;
  for (lt_tserase_advance(p); p->at < end; lt_tserase_advance(p)) {
    const lt_tserase_token *name = lt_tserase_peek(p, 0);
    bool is_plain = lt_tserase_is(p, ',') || name->kind == LT_JSTOK_WORD || name->kind == LT_JSTOK_STRING;
    if (!is_plain || name->word == LT_WORD_TYPE || (!has_source && module_may_be_type(p, name))) {
      return false;
    }
  }
  return lt_tserase_take(p, '}') && (has_source ? module_read_from(p) : lt_tserase_end_statement(p));
}

bool lt_tserase_module_read_export(lt_tserase *p) {
  size_t start = p->at;
  lt_tserase_advance(p);
  const lt_tserase_token *next = lt_tserase_peek(p, 1);
  if (lt_tserase_is_word(p, LT_WORD_TYPE) && (next->punct == '{' || next->punct == '*')) {
    return module_erase_type_export(p, start);
  }
  if (lt_tserase_is_word(p, LT_WORD_DEFAULT)) {
    return module_read_default(p, start);
  }
  if (lt_tserase_is(p, '*')) {
    return module_read_star(p) && module_read_from(p);
  }
  return lt_tserase_is(p, '{') ? module_read_names(p) : lt_tserase_statement_read_declaration(p, start);
}
