#include "json/json.h"

#include <stdio.h>

#include "json/json_text.h"

#define COUNT_ONE   (1u << LT_JSON_INFO_COUNT_SHIFT)
#define OPEN_OBJECT 0x80000000u /* in scan.open: the container is an object; the other bits are its node's index */

/* Every item takes at least two bytes of text, with its comma. So the count of any container fits into its bits. */
_Static_assert(LT_JSON_MAX_BYTES / 2 < (1u << (32 - LT_JSON_INFO_COUNT_SHIFT)), "item counts must fit");
_Static_assert(LT_JSON_MAX_BYTES < OPEN_OBJECT, "node indices must leave the top bit free");

/* --- The scan ----------------------------------------------------------------------------------------------------- */

typedef struct json_scan {
  const char *start;
  const char *end;
  lt_json_node *nodes; /* with an index: room for `cap` of them */
  uint32_t cap;
  uint32_t count; /* the number of nodes, also when none are kept */

  lt_status status; /* the first fault: its text, its place, and whether the text names an expected thing */
  const char *at;
  const char *what;
  bool is_expected;

  uint32_t depth;
  uint32_t open[LT_JSON_MAX_DEPTH];
} json_scan;

static __attribute__((cold, noinline)) const char *json_fault_as(json_scan *s, lt_status status, const char *at,
                                                                 const char *what) {
  s->status = status;
  s->at = at;
  s->what = what;
  s->is_expected = false;
  return NULL;
}

static __attribute__((cold, noinline)) const char *json_fault(json_scan *s, const char *at, const char *what) {
  return json_fault_as(s, LT_E_SYNTAX, at, what);
}

static __attribute__((cold, noinline)) const char *json_expected(json_scan *s, const char *at, const char *what) {
  json_fault(s, at, what);
  s->is_expected = true;
  return NULL;
}

static const char *json_skip_space_run(const char *p, const char *end) {
  while (p < end && lt_json_is_space(*p)) {
    p++;
    uint64_t x; /* a unit of indentation: eight spaces */
    while (end - p >= 8 && (memcpy(&x, p, sizeof x), x == 0x2020202020202020u)) {
      p += 8;
    }
  }
  return p;
}

static inline const char *json_skip_space(const char *p, const char *end) {
  return p < end && (unsigned char)*p > ' ' ? p : json_skip_space_run(p, end);
}

static const char *json_read_escape(json_scan *s, const char *p) {
  if (s->end - p < 2) {
    return json_expected(s, s->end, "the rest of an escape");
  }
  switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return p + 2;
    case 'u':
      for (int i = 2; i < 6; i++) {
        if (p + i == s->end || lt_json_hex_value(p[i]) < 0) {
          return json_expected(s, p + i, "four hexadecimal digits after \\u");
        }
      }
      return p + 6;
    default:
      return json_fault(s, p, "unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX");
  }
}

static __attribute__((cold, noinline)) const char *json_fault_utf8(json_scan *s, const char *p) {
  unsigned char c = (unsigned char)*p;
  unsigned char next = p + 1 < s->end ? (unsigned char)p[1] : 0;
  if (c < 0xC0) {
    return json_fault(s, p, "invalid UTF-8: a continuation byte without a lead byte");
  }
  if (c < 0xC2 || (c == 0xE0 && next >= 0x80 && next < 0xA0) || (c == 0xF0 && next >= 0x80 && next < 0x90)) {
    return json_fault(s, p, "invalid UTF-8: an overlong form");
  }
  if (c > 0xF7) {
    return json_fault(s, p, "invalid UTF-8: a byte that UTF-8 never has");
  }
  if (c > 0xF4 || (c == 0xF4 && next >= 0x90 && next < 0xC0)) {
    return json_fault(s, p, "invalid UTF-8: past U+10FFFF");
  }
  return json_fault(s, p, "invalid UTF-8: an incomplete character");
}

