/* Patterns as text: ECMA-262's grammar in Unicode mode, with what its appendix B and other languages add where it can
 * mean one thing only. What would mean another thing elsewhere (\Z, \h, a possessive +) is refused: a pattern that is
 * not checked does less harm than one that is checked wrongly. */
#include "base/limits.h"
#include "json/json_text.h"
#include "json/regex_impl.h"

#define REPEAT_MAX     1000000 /* saturates: no program is that long */
#define LAST_CHARACTER 0x10FFFFu

typedef lt_regex_node node;

typedef struct parser {
  lt_arena *scratch; /* for the tree */
  lt_arena *arena;   /* for classes, which stay */
  const char *start;
  const char *p;
  const char *end;
  lt_err *err;
  lt_status status;
  lt_regex_tree *tree;
  uint32_t look_cap;
  uint32_t negated; /* look-arounds around that must not hold */
  uint32_t depth;
  bool fold;    /* (?i) */
  bool lines;   /* (?m): ^ and $ are edges of lines */
  bool dot_all; /* (?s) */
} parser;

/* --- Failing ------------------------------------------------------------------------------------------------------ */

static node *fail(parser *r, lt_status status, const char *what) {
  if (r->status == LT_OK) {
    r->status = lt_fail(r->err, status, "%s, at byte %zu of the pattern", what, (size_t)(r->p - r->start) + 1);
  }
  return NULL;
}

static node *fail_memory(parser *r) {
  if (r->status == LT_OK) {
    r->status = lt_fail(r->err, LT_E_NOMEM, "out of memory");
  }
  return NULL;
}

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

static node *new_node(parser *r, lt_regex_kind kind) {
  node *n = lt_arena_zalloc(r->scratch, 1, sizeof(*n));
  if (n == NULL) {
    return fail_memory(r);
  }
  n->kind = kind;
  return n;
}

static void append(node *parent, node *child) {
  child->prev = parent->last;
  if (parent->last != NULL) {
    parent->last->next = child;
  } else {
    parent->first = child;
  }
  parent->last = child;
}

static node *new_assertion(parser *r, lt_regex_assertion which) {
  node *n = new_node(r, LT_RE_ASSERT);
  if (n != NULL) {
    n->c = which;
  }
  return n;
}

static node *new_class(parser *r, lt_regex_set *set, bool negated) {
  if (r->fold) {
    lt_regex_set_fold(set);
  }
  if (set->any_other && r->negated > 0) {
    return fail(r, LT_E_UNSUPPORTED, "a Unicode property in a negated look-around");
  }
  const lt_regex_class *class = NULL;
  lt_status status = lt_regex_set_finish(set, negated, r->arena, &class);
  if (status != LT_OK) {
    return status == LT_E_LIMIT ? fail(r, status, "a class with too many ranges") : fail_memory(r);
  }
  node *n = new_node(r, LT_RE_CLASS);
  if (n != NULL) {
    n->class = class;
  }
  return n;
}

