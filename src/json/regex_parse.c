/* Parses a pattern's text: ECMA-262's grammar in Unicode mode, plus unambiguous additions of its appendix B and of
 * other languages. Syntax with different meanings in different languages (\Z, \h, a possessive +) is refused: an
 * unchecked pattern does less harm than a wrongly checked one. */
#include "base/limits.h"
#include "json/json_text.h"
#include "json/regex_program.h"
#include "json/regex_tree.h"

#define REPEAT_MAX     1000000 /* saturates: no program is that long */
#define LAST_CHARACTER 0x10FFFFu

typedef struct regex_parser {
  lt_arena *scratch; /* for the tree */
  lt_arena *arena;   /* for classes, which stay */
  const char *start;
  const char *p;
  const char *end;
  lt_err *err;
  lt_status status;
  lt_regex_tree *tree;
  uint32_t look_cap;
  uint32_t negated; /* number of enclosing negative look-arounds */
  uint32_t depth;
  bool fold;    /* (?i) */
  bool lines;   /* (?m): ^ and $ match at the edges of lines */
  bool dot_all; /* (?s) */
} regex_parser;

/* --- Failing ------------------------------------------------------------------------------------------------------ */

static lt_regex_node *regex_parse_fail(regex_parser *r, lt_status status, const char *what) {
  if (r->status == LT_OK) {
    r->status = lt_fail(r->err, status, "%s, at byte %zu of the pattern", what, (size_t)(r->p - r->start) + 1);
  }
  return NULL;
}

static lt_regex_node *regex_parse_fail_memory(regex_parser *r) {
  if (r->status == LT_OK) {
    r->status = lt_fail(r->err, LT_E_NOMEM, "out of memory");
  }
  return NULL;
}

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

static lt_regex_node *regex_parse_new_node(regex_parser *r, lt_regex_kind kind) {
  lt_regex_node *n = lt_arena_zalloc(r->scratch, 1, sizeof(*n));
  if (n == NULL) {
    return regex_parse_fail_memory(r);
  }
  n->kind = kind;
  return n;
}

static void regex_parse_append(lt_regex_node *parent, lt_regex_node *child) {
  child->prev = parent->last;
  if (parent->last != NULL) {
    parent->last->next = child;
  } else {
    parent->first = child;
  }
  parent->last = child;
}

static lt_regex_node *regex_parse_new_assertion(regex_parser *r, lt_regex_assertion which) {
  lt_regex_node *n = regex_parse_new_node(r, LT_RE_ASSERT);
  if (n != NULL) {
    n->c = which;
  }
  return n;
}

static lt_regex_node *regex_parse_new_class(regex_parser *r, lt_regex_set *set, bool negated) {
  if (r->fold) {
    lt_regex_set_fold(set);
  }
  if (set->any_other && r->negated > 0) {
    return regex_parse_fail(r, LT_E_UNSUPPORTED, "a Unicode property in a negated look-around");
  }
  const lt_regex_class *class = NULL;
  lt_status status = lt_regex_set_finish(set, negated, r->arena, &class);
  if (status != LT_OK) {
    return status == LT_E_LIMIT ? regex_parse_fail(r, status, "a class with too many ranges")
                                : regex_parse_fail_memory(r);
  }
  lt_regex_node *n = regex_parse_new_node(r, LT_RE_CLASS);
  if (n != NULL) {
    n->class = class;
  }
  return n;
}

