#include "js/tserase_parser.h"

typedef struct class_head {
  size_t brace; /* index of the { of its body */
  bool is_derived;
} class_head;

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

/* Where the super() is, as a statement of the body that begins here; 0: there is none, or something else. */
static size_t class_find_super(const lt_tserase *p) {
  size_t end = lt_tserase_peek(p, 0)->mate;
  for (size_t i = p->at + 1; i < end; i++) {
    const lt_tserase_token *token = lt_tserase_token_at(p, i), *before = lt_tserase_token_at(p, i - 1);
    if (token->word == LT_WORD_SUPER && lt_tserase_token_at(p, i + 1)->punct == '(') {
      return before->punct == ';' || before->punct == '{' || before->punct == '}' ? i : 0;
    }
    if (token->punct == '(' || token->punct == '[' || token->punct == '{' || token->opens) {
      i = token->mate;
    }
  }
  return 0;
}

/* The token after which properties may be assigned to `this`, and no other statement has run: the { of the body, or the
 * ; after super(). 0: what TypeScript would do is not as simple. */
static size_t class_find_start(const lt_tserase *p, bool is_derived) {
  if (!is_derived) {
    bool may_be_directive = lt_tserase_peek(p, 1)->kind == LT_JSTOK_STRING;
    return may_be_directive ? 0 : p->at;
  }
  size_t super = class_find_super(p);
  size_t end = super != 0 ? lt_tserase_token_at(p, super + 1)->mate + 1 : 0;
  return end != 0 && lt_tserase_token_at(p, end)->punct == ';' ? end : 0;
}

/* `constructor(private a) {}` in `class {}` as TypeScript 7 writes it: `class { a; constructor(a) { this.a = a; } }`.
 */
static bool class_write_properties(lt_tserase *p, const class_head *head, lt_tserase_properties properties) {
  size_t start = class_find_start(p, head->is_derived);
  for (size_t i = properties.first; i != 0; i = lt_tserase_token_at(p, i)->mate) {
    lt_tserase_insert_behind(p, head->brace, " @;", i, i);
    lt_tserase_insert_behind(p, start, " this.@ = @;", i, i);
  }
  return start != 0;
}

/* `ret_has_value` is false for one of several signatures. */
static bool class_read_method(lt_tserase *p, const class_head *head, bool is_constructor, bool *ret_has_value) {
  lt_tserase_properties properties = {0};
  p->properties = is_constructor ? &properties : NULL;
  bool is_read = lt_tserase_function_read_signature(p);
  p->properties = NULL;
  *ret_has_value = lt_tserase_is(p, '{');
  if (!is_read || (properties.first != 0 && (!*ret_has_value || !class_write_properties(p, head, properties)))) {
    return false;
  }
  return *ret_has_value ? lt_tserase_function_read_body(p) : lt_tserase_end_statement(p);
}

static bool class_read_key(lt_tserase *p) {
  if (lt_tserase_take(p, '#')) {
    return lt_tserase_is_kind(p, LT_JSTOK_WORD) && lt_tserase_advance(p);
  }
  return lt_tserase_function_read_key(p);
}

/* `get constructor()` is none, nor is `static constructor()`. */
static bool class_is_constructor(const lt_tserase *p) {
  const lt_tserase_token *before = lt_tserase_token_at(p, p->at - 1);
  bool is_other = before->word == LT_WORD_STATIC || before->word == LT_WORD_GET || before->word == LT_WORD_SET ||
                  before->word == LT_WORD_ASYNC || before->punct == '*';
  return !is_other && lt_str_eqc(lt_tserase_text(p, p->at), "constructor");
}

/* Behind the modifiers. */
static bool class_read_named(lt_tserase *p, const class_head *head, bool *ret_has_value) {
  if (lt_tserase_type_is_index(p)) {
    *ret_has_value = false;
    return lt_tserase_type_skip_index(p) && lt_tserase_end_statement(p);
  }
  bool is_constructor = class_is_constructor(p);
  if (!class_read_key(p)) {
    return false;
  }
  size_t mark = p->at;
  if (!lt_tserase_take(p, '?')) {
    lt_tserase_take(p, '!');
  }
  lt_tserase_erase_from(p, mark);
  if (lt_tserase_is(p, '(') || lt_tserase_is(p, '<')) {
    return class_read_method(p, head, is_constructor, ret_has_value);
  }
  return class_read_field(p);
}

static bool class_read_member(lt_tserase *p, const class_head *head) {
  if (lt_tserase_take(p, ';')) {
    return true;
  }
  size_t start = p->at, open_end = p->open_end;
  if (lt_tserase_is_word(p, LT_WORD_STATIC) && lt_tserase_peek(p, 1)->punct == '{') {
    return lt_tserase_advance(p) && lt_tserase_function_read_body(p);
  }
  bool is_declared = false, has_value = true;
  if (!class_read_modifiers(p, &is_declared) || !class_read_named(p, head, &has_value)) {
    return false;
  }
  if (is_declared || !has_value) {
    p->open_end = open_end;
    lt_tserase_erase_statement(p, start);
  }
  return true;
}

static bool class_read_members(lt_tserase *p, const class_head *head) {
  while (!lt_tserase_is(p, '}')) {
    if (!class_read_member(p, head)) {
      return false;
    }
  }
  return true;
}

/* --- A class ------------------------------------------------------------------------------------------------------ */
static bool class_read_body(lt_tserase *p, bool is_derived) {
  class_head head = {.brace = p->at, .is_derived = is_derived};
  if (!lt_tserase_take(p, '{') || !lt_tserase_enter(p)) {
    return false;
  }
  lt_tserase_outside outside = lt_tserase_go_inside(p);
  bool is_body = class_read_members(p, &head);
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
  if (!lt_tserase_type_erase_parameters(p)) {
    return false;
  }
  bool is_derived = lt_tserase_take_word(p, LT_WORD_EXTENDS);
  return (!is_derived || lt_tserase_expression_read_heritage(p)) && class_erase_interfaces(p) &&
         class_read_body(p, is_derived);
}