static const char *json_read_wide(json_scan *s, const char *p, uint32_t *flags) {
  do {
    uint32_t cp;
    unsigned n = lt_json_read_char(p, s->end, &cp);
    if (n == 0) {
      return json_fault_utf8(s, p);
    }
    if (lt_json_is_surrogate(cp)) {
      *flags |= LT_JSON_INFO_ESCAPED;
    }
    p += n;
  } while (p < s->end && (unsigned char)*p >= 0x80);
  return p;
}

static __attribute__((cold, noinline)) const char *json_fault_control(json_scan *s, const char *p) {
  if (*p == '\n' || *p == '\r') {
    return json_fault(s, p, "a line break inside a string; write \\n, or close the string");
  }
  return json_fault(s, p, "a raw control character inside a string; write it as \\t or \\u00XX");
}

/* `open` is the opening quote. Returns the place after the closing quote. */
static inline const char *json_read_string(json_scan *s, const char *open, uint32_t *flags) {
  const char *p = open + 1;
  for (;;) {
    p = lt_json_plain_end(p, s->end);
    if (p == s->end) {
      return json_fault(s, open, "this string has no closing quote");
    }
    if (*p == '"') {
      return p + 1;
    }
    if (*p == '\\') {
      *flags |= LT_JSON_INFO_ESCAPED;
      p = json_read_escape(s, p);
    } else if ((unsigned char)*p >= 0x80) {
      p = json_read_wide(s, p, flags);
    } else {
      p = json_fault_control(s, p);
    }
    if (p == NULL) {
      return NULL;
    }
  }
}

static inline const char *json_skip_digits(const char *p, const char *end) {
  while (p < end && lt_json_is_digit(*p)) {
    p++;
  }
  return p;
}

static inline const char *json_read_number(json_scan *s, const char *p) {
  const char *end = s->end;
  if (*p == '-') {
    p++;
  }
  if (p == end || !lt_json_is_digit(*p)) {
    return json_expected(s, p, "a digit");
  }
  if (*p == '0' && end - p > 1 && lt_json_is_digit(p[1])) {
    return json_fault(s, p, "a number must not begin with 0");
  }
  p = json_skip_digits(p, end);
  if (p < end && *p == '.') {
    const char *digits = p + 1;
    p = json_skip_digits(digits, end);
    if (p == digits) {
      return json_expected(s, p, "a digit after the decimal point");
    }
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    if (p < end && (*p == '+' || *p == '-')) {
      p++;
    }
    const char *digits = p;
    p = json_skip_digits(digits, end);
    if (p == digits) {
      return json_expected(s, p, "a digit in the exponent");
    }
  }
  return p;
}

static inline const char *json_read_word(json_scan *s, const char *p, lt_str word) {
  if ((size_t)(s->end - p) < word.n || memcmp(p, word.p, word.n) != 0) {
    return json_expected(s, p, "a value");
  }
  return p + word.n;
}

/* Adds a value without children. Its type is added to `info`. */
static inline const char *json_read_scalar(json_scan *s, const char *p, uint32_t *info) {
  switch (*p) {
    case '"':
      *info = LT_JSON_STRING;
      return json_read_string(s, p, info);
    case 't':
      *info = LT_JSON_TRUE;
      return json_read_word(s, p, LT_STR("true"));
    case 'f':
      *info = LT_JSON_FALSE;
      return json_read_word(s, p, LT_STR("false"));
    case 'n':
      *info = LT_JSON_NULL;
      return json_read_word(s, p, LT_STR("null"));
    default:
      *info = LT_JSON_NUMBER;
      return *p == '-' || lt_json_is_digit(*p) ? json_read_number(s, p) : json_expected(s, p, "a value");
  }
}

static inline void json_add_node(json_scan *s, const char *start, const char *end, uint32_t info, const bool index) {
  uint32_t at = s->count++;
  if (index) {
    LT_CHECK(at < s->cap);
    s->nodes[at] = (lt_json_node){(uint32_t)(start - s->start), (uint32_t)(end - s->start), at + 1, info};
  }
}