static bool is_letter(uint32_t c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static node *new_char(parser *r, uint32_t c) {
  if (r->fold && (is_letter(c) || c > 0x7F)) {
    lt_regex_set set = {.scratch = r->scratch, .any_other = c > 0x7F};
    lt_regex_set_add(&set, c, c);
    return new_class(r, &set, false);
  }
  node *n = new_node(r, LT_RE_CHAR);
  if (n != NULL) {
    n->c = c;
  }
  return n;
}

/* --- Characters and escapes --------------------------------------------------------------------------------------- */

static bool at(const parser *r, const char *text) {
  size_t n = strlen(text);
  return (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0;
}

static bool skip(parser *r, const char *text) {
  bool there = at(r, text);
  if (there) {
    r->p += strlen(text);
  }
  return there;
}

/* One character as it stands there; there must be one. */
static uint32_t read_plain(parser *r) {
  uint32_t c = 0;
  unsigned n = lt_json_read_char(r->p, r->end, &c);
  if (n == 0) {
    fail(r, LT_E_SYNTAX, "bytes that are no UTF-8");
    n = 1;
  }
  r->p += n;
  return c;
}

/* `digits` hexadecimal digits. */
static bool read_hex(parser *r, unsigned digits, uint32_t *ret) {
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

static bool read_braced(parser *r, uint32_t *ret) {
  uint32_t c = 0;
  const char *first = ++r->p;
  while (r->p < r->end && lt_json_hex_value(*r->p) >= 0 && c <= LAST_CHARACTER) {
    c = c << 4 | (uint32_t)lt_json_hex_value(*r->p++);
  }
  bool good = r->p > first && c <= LAST_CHARACTER && at(r, "}");
  r->p += good;
  *ret = c;
  return good;
}

/* What follows "\u": four digits, two such escapes that make a pair, or {digits}. */
static bool read_unicode(parser *r, uint32_t *ret) {
  if (at(r, "{")) {
    return read_braced(r, ret);
  }
  uint32_t low;
  if (!read_hex(r, 4, ret)) {
    return false;
  }
  const char *after = r->p;
  if (lt_json_is_high(*ret) && skip(r, "\\u")) {
    if (read_hex(r, 4, &low) && lt_json_is_low(low)) {
      *ret = lt_json_join(*ret, low);
    } else {
      r->p = after;
    }
  }
  return true;
}

/* A control character's escape: the letter is read already. */
static bool control_of(char letter, uint32_t *ret) {
  static const char letters[] = "tnvfr";
  const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
  if (found == NULL) {
    return false;
  }
  *ret = 9 + (uint32_t)(found - letters);
  return true;
}

static bool is_alphanumeric(char c) {
  return is_letter((unsigned char)c) || lt_json_is_digit(c);
}

/* An escape that is one character; `p` is after the backslash. Sets the status when it is none. */
static uint32_t read_escaped_char(parser *r) {
  uint32_t c = 0;
  char letter = *r->p;
  bool good = true;
  if (!is_alphanumeric(letter)) {
    return read_plain(r); /* also \- \_ \" and the like, which Unicode mode has no room for: no other meaning exists */
  }
  r->p++;
  if (letter == 'x') {
    good = read_hex(r, 2, &c);
  } else if (letter == 'u') {
    good = read_unicode(r, &c);
  } else if (letter == 'c') {
    good = r->p < r->end && is_letter((unsigned char)*r->p);
    c = good ? (uint32_t)*r->p++ & 31 : 0;
  } else if (letter == '0' && (r->p == r->end || !lt_json_is_digit(*r->p))) {
    c = 0;
  } else if (!control_of(letter, &c)) {
    bool refers = letter == 'k' || lt_json_is_digit(letter);
    fail(r, LT_E_UNSUPPORTED, refers ? "a back-reference" : "an escape that ECMA-262 does not have");
  }
  if (!good) {
    fail(r, LT_E_SYNTAX, "an incomplete escape");
  }
  return c;
}

/* \p{...} and \P{...}, from the letter on. */
static void read_property(parser *r, lt_regex_set *set) {
  bool negated = *r->p++ == 'P';
  const char *close = at(r, "{") ? memchr(r->p, '}', (size_t)(r->end - r->p)) : NULL;
  if (close == NULL) {
    fail(r, LT_E_SYNTAX, "\\p without a property in braces");
    return;
  }
  lt_str name = {r->p + 1, (size_t)(close - r->p) - 1};
  if (!lt_regex_set_add_property(set, name, negated)) {
    fail(r, LT_E_UNSUPPORTED, "an unknown Unicode property");
  }
  r->p = close + 1;
}

/* A class by one escape, from the letter on. False: it is none. */
static bool read_class_escape(parser *r, lt_regex_set *set) {
  if (r->p < r->end && (*r->p | 0x20) == 'p') {
    read_property(r, set);
    return true;
  }
  if (r->p < r->end && lt_regex_set_add_escape(set, *r->p)) {
    r->p++;
    return true;
  }
  return false;
}

/* --- Classes in brackets ------------------------------------------------------------------------------------------ */

/* One side of a range. False: it was a class, which is in the set now. */
static bool read_member(parser *r, lt_regex_set *set, uint32_t *ret) {
  if (*r->p != '\\') {
    *ret = read_plain(r);
    return true;
  }
  r->p++;
  if (r->p == r->end) {
    fail(r, LT_E_SYNTAX, "a backslash at the end");
    return false;
  }
  if (read_class_escape(r, set)) {
    return false;
  }
  *ret = skip(r, "b") ? '\b' : read_escaped_char(r);
  return true;
}

/* `-` after `from`, or what takes its place: appendix B lets a class stand at either side of it. */
static void read_range(parser *r, lt_regex_set *set, uint32_t from) {
  uint32_t to;
  r->p++;
  if (!read_member(r, set, &to)) {
    lt_regex_set_add(set, from, from);
    lt_regex_set_add(set, '-', '-');
  } else if (to < from) {
    fail(r, LT_E_SYNTAX, "a range in the wrong order");
  } else {
    lt_regex_set_add(set, from, to);
  }
}

static node *read_brackets(parser *r) {
  lt_regex_set set = {.scratch = r->scratch};
  r->p++;
  bool negated = skip(r, "^");
  while (r->status == LT_OK && !at(r, "]")) {
    uint32_t c;
    if (r->p == r->end) {
      return fail(r, LT_E_SYNTAX, "a class without its ]");
    }
    if (!read_member(r, &set, &c)) {
      continue;
    }
    if (at(r, "-") && r->end - r->p > 1 && r->p[1] != ']') {
      read_range(r, &set, c);
    } else {
      lt_regex_set_add(&set, c, c);
    }
  }
  if (r->status != LT_OK) {
    return NULL;
  }
  r->p++;
  return new_class(r, &set, negated);
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */

static node *read_choice(parser *r);

static bool keep_look(parser *r, node *look) {
  lt_regex_tree *tree = r->tree;
  if (tree->look_count == r->look_cap) {
    uint32_t cap = r->look_cap == 0 ? 4 : r->look_cap * 2;
    node **looks = lt_arena_alloc(r->scratch, cap * sizeof(node *));
    if (looks == NULL) {
      fail_memory(r);
      return false;
    }
    if (tree->look_count > 0) {
      memcpy(looks, tree->looks, tree->look_count * sizeof(node *));
    }
    tree->looks = looks;
    r->look_cap = cap;
  }
  look->c = tree->look_count;
  tree->looks[tree->look_count++] = look;
  return true;
}

static node *close_group(parser *r, node *inside) {
  if (inside != NULL && !skip(r, ")")) {
    return fail(r, LT_E_SYNTAX, "a group without its )");
  }
  return inside;
}

static node *read_look(parser *r, bool behind, bool negated) {
  node *look = new_node(r, LT_RE_LOOK);
  r->negated += negated;
  node *inside = look != NULL ? close_group(r, read_choice(r)) : NULL;
  r->negated -= negated;
  if (inside == NULL) {
    return NULL;
  }
  look->behind = behind;
  look->negated = negated;
  append(look, inside);
  return keep_look(r, look) ? look : NULL;
}

/* The letters of (?i) or (?i-s:. False when they are none. */
static bool read_flags(parser *r) {
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
      case 'u': /* what we do anyway */
        break;
      default:
        return false;
    }
  }
  return r->p < r->end;
}

/* (?<name> or (?P<name>, from the name on; the name means nothing to us. */
static bool skip_name(parser *r) {
  const char *close = memchr(r->p, '>', (size_t)(r->end - r->p));
  bool good = close != NULL && close > r->p && memchr(r->p, ')', (size_t)(close - r->p)) == NULL;
  r->p = good ? close + 1 : r->p;
  return good;
}

/* What follows "(?" and is no look-around. */
static node *read_special(parser *r) {
  if (skip(r, "<") || skip(r, "P<")) {
    return skip_name(r) ? close_group(r, read_choice(r)) : fail(r, LT_E_SYNTAX, "a group's name without its >");
  }
  if (at(r, "P=")) {
    return fail(r, LT_E_UNSUPPORTED, "a back-reference");
  }
  if (!read_flags(r)) {
    return fail(r, LT_E_UNSUPPORTED, "a kind of group that ECMA-262 does not have");
  }
  if (*r->p++ == ')') {
    return new_node(r, LT_RE_EMPTY); /* the flags hold to the end of the group around */
  }
  return close_group(r, read_choice(r));
}

static node *read_group_inside(parser *r) {
  if (skip(r, "?=")) {
    return read_look(r, false, false);
  }
  if (skip(r, "?!")) {
    return read_look(r, false, true);
  }
  if (skip(r, "?<=")) {
    return read_look(r, true, false);
  }
  if (skip(r, "?<!")) {
    return read_look(r, true, true);
  }
  return skip(r, "?") ? read_special(r) : close_group(r, read_choice(r));
}

/* Flags set inside a group end with it; those of "(?i)" itself are for what follows. */
static node *read_group(parser *r) {
  bool fold = r->fold;
  bool lines = r->lines;
  bool dot_all = r->dot_all;
  r->p++;
  if (++r->depth > LT_REGEX_DEPTH_MAX) {
    return fail(r, LT_E_LIMIT, "groups nested too deeply");
  }
  node *n = read_group_inside(r);
  r->depth--;
  if (n != NULL && n->kind != LT_RE_EMPTY) {
    r->fold = fold;
    r->lines = lines;
    r->dot_all = dot_all;
  }
  return n;
}

/* --- Terms -------------------------------------------------------------------------------------------------------- */

static node *read_dot(parser *r) {
  lt_regex_set set = {.scratch = r->scratch};
  if (!r->dot_all) {
    lt_regex_set_add(&set, '\n', '\n');
    lt_regex_set_add(&set, '\r', '\r');
    lt_regex_set_add(&set, 0x2028, 0x2029);
  }
  r->p++;
  return new_class(r, &set, true);
}

static node *read_escape(parser *r) {
  r->p++;
  if (r->p == r->end) {
    return fail(r, LT_E_SYNTAX, "a backslash at the end");
  }
  if (skip(r, "b")) {
    return new_assertion(r, LT_RE_WORD_EDGE);
  }
  if (skip(r, "B")) {
    return new_assertion(r, LT_RE_NO_WORD_EDGE);
  }
  lt_regex_set set = {.scratch = r->scratch};
  if (read_class_escape(r, &set)) {
    return r->status == LT_OK ? new_class(r, &set, false) : NULL;
  }
  uint32_t c = read_escaped_char(r);
  return r->status == LT_OK ? new_char(r, c) : NULL;
}

static bool read_number(parser *r, uint32_t *ret) {
  uint32_t n = 0;
  const char *first = r->p;
  for (; r->p < r->end && lt_json_is_digit(*r->p); r->p++) {
    n = n < REPEAT_MAX ? n * 10 + (uint32_t)(*r->p - '0') : n;
  }
  *ret = n;
  return r->p > first;
}

/* {n}, {n,} or {n,m}. False, and nothing read: it is none, and the brace stands for itself. */
static bool read_counts(parser *r, uint32_t *ret_min, uint32_t *ret_max) {
  const char *before = r->p;
  bool good = skip(r, "{") && read_number(r, ret_min);
  *ret_max = *ret_min;
  if (good && skip(r, ",") && !read_number(r, ret_max)) {
    *ret_max = LT_REGEX_FOREVER;
  }
  good = good && skip(r, "}");
  if (!good) {
    r->p = before;
  }
  return good;
}

static bool read_quantifier(parser *r, uint32_t *ret_min, uint32_t *ret_max) {
  *ret_min = at(r, "+");
  *ret_max = at(r, "?") ? 1 : LT_REGEX_FOREVER;
  if (skip(r, "*") || skip(r, "+") || skip(r, "?")) {
    return true;
  }
  return read_counts(r, ret_min, ret_max);
}

static bool at_quantifier(parser *r) {
  uint32_t min;
  uint32_t max;
  const char *before = r->p;
  bool there = read_quantifier(r, &min, &max);
  r->p = before;
  return there;
}

static node *read_atom(parser *r) {
  if (at_quantifier(r)) {
    return fail(r, LT_E_SYNTAX, "nothing to repeat");
  }
  switch (*r->p) {
    case '(':
      return read_group(r);
    case '[':
      return read_brackets(r);
    case '.':
      return read_dot(r);
    case '\\':
      return read_escape(r);
    case '^':
      r->p++;
      return new_assertion(r, r->lines ? LT_RE_LINE_START : LT_RE_TEXT_START);
    case '$':
      r->p++;
      return new_assertion(r, r->lines ? LT_RE_LINE_END : LT_RE_TEXT_END);
    default: {
      uint32_t c = read_plain(r);
      return r->status == LT_OK ? new_char(r, c) : NULL;
    }
  }
}

static node *read_term(parser *r) {
  uint32_t min;
  uint32_t max;
  node *atom = read_atom(r);
  if (atom == NULL || !read_quantifier(r, &min, &max)) {
    return atom;
  }
  if (atom->kind == LT_RE_ASSERT || atom->kind == LT_RE_EMPTY) {
    return fail(r, LT_E_SYNTAX, "nothing to repeat");
  }
  if (max < min) {
    return fail(r, LT_E_SYNTAX, "a repetition in the wrong order");
  }
  skip(r, "?"); /* whether it takes much or little: the same texts match */
  node *repeat = new_node(r, LT_RE_REPEAT);
  if (repeat != NULL) {
    repeat->min = min;
    repeat->max = max;
    append(repeat, atom);
  }
  return repeat;
}

static node *read_sequence(parser *r) {
  node *sequence = new_node(r, LT_RE_SEQUENCE);
  while (sequence != NULL && r->p < r->end && *r->p != '|' && *r->p != ')') {
    node *term = read_term(r);
    if (term == NULL) {
      return NULL;
    }
    append(sequence, term);
  }
  return sequence;
}

/* ECMA-262's Disjunction. */
static node *read_choice(parser *r) {
  node *choice = new_node(r, LT_RE_CHOICE);
  do {
    node *sequence = choice != NULL ? read_sequence(r) : NULL;
    if (sequence == NULL) {
      return NULL;
    }
    append(choice, sequence);
  } while (skip(r, "|"));
  return choice;
}

lt_status lt_regex_parse(lt_arena *scratch, lt_arena *arena, lt_str pattern, lt_regex_tree *ret, lt_err *err) {
  const char *p = pattern.p != NULL ? pattern.p : "";
  parser r = {.scratch = scratch, .arena = arena, .start = p, .p = p, .end = p + pattern.n, .err = err, .tree = ret};
  *ret = (lt_regex_tree){.root = NULL};
  if (pattern.n > LT_REGEX_PATTERN_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "the pattern has over %lu bytes", LT_REGEX_PATTERN_MAX_BYTES);
  }
  ret->root = read_choice(&r);
  if (ret->root != NULL && r.p < r.end) {
    fail(&r, LT_E_SYNTAX, "a ) without its group");
  }
  return r.status;
}
