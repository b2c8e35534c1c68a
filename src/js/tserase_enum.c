/* An enum becomes what TypeScript makes of it, on the lines that it had:
 *
 *   enum A { B, C = B | 4, D = "d" }
 *   var  A; (function (A) { A[A["B"] = 0] = "B"; A[A["C"] = A["B"] | 4] = "C"; A["D"] = "d" })(A || (A = {}));
 *
 * TypeScript writes the values of constant expressions. Here the expressions stay, and only whether a value is a string
 * is found out: a string has no reverse mapping. An expression of which that is not known is left to the type stripper,
 * and so is what TypeScript calls an error. */
#include "js/tserase_parser.h"

enum { COMPARED_PER_STEP = 4 };

typedef enum enum_value { VALUE_UNKNOWN, VALUE_NUMBER, VALUE_TEXT } enum_value;

/* --- Members by name ---------------------------------------------------------------------------------------------- */
/* Without the quotes. A name with an escape is no key. */
static lt_str enum_key_text(const lt_tserase *p, size_t index) {
  lt_str text = lt_tserase_text(p, index);
  return lt_tserase_token_at(p, index)->kind == LT_JSTOK_STRING ? lt_str_sub(text, 1, text.n - 1) : text;
}

/* The index of the member's name; 0: there is none. */
static size_t enum_find_member(lt_tserase *p, const lt_tserase_enum *e, lt_str name) {
  size_t compared = 0;
  for (size_t i = e->last_member; i != 0; i = p->tokens[i].mate) {
    if (lt_str_eq(enum_key_text(p, i), name)) {
      return i;
    }
    if (++compared % COMPARED_PER_STEP == 0 && p->steps_left > 0) {
      p->steps_left--;
    }
    if (p->steps_left == 0) {
      p->is_given_up = true;
      return 0;
    }
  }
  return 0;
}

/* TypeScript refuses names that are numbers: a reverse mapping has them. Of __proto__ no value can be read. */
static bool enum_is_key_text(lt_str name) {
  bool is_number = name.n > 0 && (lt_str_eqc(name, "NaN") || lt_str_eqc(name, "Infinity") || name.p[0] == '-' ||
                                  (name.p[0] >= '0' && name.p[0] <= '9'));
  return !is_number && memchr(name.p, '\\', name.n) == NULL && !lt_str_eqc(name, "__proto__");
}

static bool enum_is_key(const lt_tserase *p, size_t index) {
  uint8_t kind = lt_tserase_token_at(p, index)->kind;
  return (kind == LT_JSTOK_WORD || kind == LT_JSTOK_STRING) && enum_is_key_text(enum_key_text(p, index));
}