static inline bool json_open_container(json_scan *s, const char *p, lt_json_type type, const bool index) {
  if (s->depth == LT_JSON_MAX_DEPTH) {
    json_fault_as(s, LT_E_LIMIT, p, "nested too deeply");
    return false;
  }
  s->open[s->depth++] = s->count | (type == LT_JSON_OBJECT ? OPEN_OBJECT : 0);
  json_add_node(s, p, p, type, index);
  return true;
}

static inline void json_close_container(json_scan *s, const char *p, const bool index) {
  uint32_t top = s->open[--s->depth] & ~OPEN_OBJECT;
  if (index) {
    s->nodes[top].end = (uint32_t)(p - s->start);
    s->nodes[top].next = s->count;
  }
}

static inline bool json_in_object(const json_scan *s) {
  return (s->open[s->depth - 1] & OPEN_OBJECT) != 0;
}

/* Counts an item or member of the innermost container. */
static inline void json_count_item(json_scan *s, const bool index) {
  if (index) {
    s->nodes[s->open[s->depth - 1] & ~OPEN_OBJECT].info += COUNT_ONE;
  }
}

/* Reads a key and its colon. */
static inline const char *json_read_key(json_scan *s, const char *p, const bool index) {
  p = json_skip_space(p, s->end);
  if (p == s->end || *p != '"') {
    return json_expected(s, p, "a key in double quotes");
  }
  uint32_t info = LT_JSON_STRING | LT_JSON_INFO_KEY;
  const char *after = json_read_string(s, p, &info);
  if (after == NULL) {
    return NULL;
  }
  json_add_node(s, p, after, info, index);
  json_count_item(s, index);
  p = json_skip_space(after, s->end);
  if (p == s->end || *p != ':') {
    return json_expected(s, p, "':' after a key");
  }
  return p + 1;
}

/* Reads one value with everything in it, without recursion: s->open is the stack. Returns the place after the value.
 * The compiler makes two copies of this function, with and without the index. */
static inline __attribute__((always_inline)) const char *json_read_value(json_scan *s, const char *p,
                                                                         const bool index) {
  const char *const end = s->end;
value:
  p = json_skip_space(p, end);
  if (p == end) {
    return json_expected(s, p, "a value");
  }
  if (*p == '{' || *p == '[') {
    bool object = *p == '{';
    if (!json_open_container(s, p, object ? LT_JSON_OBJECT : LT_JSON_ARRAY, index)) {
      return NULL;
    }
    p = json_skip_space(p + 1, end);
    if (p < end && *p == (object ? '}' : ']')) {
      goto close;
    }
    goto item;
  }
  uint32_t info;
  const char *after = json_read_scalar(s, p, &info);
  if (after == NULL) {
    return NULL;
  }
  json_add_node(s, p, after, info, index);
  p = after;
next:
  if (s->depth == 0) {
    return p;
  }
  p = json_skip_space(p, end);
  if (p < end && *p == ',') {
    p++;
    goto item;
  }
  if (p == end || *p != (json_in_object(s) ? '}' : ']')) {
    return json_expected(s, p, json_in_object(s) ? "',' or '}' after a member" : "',' or ']' after an item");
  }
close:
  json_close_container(s, ++p, index);
  goto next;
item:
  if (!json_in_object(s)) {
    json_count_item(s, index);
    goto value;
  }
  p = json_read_key(s, p, index);
  if (p == NULL) {
    return NULL;
  }
  goto value;
}

static const char *json_check_beginning(json_scan *s) {
  size_t n = (size_t)(s->end - s->start);
  if (n > LT_JSON_MAX_BYTES) {
    return json_fault_as(s, LT_E_LIMIT, s->start, "too long");
  }
  if (n >= 3 && memcmp(s->start, "\xEF\xBB\xBF", 3) == 0) {
    return json_fault(s, s->start, "a byte order mark before the JSON; send UTF-8 without one");
  }
  if (n >= 2 && (memcmp(s->start, "\xFF\xFE", 2) == 0 || memcmp(s->start, "\xFE\xFF", 2) == 0)) {
    return json_fault(s, s->start, "the text looks like UTF-16; JSON is UTF-8");
  }
  return s->start;
}

