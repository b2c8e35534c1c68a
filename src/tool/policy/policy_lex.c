#include "tool/policy/policy_lex.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

#define QUOTE_BYTES 40 /* of the text in a message */

/* --- Tokens ------------------------------------------------------------------------------------------------------- */

static bool policy_lex_is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool policy_lex_is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool policy_lex_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || policy_lex_is_digit(c) ||
         (c & 0x80);
}

static bool policy_lex_is_number(char c) {
  return policy_lex_is_digit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

static size_t policy_lex_span(lt_str s, bool (*in)(char)) {
  size_t n = 0;
  while (n < s.n && in(s.p[n])) {
    n++;
  }
  return n;
}

/* The end of a quoted string, or of the text when no quote closes it. */
static size_t policy_lex_string_end(lt_str s, bool *ret_closed) {
  size_t n = 1;
  while (n < s.n && s.p[n] != s.p[0]) {
    n += s.p[n] == '\\' ? 2 : 1;
  }
  *ret_closed = n < s.n;
  return n < s.n ? n + 1 : s.n;
}

static size_t policy_lex_sign_end(lt_str s) {
  static const char *const signs[] = {"===", "!==", "==", "!=", "<=", ">=", "&&", "||"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    if (lt_str_starts(s, lt_str_of(signs[i]))) {
      return strlen(signs[i]);
    }
  }
  return 1;
}

static lt_policy_token policy_lex_token_at(lt_str rest) {
  if (rest.n == 0) {
    return (lt_policy_token){LT_TOKEN_END, rest};
  }
  char c = rest.p[0];
  if (c == '"' || c == '\'') {
    bool closed;
    return (lt_policy_token){LT_TOKEN_STRING, lt_str_sub(rest, 0, policy_lex_string_end(rest, &closed))};
  }
  if (policy_lex_is_digit(c) || (c == '-' && rest.n > 1 && policy_lex_is_digit(rest.p[1]))) {
    return (lt_policy_token){LT_TOKEN_NUMBER, lt_str_sub(rest, 0, policy_lex_span(rest, policy_lex_is_number))};
  }
  if (policy_lex_is_word(c)) {
    return (lt_policy_token){LT_TOKEN_WORD, lt_str_sub(rest, 0, policy_lex_span(rest, policy_lex_is_word))};
  }
  return (lt_policy_token){LT_TOKEN_SIGN, lt_str_sub(rest, 0, policy_lex_sign_end(rest))};
}

static size_t policy_lex_offset_of(const lt_policy_parser *p, const lt_policy_token *token) {
  return (size_t)(token->text.p - p->text.p);
}

static lt_policy_token policy_lex_token_after(const lt_policy_parser *p, size_t at) {
  lt_str rest = {p->text.p + at, p->text.n - at};
  size_t blanks = policy_lex_span(rest, policy_lex_is_space);
  return policy_lex_token_at((lt_str){rest.p + blanks, rest.n - blanks});
}

void lt_policy_lex_begin(lt_policy_parser *p, lt_arena *arena, lt_str text, lt_err *err) {
  *p = (lt_policy_parser){.arena = arena, .text = text, .err = err};
  p->now = policy_lex_token_after(p, 0);
  p->before = (lt_policy_token){LT_TOKEN_END, {text.p, 0}};
}

void lt_policy_lex_next(lt_policy_parser *p) {
  p->before = p->now;
  p->now = policy_lex_token_after(p, policy_lex_offset_of(p, &p->now) + p->now.text.n);
}

bool lt_policy_lex_is(const lt_policy_parser *p, const char *sign_or_word) {
  return (p->now.kind == LT_TOKEN_SIGN || p->now.kind == LT_TOKEN_WORD) && lt_str_eqc(p->now.text, sign_or_word);
}

bool lt_policy_lex_accept(lt_policy_parser *p, const char *sign_or_word) {
  if (!lt_policy_lex_is(p, sign_or_word)) {
    return false;
  }
  lt_policy_lex_next(p);
  return true;
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

/* Spellings of other languages, and the hint for each. */
static const char *policy_lex_hint_for(lt_str found) {
  static const struct {
    const char *found;
    const char *hint;
  } hints[] = {
      {"=", "write =="},
      {"===", "write =="},
      {"!==", "write !="},
      {"&", "write &&"},
      {"|", "write ||"},
      {"and", "write &&"},
      {"AND", "write &&"},
      {"or", "write ||"},
      {"OR", "write ||"},
      {"not", "write !( ... )"},
      {"NOT", "write !( ... )"},
      {"like", "write matches"},
      {"contains", "write any(LIST, it == VALUE), or TEXT matches \"*PART*\""},
      {"-", "there is no arithmetic; a name with a \"-\" is written input[\"a-b\"]"},
      {"+", "there is no arithmetic"},
      {"*", "there is no arithmetic"},
      {"/", "there is no arithmetic"},
      {"%", "there is no arithmetic"},
      {"True", "write true"},
      {"False", "write false"},
      {"None", "write null"},
      {"undefined", "write !has( ... )"},
  };
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
    if (lt_str_eqc(found, hints[i].found)) {
      return hints[i].hint;
    }
  }
  return NULL;
}

/* From 1, in characters. */
static size_t policy_lex_position_of(const lt_policy_parser *p, const lt_policy_token *token) {
  return 1 + lt_utf8_count(lt_str_sub(p->text, 0, policy_lex_offset_of(p, token)));
}

/* A token as a message shows it: without control characters or broken ones, and not too long. */
static const char *policy_lex_quoted(const lt_policy_token *token, char out[QUOTE_BYTES + 4]) {
  size_t n = lt_utf8_floor(token->text, QUOTE_BYTES);
  for (size_t i = 0; i < n; i++) {
    char c = token->text.p[i];
    out[i] = (unsigned char)c < 0x20 || c == 0x7F ? ' ' : c;
  }
  strcpy(out + n, n < token->text.n ? "..." : "");
  return out;
}

void *lt_policy_lex_expected(lt_policy_parser *p, const char *what) {
  if (p->status != LT_OK) {
    return NULL;
  }
  char before[QUOTE_BYTES + 4];
  char found[QUOTE_BYTES + 4];
  policy_lex_quoted(&p->before, before);
  policy_lex_quoted(&p->now, found);
  bool first = p->before.text.n == 0;
  const char *after[] = {first ? "" : " after `", first ? "" : before, first ? "" : "`"};
  if (p->now.kind == LT_TOKEN_END) {
    p->status =
        lt_fail(p->err, LT_E_INVALID, "expected %s%s%s%s, but it ends there", what, after[0], after[1], after[2]);
    return NULL;
  }
  const char *hint = policy_lex_hint_for(p->now.text);
  p->status =
      lt_fail(p->err, LT_E_INVALID, "expected %s%s%s%s, found `%s` at character %zu%s%s%s", what, after[0], after[1],
              after[2], found, policy_lex_position_of(p, &p->now), hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
  return NULL;
}

void *lt_policy_lex_refuse(lt_policy_parser *p, const lt_policy_token *at, const char *fmt, ...) {
  if (p->status != LT_OK) {
    return NULL;
  }
  char what[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  char found[QUOTE_BYTES + 4];
  p->status = lt_fail(p->err, LT_E_INVALID, "%s (at character %zu: `%s`)", what, policy_lex_position_of(p, at),
                      policy_lex_quoted(at, found));
  return NULL;
}

void *lt_policy_lex_no_memory(lt_policy_parser *p) {
  if (p->status == LT_OK) {
    p->status = lt_fail(p->err, LT_E_NOMEM, "out of memory");
  }
  return NULL;
}

void *lt_policy_lex_over(lt_policy_parser *p, const char *what, size_t max) {
  if (p->status == LT_OK) {
    p->status = lt_fail(p->err, LT_E_LIMIT, "%s: at most %zu; make two rules of it", what, max);
  }
  return NULL;
}

/* --- Parts of a condition ----------------------------------------------------------------------------------------- */
bool lt_policy_lex_take(lt_policy_parser *p, const char *sign, const char *what) {
  if (!lt_policy_lex_accept(p, sign)) {
    lt_policy_lex_expected(p, what);
    return false;
  }
  return true;
}

static bool policy_lex_count_node(lt_policy_parser *p) {
  if (++p->nodes > LT_POLICY_NODES_MAX) {
    lt_policy_lex_over(p, "too many parts", LT_POLICY_NODES_MAX);
    return false;
  }
  return true;
}

void *lt_policy_lex_new_part(lt_policy_parser *p, size_t size) {
  void *part = policy_lex_count_node(p) ? lt_arena_zalloc(p->arena, 1, size) : NULL;
  return part != NULL ? part : lt_policy_lex_no_memory(p);
}

/* --- Literals ----------------------------------------------------------------------------------------------------- */

/* Writes the text as a JSON string. In single quotes a double quote may stand alone, and \' is an apostrophe. */
static void policy_lex_put_json(lt_buf *out, lt_str inside) {
  lt_buf_byte(out, '"');
  for (size_t i = 0; i < inside.n; i++) {
    char c = inside.p[i];
    bool escape = c == '\\' && i + 1 < inside.n;
    if (c == '"') {
      lt_buf_byte(out, '\\');
    }
    if (!escape || inside.p[i + 1] != '\'') {
      lt_buf_byte(out, c);
    }
    if (escape) {
      lt_buf_byte(out, inside.p[++i]);
    }
  }
  lt_buf_byte(out, '"');
}

static bool policy_lex_read_json_string(lt_policy_parser *p, const lt_policy_token *token, lt_str json, lt_str *ret) {
  lt_json_doc doc;
  LT_ERR_VAR(err);
  lt_str copy = lt_arena_dup(p->arena, json);
  if (copy.p == NULL || lt_json_parse(p->arena, copy, &doc, &err) == LT_E_NOMEM) {
    lt_policy_lex_no_memory(p);
    return false;
  }
  if (err.status != LT_OK) {
    lt_policy_lex_refuse(p, token,
                         "this string cannot be read: escapes are those of JSON and \\', a line break is \\n");
    return false;
  }
  return lt_json_str(lt_json_root(&doc), p->arena, ret) || lt_policy_lex_no_memory(p) != NULL;
}

bool lt_policy_lex_string(lt_policy_parser *p, const lt_policy_token *token, lt_str *ret) {
  bool closed;
  size_t n = policy_lex_string_end(token->text, &closed);
  if (!closed) {
    lt_policy_lex_refuse(p, token, "this string has no closing quote");
    return false;
  }
  LT_AUTO_BUF(json, LT_POLICY_WHEN_MAX_BYTES * 2 + 2);
  policy_lex_put_json(&json, lt_str_sub(token->text, 1, n - 1));
  if (json.status != LT_OK) {
    return lt_policy_lex_no_memory(p) != NULL;
  }
  return policy_lex_read_json_string(p, token, lt_buf_view(&json), ret);
}

bool lt_policy_lex_number(lt_policy_parser *p, const lt_policy_token *token, lt_str *ret) {
  if (lt_json_check(token->text, NULL) != LT_OK) {
    lt_policy_lex_refuse(p, token, "this number cannot be read: write it as in JSON, such as 10, -0.5 or 1e6");
    return false;
  }
  *ret = lt_arena_dup(p->arena, token->text);
  return ret->p != NULL || lt_policy_lex_no_memory(p) != NULL;
}