static enum_value enum_value_of(const lt_tserase *p, size_t member) {
  return member == 0 ? VALUE_UNKNOWN : p->tokens[member].is_text ? VALUE_TEXT : VALUE_NUMBER;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */
static enum_value enum_read_value(lt_tserase *p, const lt_tserase_enum *e);

/* `A.B`, `A["B"]` behind the A, which stay as they are. */
static enum_value enum_read_property(lt_tserase *p, const lt_tserase_enum *e) {
  const lt_tserase_token *open = lt_tserase_peek(p, 0);
  size_t key = p->at + 1;
  bool is_dotted = open->punct == '.' && open->end - open->start == 1;
  uint8_t kind = is_dotted ? LT_JSTOK_WORD : LT_JSTOK_STRING;
  if ((!is_dotted && open->punct != '[') || lt_tserase_token_at(p, key)->kind != kind || !enum_is_key(p, key)) {
    return VALUE_UNKNOWN;
  }
  lt_tserase_advance(p);
  lt_tserase_advance(p);
  return is_dotted || lt_tserase_take(p, ']') ? enum_value_of(p, enum_find_member(p, e, enum_key_text(p, key)))
                                              : VALUE_UNKNOWN;
}

/* A member's name, by which an earlier member is meant, or the enum's own. */
static enum_value enum_read_reference(lt_tserase *p, const lt_tserase_enum *e) {
  size_t index = p->at;
  lt_str name = lt_tserase_text(p, index);
  if (!lt_tserase_is_name(lt_tserase_peek(p, 0))) {
    return VALUE_UNKNOWN;
  }
  lt_tserase_advance(p);
  if (lt_str_eq(name, lt_tserase_text(p, e->name))) {
    return enum_read_property(p, e);
  }
  lt_tserase_insert_before(p, index, "@[\"", e->name, index);
  lt_tserase_insert_behind(p, index, "\"]", e->name, index);
  return enum_value_of(p, enum_find_member(p, e, name));
}

/* Not 1n, and not 017, which modules do not have. */
static bool enum_is_number(lt_str text) {
  bool is_octal = text.n > 1 && text.p[0] == '0' && text.p[1] >= '0' && text.p[1] <= '9';
  return !is_octal && text.p[text.n - 1] != 'n';
}

static enum_value enum_read_in_parentheses(lt_tserase *p, const lt_tserase_enum *e) {
  if (!lt_tserase_take(p, '(') || !lt_tserase_enter(p)) {
    return VALUE_UNKNOWN;
  }
  enum_value value = enum_read_value(p, e);
  lt_tserase_leave(p);
  return lt_tserase_take(p, ')') ? value : VALUE_UNKNOWN;
}

static enum_value enum_read_primary(lt_tserase *p, const lt_tserase_enum *e) {
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  lt_str text = lt_tserase_text(p, p->at);
  switch (token->kind) {
    case LT_JSTOK_NUMBER:
      return enum_is_number(text) && lt_tserase_advance(p) ? VALUE_NUMBER : VALUE_UNKNOWN;
    case LT_JSTOK_STRING:
      return lt_tserase_advance(p) ? VALUE_TEXT : VALUE_UNKNOWN;
    case LT_JSTOK_TEMPLATE:
      return text.p[0] == '`' && !token->opens && lt_tserase_advance(p) ? VALUE_TEXT : VALUE_UNKNOWN;
    case LT_JSTOK_WORD:
      return enum_read_reference(p, e);
    default:
      return enum_read_in_parentheses(p, e);
  }
}

static enum_value enum_read_operand(lt_tserase *p, const lt_tserase_enum *e) {
  size_t start = p->at;
  while (lt_tserase_is(p, '+') || lt_tserase_is(p, '-') || lt_tserase_is(p, '~')) {
    lt_tserase_advance(p);
  }
  size_t end = p->at;
  enum_value value = enum_read_primary(p, e);
  return value == VALUE_TEXT && end > start ? VALUE_UNKNOWN : value;
}

/* Reads an operator of constant expressions; what is left of a longer one is no operand. */
static bool enum_take_operator(lt_tserase *p, bool *ret_adds) {
  static const char *const operators[] = {">>>", ">>", "<<", "**", "+", "-", "*", "/", "%", "&", "|", "^"};
  const lt_tserase_token *token = lt_tserase_peek(p, 0);
  lt_str rest = lt_str_sub(p->source, token->start, p->source.n);
  for (size_t i = 0; i < sizeof operators / sizeof operators[0] && token->punct != '\0'; i++) {
    lt_str text = lt_str_of(operators[i]);
    if (lt_str_starts(rest, text)) {
      for (size_t n = 0; n < text.n; n++) {
        lt_tserase_advance(p);
      }
      *ret_adds = operators[i][0] == '+';
      return true;
    }
  }
  return false;
}

/* A string added to something is a string; nothing else is done with strings here. */
static enum_value enum_read_value(lt_tserase *p, const lt_tserase_enum *e) {
  bool has_text = false, only_adds = true, adds = true;
  do {
    enum_value value = enum_read_operand(p, e);
    if (value == VALUE_UNKNOWN) {
      return VALUE_UNKNOWN;
    }
    has_text = has_text || value == VALUE_TEXT;
    only_adds = only_adds && adds;
  } while (enum_take_operator(p, &adds));
  return !has_text ? VALUE_NUMBER : only_adds ? VALUE_TEXT : VALUE_UNKNOWN;
}

/* --- Members ------------------------------------------------------------------------------------------------------ */
/* Without a value of its own a member has the one after that of the member before. */
static enum_value enum_read_initialiser(lt_tserase *p, const lt_tserase_enum *e, size_t before) {
  if (lt_tserase_take(p, '=')) {
    return enum_read_value(p, e);
  }
  if (before == 0) {
    lt_tserase_insert_behind(p, p->at - 1, " = 0", e->name, before);
    return VALUE_NUMBER;
  }
  lt_tserase_insert_behind(p, p->at - 1, " = @[#] + 1", e->name, before);
  return p->tokens[before].is_text ? VALUE_UNKNOWN : VALUE_NUMBER;
}

static bool enum_end_member(lt_tserase *p) {
  if (lt_tserase_is(p, ',')) {
    p->out[lt_tserase_peek(p, 0)->start] = ';';
    return lt_tserase_advance(p);
  }
  return lt_tserase_is(p, '}');
}

/* `before`: the member before in the same braces; 0: there is none. */
static bool enum_read_member(lt_tserase *p, lt_tserase_enum *e, size_t before) {
  size_t key = p->at;
  bool is_word = lt_tserase_is_kind(p, LT_JSTOK_WORD);
  if (!enum_is_key(p, key)) {
    return false;
  }
  lt_str text = enum_key_text(p, key);
  if (lt_str_eq(text, lt_tserase_text(p, e->name)) || enum_find_member(p, e, text) != 0) {
    return false;
  }
  lt_tserase_advance(p);
  lt_tserase_insert_behind(p, key, is_word ? "\"]" : "]", e->name, key);
  enum_value value = enum_read_initialiser(p, e, before);
  if (value == VALUE_UNKNOWN) {
    return false;
  }
  lt_tserase_insert_before(p, key, value == VALUE_NUMBER ? "@[@[" : "@[", e->name, key);
  lt_tserase_insert_before(p, key, is_word ? "\"" : "", e->name, key);
  lt_tserase_insert_behind(p, p->at - 1, value == VALUE_NUMBER ? "] = #" : "", e->name, key);
  p->tokens[key].is_text = value == VALUE_TEXT;
  p->tokens[key].mate = e->last_member;
  e->last_member = (uint32_t)key;
  return enum_end_member(p);
}

static bool enum_read_members(lt_tserase *p, lt_tserase_enum *e) {
  size_t before = 0;
  lt_tserase_advance(p);
  while (!lt_tserase_is(p, '}')) {
    if (!enum_read_member(p, e, before)) {
      return false;
    }
    before = e->last_member;
  }
  lt_tserase_insert_behind(p, p->at, ")(@ || (@ = {}));", e->name, e->name);
  return lt_tserase_advance(p);
}

/* --- An enum ------------------------------------------------------------------------------------------------------ */
/* The enum that one of this name adds to; NULL: it is the first of its name in its block. */
static lt_tserase_enum *enum_find(lt_tserase *p, lt_str name) {
  for (size_t i = 0; i < p->enum_count; i++) {
    if (p->enums[i].block == p->block && lt_str_eq(lt_tserase_text(p, p->enums[i].name), name)) {
      return &p->enums[i];
    }
  }
  return NULL;
}

static lt_tserase_enum *enum_add(lt_tserase *p, size_t name, bool is_exported) {
  if (p->enum_count == LT_TSERASE_ENUMS) {
    return NULL;
  }
  lt_tserase_enum *e = &p->enums[p->enum_count++];
  *e = (lt_tserase_enum){.name = (uint32_t)name, .block = p->block, .is_exported = is_exported};
  return e;
}

/* The words up to the name: `export const enum` becomes `export       var `. */
static void enum_write_words(lt_tserase *p, size_t start, bool is_first) {
  const char *word = !is_first ? ";   " : p->block == UINT32_MAX ? "var " : "let ";
  lt_tserase_erase_from(p, is_first && p->tokens[start].word == LT_WORD_EXPORT ? start + 1 : start);
  memcpy(p->out + lt_tserase_peek(p, 0)->start, word, strlen(word));
  lt_tserase_advance(p);
}

bool lt_tserase_enum_read(lt_tserase *p, size_t start) {
  bool is_exported = p->tokens[start].word == LT_WORD_EXPORT;
  bool is_after_colon = start > 0 && p->tokens[start - 1].punct == ':'; /* a label, or a case */
  lt_tserase_take_word(p, LT_WORD_CONST);
  size_t name = p->at + 1;
  const lt_tserase_token *token = lt_tserase_token_at(p, name);
  if (is_after_colon || token->kind != LT_JSTOK_WORD || token->word != LT_WORD_NONE ||
      lt_tserase_token_at(p, name + 1)->punct != '{') {
    return false;
  }
  lt_tserase_enum *e = enum_find(p, lt_tserase_text(p, name));
  bool is_first = e == NULL;
  if (is_first) {
    e = enum_add(p, name, is_exported);
  }
  if (e == NULL || e->is_exported != is_exported) {
    return false;
  }
  enum_write_words(p, start, is_first);
  lt_tserase_advance(p);
  lt_tserase_insert_before(p, name, is_first ? "" : "(function (", name, name);
  lt_tserase_insert_behind(p, name, is_first ? "; (function (@)" : ")", name, name);
  return enum_read_members(p, e);
}