static inline __attribute__((always_inline)) bool json_read_document(json_scan *s, const bool index) {
  if (json_check_beginning(s) == NULL) {
    return false;
  }
  const char *p = json_read_value(s, s->start, index);
  if (p == NULL) {
    return false;
  }
  p = json_skip_space(p, s->end);
  return p == s->end || json_fault(s, p, "more text after the end of the value") != NULL;
}

static void json_scan_init(json_scan *s, lt_str text) {
  s->start = text.p != NULL ? text.p : "";
  s->end = s->start + text.n;
  s->nodes = NULL;
  s->cap = s->count = 0;
  s->depth = 0;
  s->status = LT_OK;
}

/* --- Error messages ----------------------------------------------------------------------------------------------- */

#define QUOTE_CHARS 24 /* of the text in a message */

/* Common mistakes with their own messages: the text to look for, and the advice. */
static const struct {
  const char *found;
  const char *hint;
} mistakes[] = {
    {"'", "JSON takes double quotes"},
    {"`", "JSON takes double quotes"},
    {"/", "JSON has no comments"},
    {"#", "JSON has no comments"},
    {"True", "write true"},
    {"TRUE", "write true"},
    {"False", "write false"},
    {"FALSE", "write false"},
    {"None", "write null"},
    {"NULL", "write null"},
    {"undefined", "write null, or leave the member out"},
    {"NaN", "JSON has no NaN; write null"},
    {"Infinity", "JSON has no Infinity; write null"},
    {"+", "JSON numbers have no '+'"},
    {".", "JSON numbers begin with a digit"},
};

static const char *json_hint_for(const json_scan *s) {
  size_t left = (size_t)(s->end - s->at);
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    size_t n = strlen(mistakes[i].found);
    if (n <= left && memcmp(s->at, mistakes[i].found, n) == 0) {
      return mistakes[i].hint;
    }
  }
  const char *p = s->at;
  while (p > s->start && lt_json_is_space(p[-1])) {
    p--;
  }
  if (left > 0 && (*s->at == '}' || *s->at == ']') && p > s->start && p[-1] == ',') {
    return "remove the comma before it";
  }
  return NULL;
}

/* Lines end in LF, CR or CRLF. Columns count characters: every byte that does not continue one. */
static void json_position(const json_scan *s, size_t *ret_line, size_t *ret_column) {
  size_t line = 1;
  size_t column = 1;
  for (const char *p = s->start; p < s->at; p++) {
    if (*p == '\n' || (*p == '\r' && !(p + 1 < s->end && p[1] == '\n'))) {
      line++;
      column = 1;
    } else if (!lt_utf8_continues(*p)) {
      column++;
    }
  }
  *ret_line = line;
  *ret_column = column;
}

/* Quotes a short part of the fault's line, safe for a terminal. */
static void json_quote(const json_scan *s, char out[QUOTE_CHARS * 4 + 4]) {
  const char *p = s->at;
  char *o = out;
  int i = 0;
  for (; i < QUOTE_CHARS && p < s->end && (i == 0 || (*p != '\n' && *p != '\r')); i++) {
    uint32_t cp = 0;
    unsigned n = lt_json_read_char(p, s->end, &cp);
    if (n == 0 || cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || lt_json_is_surrogate(cp)) {
      o += snprintf(o, 5, "\\x%02X", (unsigned)(unsigned char)*p);
      p++;
    } else {
      memcpy(o, p, n);
      o += n;
      p += n;
    }
  }
  bool cut = i == QUOTE_CHARS && p < s->end;
  memcpy(o, cut ? "..." : "", cut ? 4 : 1);
}