static bool regex_parse_is_letter(uint32_t c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static lt_regex_node *regex_parse_new_char(regex_parser *r, uint32_t c) {
  if (r->fold && (regex_parse_is_letter(c) || c > 0x7F)) {
    lt_regex_set set = {.scratch = r->scratch, .any_other = c > 0x7F};
    lt_regex_set_add(&set, c, c);
    return regex_parse_new_class(r, &set, false);
  }
  lt_regex_node *n = regex_parse_new_node(r, LT_RE_CHAR);
  if (n != NULL) {
    n->c = c;
  }
  return n;
}

/* --- Characters and escapes --------------------------------------------------------------------------------------- */

static bool regex_parse_at(const regex_parser *r, const char *text) {
  size_t n = strlen(text);
  return (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0;
}

static bool regex_parse_skip(regex_parser *r, const char *text) {
  bool there = regex_parse_at(r, text);
  if (there) {
    r->p += strlen(text);
  }
  return there;
}

/* Reads one literal character. The text must not be at its end. */
static uint32_t regex_parse_read_plain(regex_parser *r) {
  uint32_t c = 0;
  unsigned n = lt_json_read_char(r->p, r->end, &c);
  if (n == 0) {
    regex_parse_fail(r, LT_E_SYNTAX, "bytes that are no UTF-8");
    n = 1;
  }
  r->p += n;
  return c;
}

/* Reads `digits` hexadecimal digits. */
static bool regex_parse_read_hex(regex_parser *r, unsigned digits, uint32_t *ret) {
  uint32_t c = 0;
  for (unsigned i = 0; i < digits; i++) {
    int digit = r->p + i < r->end ? lt_json_hex_value(r->p[i]) : -1;
    if (digit < 0) {
      return false;
    }
    c = c << 4 | (uint32_t)digit;
  }
  r->p += digits;
  *ret = c;
  return true;
}

static bool regex_parse_read_braced(regex_parser *r, uint32_t *ret) {
  uint32_t c = 0;
  const char *first = ++r->p;
  while (r->p < r->end && lt_json_hex_value(*r->p) >= 0 && c <= LAST_CHARACTER) {
    c = c << 4 | (uint32_t)lt_json_hex_value(*r->p++);
  }
  bool good = r->p > first && c <= LAST_CHARACTER && regex_parse_at(r, "}");
  r->p += good;
  *ret = c;
  return good;
}

/* Reads what follows "\u": four digits, two such escapes that make a pair, or {digits}. */
static bool regex_parse_read_unicode(regex_parser *r, uint32_t *ret) {
  if (regex_parse_at(r, "{")) {
    return regex_parse_read_braced(r, ret);
  }
  uint32_t low;
  if (!regex_parse_read_hex(r, 4, ret)) {
    return false;
  }
  const char *after = r->p;
  if (lt_json_is_high(*ret) && regex_parse_skip(r, "\\u")) {
    if (regex_parse_read_hex(r, 4, &low) && lt_json_is_low(low)) {
      *ret = lt_json_join(*ret, low);
    } else {
      r->p = after;
    }
  }
  return true;
}

/* Finds the control character of an escape's letter. False: it has none. */
static bool regex_parse_control_of(char letter, uint32_t *ret) {
  static const char letters[] = "tnvfr";
  const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
  if (found == NULL) {
    return false;
  }
  *ret = 9 + (uint32_t)(found - letters);
  return true;
}

static bool regex_parse_is_alphanumeric(char c) {
  return regex_parse_is_letter((unsigned char)c) || lt_json_is_digit(c);
}

/* Reads an escape for one character; `p` is after the backslash. Sets the status when it is no such escape. */
static uint32_t regex_parse_read_escaped_char(regex_parser *r) {
  uint32_t c = 0;
  char letter = *r->p;
  bool good = true;
  if (!regex_parse_is_alphanumeric(letter)) {
    return regex_parse_read_plain(
        r); /* also \- \_ \" and similar escapes, which Unicode mode does not allow: they have no other meaning */
  }
  r->p++;
  if (letter == 'x') {
    good = regex_parse_read_hex(r, 2, &c);
  } else if (letter == 'u') {
    good = regex_parse_read_unicode(r, &c);
  } else if (letter == 'c') {
    good = r->p < r->end && regex_parse_is_letter((unsigned char)*r->p);
    c = good ? (uint32_t)*r->p++ & 31 : 0;
  } else if (letter == '0' && (r->p == r->end || !lt_json_is_digit(*r->p))) {
    c = 0;
  } else if (!regex_parse_control_of(letter, &c)) {
    bool refers = letter == 'k' || lt_json_is_digit(letter);
    regex_parse_fail(r, LT_E_UNSUPPORTED, refers ? "a back-reference" : "an escape that ECMA-262 does not have");
  }
  if (!good) {
    regex_parse_fail(r, LT_E_SYNTAX, "an incomplete escape");
  }
  return c;
}

/* Reads \p{...} or \P{...}, beginning with the letter. */
static void regex_parse_read_property(regex_parser *r, lt_regex_set *set) {
  bool negated = *r->p++ == 'P';
  const char *close = regex_parse_at(r, "{") ? memchr(r->p, '}', (size_t)(r->end - r->p)) : NULL;
  if (close == NULL) {
    regex_parse_fail(r, LT_E_SYNTAX, "\\p without a property in braces");
    return;
  }
  lt_str name = {r->p + 1, (size_t)(close - r->p) - 1};
  if (!lt_regex_set_add_property(set, name, negated)) {
    regex_parse_fail(r, LT_E_UNSUPPORTED, "an unknown Unicode property");
  }
  r->p = close + 1;
}

/* Reads a class that is written as one escape, beginning with the letter. False: the escape is no class. */
static bool regex_parse_read_class_escape(regex_parser *r, lt_regex_set *set) {
  if (r->p < r->end && (*r->p | 0x20) == 'p') {
    regex_parse_read_property(r, set);
    return true;
  }
  if (r->p < r->end && lt_regex_set_add_escape(set, *r->p)) {
    r->p++;
    return true;
  }
  return false;
}

/* --- Classes in brackets ------------------------------------------------------------------------------------------ */

/* Reads one side of a range. False: it was a class, which has been added to the set. */
static bool regex_parse_read_member(regex_parser *r, lt_regex_set *set, uint32_t *ret) {
  if (*r->p != '\\') {
    *ret = regex_parse_read_plain(r);
    return true;
  }
  r->p++;
  if (r->p == r->end) {
    regex_parse_fail(r, LT_E_SYNTAX, "a backslash at the end");
    return false;
  }
  if (regex_parse_read_class_escape(r, set)) {
    return false;
  }
  *ret = regex_parse_skip(r, "b") ? '\b' : regex_parse_read_escaped_char(r);
  return true;
}

/* Reads `-` after `from`, or what comes instead: appendix B allows a class on either side of it. */
static void regex_parse_read_range(regex_parser *r, lt_regex_set *set, uint32_t from) {
  uint32_t to;
  r->p++;
  if (!regex_parse_read_member(r, set, &to)) {
    lt_regex_set_add(set, from, from);
    lt_regex_set_add(set, '-', '-');
  } else if (to < from) {
    regex_parse_fail(r, LT_E_SYNTAX, "a range in the wrong order");
  } else {
    lt_regex_set_add(set, from, to);
  }
}

static lt_regex_node *regex_parse_read_brackets(regex_parser *r) {
  lt_regex_set set = {.scratch = r->scratch};
  r->p++;
  bool negated = regex_parse_skip(r, "^");
  while (r->status == LT_OK && !regex_parse_at(r, "]")) {
    uint32_t c;
    if (r->p == r->end) {
      return regex_parse_fail(r, LT_E_SYNTAX, "a class without its ]");
    }
    if (!regex_parse_read_member(r, &set, &c)) {
      continue;
    }
    if (regex_parse_at(r, "-") && r->end - r->p > 1 && r->p[1] != ']') {
      regex_parse_read_range(r, &set, c);
    } else {
      lt_regex_set_add(&set, c, c);
    }
  }
  if (r->status != LT_OK) {
    return NULL;
  }
  r->p++;
  return regex_parse_new_class(r, &set, negated);
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */

static lt_regex_node *regex_parse_read_choice(regex_parser *r);

static bool regex_parse_keep_look(regex_parser *r, lt_regex_node *look) {
  lt_regex_tree *tree = r->tree;
  if (tree->look_count == r->look_cap) {
    uint32_t cap = r->look_cap == 0 ? 4 : r->look_cap * 2;
    lt_regex_node **looks = lt_arena_alloc(r->scratch, cap * sizeof(lt_regex_node *));
    if (looks == NULL) {
      regex_parse_fail_memory(r);
      return false;
    }
    if (tree->look_count > 0) {
      memcpy(looks, tree->looks, tree->look_count * sizeof(lt_regex_node *));
    }
    tree->looks = looks;
    r->look_cap = cap;
  }
  look->c = tree->look_count;
  tree->looks[tree->look_count++] = look;
  return true;
}

static lt_regex_node *regex_parse_close_group(regex_parser *r, lt_regex_node *inside) {
  if (inside != NULL && !regex_parse_skip(r, ")")) {
    return regex_parse_fail(r, LT_E_SYNTAX, "a group without its )");
  }
  return inside;
}

static lt_regex_node *regex_parse_read_look(regex_parser *r, bool behind, bool negated) {
  lt_regex_node *look = regex_parse_new_node(r, LT_RE_LOOK);
  r->negated += negated;
  lt_regex_node *inside = look != NULL ? regex_parse_close_group(r, regex_parse_read_choice(r)) : NULL;
  r->negated -= negated;
  if (inside == NULL) {
    return NULL;
  }
  look->behind = behind;
  look->negated = negated;
  regex_parse_append(look, inside);
  return regex_parse_keep_look(r, look) ? look : NULL;
}

/* Reads the letters of (?i) or (?i-s:. False: they are no flags. */
static bool regex_parse_read_flags(regex_parser *r) {
  bool on = true;
  for (; r->p < r->end && *r->p != ':' && *r->p != ')'; r->p++) {
    switch (*r->p) {
      case 'i':
        r->fold = on;
        break;
      case 'm':
        r->lines = on;
        break;
      case 's':
        r->dot_all = on;
        break;
      case '-':
        on = false;
        break;
      case 'u': /* the default */
        break;
      default:
        return false;
    }
  }
  return r->p < r->end;
}

/* Reads the rest of (?<name> or (?P<name>, beginning with the name. The name has no meaning here. */
static bool regex_parse_skip_name(regex_parser *r) {
  const char *close = memchr(r->p, '>', (size_t)(r->end - r->p));
  bool good = close != NULL && close > r->p && memchr(r->p, ')', (size_t)(close - r->p)) == NULL;
  r->p = good ? close + 1 : r->p;
  return good;
}

/* Reads what follows "(?" when it is no look-around. */
static lt_regex_node *regex_parse_read_special(regex_parser *r) {
  if (regex_parse_skip(r, "<") || regex_parse_skip(r, "P<")) {
    return regex_parse_skip_name(r) ? regex_parse_close_group(r, regex_parse_read_choice(r))
                                    : regex_parse_fail(r, LT_E_SYNTAX, "a group's name without its >");
  }
  if (regex_parse_at(r, "P=")) {
    return regex_parse_fail(r, LT_E_UNSUPPORTED, "a back-reference");
  }
  if (!regex_parse_read_flags(r)) {
    return regex_parse_fail(r, LT_E_UNSUPPORTED, "a kind of group that ECMA-262 does not have");
  }
  if (*r->p++ == ')') {
    return regex_parse_new_node(r, LT_RE_EMPTY); /* the flags apply to the end of the enclosing group */
  }
  return regex_parse_close_group(r, regex_parse_read_choice(r));
}

static lt_regex_node *regex_parse_read_group_inside(regex_parser *r) {
  if (regex_parse_skip(r, "?=")) {
    return regex_parse_read_look(r, false, false);
  }
  if (regex_parse_skip(r, "?!")) {
    return regex_parse_read_look(r, false, true);
  }
  if (regex_parse_skip(r, "?<=")) {
    return regex_parse_read_look(r, true, false);
  }
  if (regex_parse_skip(r, "?<!")) {
    return regex_parse_read_look(r, true, true);
  }
  return regex_parse_skip(r, "?") ? regex_parse_read_special(r)
                                  : regex_parse_close_group(r, regex_parse_read_choice(r));
}

/* Flags that are set inside a group end with it. Those of "(?i)" itself apply to what follows. */
static lt_regex_node *regex_parse_read_group(regex_parser *r) {
  bool fold = r->fold;
  bool lines = r->lines;
  bool dot_all = r->dot_all;
  r->p++;
  if (++r->depth > LT_REGEX_DEPTH_MAX) {
    return regex_parse_fail(r, LT_E_LIMIT, "groups nested too deeply");
  }
  lt_regex_node *n = regex_parse_read_group_inside(r);
  r->depth--;
  if (n != NULL && n->kind != LT_RE_EMPTY) {
    r->fold = fold;
    r->lines = lines;
    r->dot_all = dot_all;
  }
  return n;
}

/* --- Terms -------------------------------------------------------------------------------------------------------- */

static lt_regex_node *regex_parse_read_dot(regex_parser *r) {
  lt_regex_set set = {.scratch = r->scratch};
  if (!r->dot_all) {
    lt_regex_set_add(&set, '\n', '\n');
    lt_regex_set_add(&set, '\r', '\r');
    lt_regex_set_add(&set, 0x2028, 0x2029);
  }
  r->p++;
  return regex_parse_new_class(r, &set, true);
}

static lt_regex_node *regex_parse_read_escape(regex_parser *r) {
  r->p++;
  if (r->p == r->end) {
    return regex_parse_fail(r, LT_E_SYNTAX, "a backslash at the end");
  }
  if (regex_parse_skip(r, "b")) {
    return regex_parse_new_assertion(r, LT_RE_WORD_EDGE);
  }
  if (regex_parse_skip(r, "B")) {
    return regex_parse_new_assertion(r, LT_RE_NO_WORD_EDGE);
  }
  lt_regex_set set = {.scratch = r->scratch};
  if (regex_parse_read_class_escape(r, &set)) {
    return r->status == LT_OK ? regex_parse_new_class(r, &set, false) : NULL;
  }
  uint32_t c = regex_parse_read_escaped_char(r);
  return r->status == LT_OK ? regex_parse_new_char(r, c) : NULL;
}

static bool regex_parse_read_number(regex_parser *r, uint32_t *ret) {
  uint32_t n = 0;
  const char *first = r->p;
  for (; r->p < r->end && lt_json_is_digit(*r->p); r->p++) {
    n = n < REPEAT_MAX ? n * 10 + (uint32_t)(*r->p - '0') : n;
  }
  *ret = n;
  return r->p > first;
}

/* Reads {n}, {n,} or {n,m}. False, and nothing is read, when the text is none of these: then the brace is a literal. */
static bool regex_parse_read_counts(regex_parser *r, uint32_t *ret_min, uint32_t *ret_max) {
  const char *before = r->p;
  bool good = regex_parse_skip(r, "{") && regex_parse_read_number(r, ret_min);
  *ret_max = *ret_min;
  if (good && regex_parse_skip(r, ",") && !regex_parse_read_number(r, ret_max)) {
    *ret_max = LT_REGEX_FOREVER;
  }
  good = good && regex_parse_skip(r, "}");
  if (!good) {
    r->p = before;
  }
  return good;
}

static bool regex_parse_read_quantifier(regex_parser *r, uint32_t *ret_min, uint32_t *ret_max) {
  *ret_min = regex_parse_at(r, "+");
  *ret_max = regex_parse_at(r, "?") ? 1 : LT_REGEX_FOREVER;
  if (regex_parse_skip(r, "*") || regex_parse_skip(r, "+") || regex_parse_skip(r, "?")) {
    return true;
  }
  return regex_parse_read_counts(r, ret_min, ret_max);
}

static bool regex_parse_at_quantifier(regex_parser *r) {
  uint32_t min;
  uint32_t max;
  const char *before = r->p;
  bool there = regex_parse_read_quantifier(r, &min, &max);
  r->p = before;
  return there;
}

static lt_regex_node *regex_parse_read_atom(regex_parser *r) {
  if (regex_parse_at_quantifier(r)) {
    return regex_parse_fail(r, LT_E_SYNTAX, "nothing to repeat");
  }
  switch (*r->p) {
    case '(':
      return regex_parse_read_group(r);
    case '[':
      return regex_parse_read_brackets(r);
    case '.':
      return regex_parse_read_dot(r);
    case '\\':
      return regex_parse_read_escape(r);
    case '^':
      r->p++;
      return regex_parse_new_assertion(r, r->lines ? LT_RE_LINE_START : LT_RE_TEXT_START);
    case '$':
      r->p++;
      return regex_parse_new_assertion(r, r->lines ? LT_RE_LINE_END : LT_RE_TEXT_END);
    default: {
      uint32_t c = regex_parse_read_plain(r);
      return r->status == LT_OK ? regex_parse_new_char(r, c) : NULL;
    }
  }
}

static lt_regex_node *regex_parse_read_term(regex_parser *r) {
  uint32_t min;
  uint32_t max;
  lt_regex_node *atom = regex_parse_read_atom(r);
  if (atom == NULL || !regex_parse_read_quantifier(r, &min, &max)) {
    return atom;
  }
  if (atom->kind == LT_RE_ASSERT || atom->kind == LT_RE_EMPTY) {
    return regex_parse_fail(r, LT_E_SYNTAX, "nothing to repeat");
  }
  if (max < min) {
    return regex_parse_fail(r, LT_E_SYNTAX, "a repetition in the wrong order");
  }
  regex_parse_skip(r, "?"); /* greedy or not: both match the same texts */
  lt_regex_node *repeat = regex_parse_new_node(r, LT_RE_REPEAT);
  if (repeat != NULL) {
    repeat->min = min;
    repeat->max = max;
    regex_parse_append(repeat, atom);
  }
  return repeat;
}

static lt_regex_node *regex_parse_read_sequence(regex_parser *r) {
  lt_regex_node *sequence = regex_parse_new_node(r, LT_RE_SEQUENCE);
  while (sequence != NULL && r->p < r->end && *r->p != '|' && *r->p != ')') {
    lt_regex_node *term = regex_parse_read_term(r);
    if (term == NULL) {
      return NULL;
    }
    regex_parse_append(sequence, term);
  }
  return sequence;
}

/* Reads ECMA-262's Disjunction. */
static lt_regex_node *regex_parse_read_choice(regex_parser *r) {
  lt_regex_node *choice = regex_parse_new_node(r, LT_RE_CHOICE);
  do {
    lt_regex_node *sequence = choice != NULL ? regex_parse_read_sequence(r) : NULL;
    if (sequence == NULL) {
      return NULL;
    }
    regex_parse_append(choice, sequence);
  } while (regex_parse_skip(r, "|"));
  return choice;
}

lt_status lt_regex_parse(lt_arena *scratch, lt_arena *arena, lt_str pattern, lt_regex_tree *ret, lt_err *err) {
  const char *p = pattern.p != NULL ? pattern.p : "";
  regex_parser r = {
      .scratch = scratch, .arena = arena, .start = p, .p = p, .end = p + pattern.n, .err = err, .tree = ret};
  *ret = (lt_regex_tree){.root = NULL};
  if (pattern.n > LT_REGEX_PATTERN_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "the pattern has over %lu bytes", LT_REGEX_PATTERN_MAX_BYTES);
  }
  ret->root = regex_parse_read_choice(&r);
  if (ret->root != NULL && r.p < r.end) {
    regex_parse_fail(&r, LT_E_SYNTAX, "a ) without its group");
  }
  return r.status;
}
