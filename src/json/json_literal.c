#include "json/json_literal.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"

typedef struct literal_reader {
  lt_str text;
  size_t at;
  unsigned depth;
  lt_json_writer w;
  lt_buf string; /* the characters of a string or name */
} literal_reader;

static lt_status literal_read_value(literal_reader *r, lt_err *err);

/* NUL at the end, and for a NUL: neither begins anything. */
static char literal_peek(const literal_reader *r) {
  return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static void literal_skip_to(literal_reader *r, const char *what) {
  size_t found = lt_str_find(r->text, lt_str_of(what), r->at);
  r->at = found < r->text.n ? found + strlen(what) : r->text.n;
}

/* White space and comments. */
static void literal_skip(literal_reader *r) {
  for (;;) {
    lt_str rest = lt_str_sub(r->text, r->at, r->text.n);
    if (rest.n > 0 && strchr(" \t\r\n", rest.p[0]) != NULL && rest.p[0] != '\0') {
      r->at++;
    } else if (lt_str_starts(rest, LT_STR("//"))) {
      literal_skip_to(r, "\n");
    } else if (lt_str_starts(rest, LT_STR("/*"))) {
      literal_skip_to(r, "*/");
    } else {
      return;
    }
  }
}

static lt_status literal_fail(const literal_reader *r, const char *wanted, lt_err *err) {
  lt_str rest = lt_str_sub(r->text, r->at, r->text.n);
  size_t line = lt_str_find(rest, LT_STR("\n"), 0);
  lt_str shown = lt_str_sub(rest, 0, line < 40 ? line : 40);
  return lt_fail(err, LT_E_SYNTAX, "%s is wanted, not %s%.*s", wanted, shown.n > 0 ? "" : "the end",
                 LT_STR_ARG(lt_utf8_cut(shown, 40)));
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */
/* WTF-8: a surrogate of an escape stays one. */
static void literal_put_point(lt_buf *out, uint32_t point) {
  if (point < 0x80) {
    lt_buf_byte(out, (char)point);
  } else if (point < 0x800) {
    lt_buf_byte(out, (char)(0xC0 | point >> 6));
  } else if (point < 0x10000) {
    lt_buf_byte(out, (char)(0xE0 | point >> 12));
    lt_buf_byte(out, (char)(0x80 | (point >> 6 & 0x3F)));
  } else {
    lt_buf_byte(out, (char)(0xF0 | point >> 18));
    lt_buf_byte(out, (char)(0x80 | (point >> 12 & 0x3F)));
    lt_buf_byte(out, (char)(0x80 | (point >> 6 & 0x3F)));
  }
  if (point >= 0x80) {
    lt_buf_byte(out, (char)(0x80 | (point & 0x3F)));
  }
}

static int literal_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* The digits of \xHH, \uHHHH and \u{...}; `max` of them. False: there are others, or too few. */
static bool literal_read_digits(literal_reader *r, unsigned least, unsigned max, uint32_t *ret_point) {
  unsigned count = 0;
  for (*ret_point = 0; count < max && literal_digit(literal_peek(r)) >= 0; count++) {
    *ret_point = *ret_point * 16 + (uint32_t)literal_digit(r->text.p[r->at++]);
  }
  return count >= least && *ret_point <= 0x10FFFF;
}

static bool literal_read_code(literal_reader *r, char kind) {
  uint32_t point = 0;
  bool is_braced = kind == 'u' && literal_peek(r) == '{';
  r->at += is_braced;
  unsigned digits = kind == 'x' ? 2 : 4;
  bool is_read = literal_read_digits(r, is_braced ? 1 : digits, is_braced ? 6 : digits, &point);
  if (is_braced) {
    is_read = is_read && literal_peek(r) == '}';
    r->at += is_read;
  }
  literal_put_point(&r->string, point);
  return is_read;
}

/* Reads what follows a backslash. A character that means nothing there stands for itself, as in JavaScript. */
static bool literal_read_escape(literal_reader *r) {
  static const char letters[] = "nrtbfv0", values[] = "\n\r\t\b\f\v";
  char c = literal_peek(r);
  if (r->at == r->text.n) {
    return false;
  }
  r->at++;
  if (c == 'x' || c == 'u') {
    return literal_read_code(r, c);
  }
  const char *letter = c != '\0' ? strchr(letters, c) : NULL;
  if (letter != NULL) {
    lt_buf_byte(&r->string, values[letter - letters]);
  } else if (c != '\n') { /* a line that goes on */
    lt_buf_byte(&r->string, c);
  }
  return true;
}

static lt_status literal_read_string(literal_reader *r, lt_err *err) {
  char quote = r->text.p[r->at++];
  lt_buf_clear(&r->string);
  while (r->at < r->text.n && r->text.p[r->at] != quote) {
    char c = r->text.p[r->at];
    bool is_computed = quote == '`' && lt_str_starts(lt_str_sub(r->text, r->at, r->text.n), LT_STR("${"));
    if (is_computed || (c == '\n' && quote != '`')) {
      return literal_fail(r, is_computed ? "a text without ${}" : "the end of a string", err);
    }
    r->at++;
    if (c != '\\') {
      lt_buf_byte(&r->string, c);
    } else if (!literal_read_escape(r)) {
      return lt_fail(err, LT_E_SYNTAX, "a string has an escape that means nothing");
    }
  }
  if (r->at == r->text.n) {
    return lt_fail(err, LT_E_SYNTAX, "a string does not end");
  }
  r->at++;
  return lt_buf_check(&r->string, err, "a string is too long");
}

/* --- Names, numbers ----------------------------------------------------------------------------------------------- */
static bool literal_is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}

static lt_str literal_read_word(literal_reader *r) {
  size_t start = r->at;
  while (literal_is_word_byte(literal_peek(r))) {
    r->at++;
  }
  return lt_str_sub(r->text, start, r->at);
}

/* A number as JSON has it. */
static lt_status literal_read_number(literal_reader *r, lt_err *err) {
  size_t start = r->at;
  while (literal_is_word_byte(literal_peek(r)) || (literal_peek(r) != '\0' && strchr("+-.", literal_peek(r)) != NULL)) {
    r->at++;
  }
  lt_str number = lt_str_sub(r->text, start, r->at);
  if (lt_json_check(number, NULL) != LT_OK) {
    r->at = start;
    return literal_fail(r, "a number such as -1.5", err);
  }
  lt_json_put_raw(&r->w, number);
  return LT_OK;
}

static lt_status literal_read_constant(literal_reader *r, lt_err *err) {
  size_t start = r->at;
  lt_str word = literal_read_word(r);
  if (lt_str_eqc(word, "true") || lt_str_eqc(word, "false") || lt_str_eqc(word, "null")) {
    lt_json_put_raw(&r->w, word);
    return LT_OK;
  }
  r->at = start;
  return literal_fail(r, "a value that is written out", err);
}

/* --- Objects and arrays ------------------------------------------------------------------------------------------- */
static lt_status literal_read_member(literal_reader *r, lt_err *err) {
  char c = literal_peek(r);
  if (c == '"' || c == '\'') {
    LT_TRY(literal_read_string(r, err));
    lt_json_key_str(&r->w, lt_buf_view(&r->string));
  } else {
    lt_str name = literal_read_word(r);
    if (name.n == 0) {
      return literal_fail(r, "a member's name", err);
    }
    lt_json_key_str(&r->w, name);
  }
  literal_skip(r);
  if (literal_peek(r) != ':') {
    return literal_fail(r, "\":\" with a value that is written out", err);
  }
  r->at++;
  return literal_read_value(r, err);
}

static lt_status literal_read_items(literal_reader *r, char end, lt_err *err) {
  literal_skip(r);
  while (literal_peek(r) != end) {
    LT_TRY(end == '}' ? literal_read_member(r, err) : literal_read_value(r, err));
    literal_skip(r);
    if (literal_peek(r) == ',') {
      r->at++;
      literal_skip(r);
    } else if (literal_peek(r) != end) {
      return literal_fail(r, end == '}' ? "\",\" or \"}\"" : "\",\" or \"]\"", err);
    }
  }
  r->at++;
  return LT_OK;
}

static lt_status literal_read_container(literal_reader *r, lt_err *err) {
  bool is_object = r->text.p[r->at++] == '{';
  if (++r->depth > LT_JSON_LITERAL_DEPTH) {
    return lt_fail(err, LT_E_LIMIT, "it is nested more than %d deep", LT_JSON_LITERAL_DEPTH);
  }
  (is_object ? lt_json_begin_object : lt_json_begin_array)(&r->w);
  LT_TRY(literal_read_items(r, is_object ? '}' : ']', err));
  (is_object ? lt_json_end_object : lt_json_end_array)(&r->w);
  r->depth--;
  return LT_OK;
}

static lt_status literal_read_value(literal_reader *r, lt_err *err) {
  literal_skip(r);
  char c = literal_peek(r);
  if (c == '{' || c == '[') {
    return literal_read_container(r, err);
  }
  if (c == '"' || c == '\'' || c == '`') {
    LT_TRY(literal_read_string(r, err));
    lt_json_put_str(&r->w, lt_buf_view(&r->string));
    return LT_OK;
  }
  return c == '-' || (c >= '0' && c <= '9') ? literal_read_number(r, err) : literal_read_constant(r, err);
}

lt_status lt_json_literal_read(lt_str text, lt_buf *out, size_t *ret_end, lt_err *err) {
  literal_reader r = {.text = text, .w = lt_json_writer_on(out)};
  lt_buf_init(&r.string, LT_JSON_MAX_BYTES);
  lt_status status = literal_read_value(&r, err);
  lt_buf_release(&r.string);
  *ret_end = r.at;
  return status == LT_OK ? lt_buf_check(out, err, "it is too long") : status;
}