static __attribute__((cold, noinline)) lt_status json_fail(const json_scan *s, lt_err *err) {
  if (s->status == LT_E_LIMIT && s->depth == 0) {
    return lt_fail(err, LT_E_LIMIT, "the JSON has %zu bytes; at most %lu are read", (size_t)(s->end - s->start),
                   LT_JSON_MAX_BYTES);
  }
  size_t line;
  size_t column;
  json_position(s, &line, &column);
  if (s->status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "the JSON is nested deeper than %d levels at line %zu, column %zu",
                   LT_JSON_MAX_DEPTH, line, column);
  }
  if (s->start == s->end) {
    return lt_fail(err, LT_E_SYNTAX, "invalid JSON: expected a value, but the text is empty");
  }
  const char *lead = s->is_expected ? "expected " : "";
  if (s->at == s->end) {
    return lt_fail(err, LT_E_SYNTAX, "invalid JSON at line %zu, column %zu: %s%s, but the text ends here", line, column,
                   lead, s->what);
  }
  char found[QUOTE_CHARS * 4 + 4];
  json_quote(s, found);
  const char *hint = s->is_expected ? json_hint_for(s) : NULL;
  return lt_fail(err, LT_E_SYNTAX, "invalid JSON at line %zu, column %zu: %s%s%s `%s`%s%s%s", line, column, lead,
                 s->what, s->is_expected ? ", found" : ":", found, hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}

lt_status lt_json_check(lt_str text, lt_err *err) {
  json_scan s;
  json_scan_init(&s, text);
  return json_read_document(&s, false) ? LT_OK : json_fail(&s, err);
}

/* --- The index ---------------------------------------------------------------------------------------------------- */

#define SHORT_BYTES 32 /* as many nodes as bytes take less time than to count them */

typedef uint8_t json_bytes16 __attribute__((vector_size(16)));

static inline json_bytes16 json_is_byte(json_bytes16 x, uint8_t c) {
  return (json_bytes16)(x == c); /* 0, or -1 where the byte is one of these characters */
}

/* Counts at least the nodes of the document: each node but the first follows one of `[` `{` `,` `:`. The count is
 * higher when strings contain these characters. */
static uint32_t json_guess_nodes(lt_str text) {
  uint32_t count = 1;
  size_t i = 0;
  if (text.n <= SHORT_BYTES) {
    return (uint32_t)text.n + 1;
  }
  while (text.n - i >= 16) {
    json_bytes16 sums = {0};
    for (int rounds = 0; rounds < 255 && text.n - i >= 16; rounds++, i += 16) {
      json_bytes16 x;
      memcpy(&x, text.p + i, sizeof x);
      /* The mask 0xDF turns `{` into `[`. */
      sums -= json_is_byte(x, ',') | json_is_byte(x, ':') | json_is_byte(x & 0xDF, '[');
    }
    for (int lane = 0; lane < 16; lane++) {
      count += sums[lane];
    }
  }
  for (; i < text.n; i++) {
    count += text.p[i] == ',' || text.p[i] == ':' || text.p[i] == '[' || text.p[i] == '{';
  }
  return count;
}

/* Allocates the nodes. Their number is first guessed, which is quick (a twentieth of the scan). Surplus nodes are never
 * touched, so they cost no memory, but they count against the arena's ceiling. If the guess would use a large part of
 * the ceiling, a scan counts the nodes exactly. (Growing during the scan is twice as slow on documents of many small
 * values.) */
static lt_status json_make_room(json_scan *s, lt_arena *arena, lt_str text, lt_err *err) {
  size_t left = arena->max > arena->used ? arena->max - arena->used : 0;
  uint32_t cap = text.n <= LT_JSON_MAX_BYTES ? json_guess_nodes(text) : 1;
  if (cap > left / sizeof *s->nodes / 4) {
    json_scan exact;
    json_scan_init(&exact, text);
    if (!json_read_document(&exact, false)) {
      return json_fail(&exact, err);
    }
    cap = exact.count;
  }
  s->nodes = lt_arena_alloc(arena, cap * sizeof *s->nodes);
  s->cap = cap;
  return s->nodes != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the index of %zu bytes of JSON", text.n);
}

lt_status lt_json_parse(lt_arena *arena, lt_str text, lt_json_doc *ret_doc, lt_err *err) {
  json_scan s;
  json_scan_init(&s, text);
  LT_TRY(json_make_room(&s, arena, text, err));
  if (!json_read_document(&s, true)) {
    return json_fail(&s, err);
  }
  *ret_doc = (lt_json_doc){{s.start, text.n}, s.nodes, s.count};
  return LT_OK;
}
