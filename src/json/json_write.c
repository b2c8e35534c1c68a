#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/json.h"
#include "json/json_text.h"

/* --- Strings ------------------------------------------------------------------------------------------------------ */

#define UNIT_BYTES 6

static void json_write_unit(char to[UNIT_BYTES], uint32_t unit) {
  static const char hex[] = "0123456789abcdef";
  const char text[] = {'\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
  memcpy(to, text, UNIT_BYTES);
}

static void json_write_add_unit(lt_buf *buf, uint32_t unit) {
  char text[UNIT_BYTES];
  json_write_unit(text, unit);
  lt_buf_add(buf, lt_str_from(text, sizeof text));
}

/* Returns the length. */
static size_t json_write_ascii(char to[UNIT_BYTES], char c) {
  static const char shorts[0x20] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
  char letter = c == '"' || c == '\\' ? c : shorts[(unsigned char)c];
  if (letter == 0) {
    json_write_unit(to, (unsigned char)c);
    return UNIT_BYTES;
  }
  to[0] = '\\';
  to[1] = letter;
  return 2;
}

/* Writes the plain text from `p` to `stop`, and the ASCII character there as its escape, in one step. */
static void json_write_escape_ascii(lt_buf *buf, const char *p, const char *stop) {
  char escape[UNIT_BYTES];
  size_t plain = (size_t)(stop - p), n = json_write_ascii(escape, *stop);
  char *to = lt_buf_reserve(buf, plain + n);
  if (to != NULL) {
    memcpy(to, p, plain);
    memcpy(to + plain, escape, n);
    lt_buf_commit(buf, plain + n);
  }
}

/* The number of malformed bytes that one U+FFFD replaces: the longest prefix of a valid character, as in browsers
 * (Unicode 15, 3.9: substitution of maximal subparts). */
static unsigned json_write_broken_length(const char *p, const char *end) {
  unsigned char lead = (unsigned char)p[0];
  unsigned char next = p + 1 < end ? (unsigned char)p[1] : 0;
  if (lead < 0xE0 || lead > 0xF4 || !lt_utf8_continues((char)next) || (lead == 0xE0 && next < 0xA0) ||
      (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next >= 0x90)) {
    return 1;
  }
  return lead >= 0xF0 && p + 2 < end && lt_utf8_continues(p[2]) ? 3 : 2;
}

/* Writes characters beyond ASCII from `p` on. Returns the end of the written part. */
static const char *json_write_escape_wide(lt_buf *buf, const char *p, const char *end) {
  const char *from = p;
  while (p < end && (unsigned char)*p >= 0x80) {
    uint32_t cp = 0;
    unsigned n = lt_json_read_char(p, end, &cp);
    if (n > 0 && !lt_json_is_surrogate(cp)) {
      p += n;
      continue;
    }
    lt_buf_add(buf, (lt_str){from, (size_t)(p - from)});
    if (n > 0) {
      json_write_add_unit(buf, cp); /* a high and a low surrogate side by side become an escaped pair, which is valid
                                       and one character again */
    } else {
      n = json_write_broken_length(p, end);
      lt_buf_add(buf, LT_STR("\xEF\xBF\xBD"));
    }
    p += n;
    from = p;
  }
  lt_buf_add(buf, (lt_str){from, (size_t)(p - from)});
  return p;
}

void lt_json_mend_utf8(lt_buf *out, lt_str s) {
  const char *p = s.p, *end = s.p + s.n, *from = p;
  uint32_t cp;
  while (p < end) {
    unsigned n = lt_json_read_char(p, end, &cp);
    if (n == 0) {
      lt_buf_add(out, (lt_str){from, (size_t)(p - from)});
      lt_buf_add(out, LT_STR("\xEF\xBF\xBD"));
      from = p + json_write_broken_length(p, end);
    }
    p = n == 0 ? from : p + n;
  }
  lt_buf_add(out, (lt_str){from, (size_t)(p - from)});
}

void lt_json_escape(lt_buf *buf, lt_str s) {
  if (s.n == 0) {
    return;
  }
  const char *p = s.p;
  const char *end = s.p + s.n;
  while (p < end) {
    const char *stop = lt_json_plain_end(p, end);
    if (stop < end && (unsigned char)*stop < 0x80) {
      json_write_escape_ascii(buf, p, stop);
      p = stop + 1;
    } else {
      lt_buf_add(buf, (lt_str){p, (size_t)(stop - p)});
      p = json_write_escape_wide(buf, stop, end);
    }
  }
}

/* --- The writer --------------------------------------------------------------------------------------------------- */

/* Whether the innermost container is an object; known for the outer 64 levels. */
static bool json_write_known(const lt_json_writer *w) {
  return w->depth >= 1 && w->depth <= 64;
}

static bool json_write_in_object(const lt_json_writer *w) {
  return w->objects >> (w->depth - 1) & 1;
}

static void json_write_comma(lt_json_writer *w) {
  if (w->need_comma) {
    LT_CHECK(w->depth > 0); /* a second value at the top */
    lt_buf_byte(w->buf, ',');
  }
}

static void json_write_before_value(lt_json_writer *w) {
  LT_CHECK(!json_write_known(w) || json_write_in_object(w) == w->after_key);
  if (!w->after_key) {
    json_write_comma(w);
  }
  w->after_key = false;
  w->need_comma = true;
}

static void json_write_begin(lt_json_writer *w, char c) {
  json_write_before_value(w);
  lt_buf_byte(w->buf, c);
  w->need_comma = false;
  w->depth++;
  if (json_write_known(w)) {
    uint64_t bit = 1ull << (w->depth - 1);
    w->objects = c == '{' ? w->objects | bit : w->objects & ~bit;
  }
}

static void json_write_finish(lt_json_writer *w, char c) {
  LT_CHECK(w->depth > 0 && !w->after_key);
  LT_CHECK(!json_write_known(w) || json_write_in_object(w) == (c == '}'));
  w->depth--;
  lt_buf_byte(w->buf, c);
  w->need_comma = true;
}

void lt_json_begin_object(lt_json_writer *w) {
  json_write_begin(w, '{');
}

void lt_json_end_object(lt_json_writer *w) {
  json_write_finish(w, '}');
}

void lt_json_begin_array(lt_json_writer *w) {
  json_write_begin(w, '[');
}

void lt_json_end_array(lt_json_writer *w) {
  json_write_finish(w, ']');
}

/* Most strings need no escapes, and most are short: then quotes and text are written in one step. */
static void json_write_put_quoted(lt_buf *buf, lt_str s) {
  bool is_plain = s.n == 0 || lt_json_plain_end(s.p, s.p + s.n) == s.p + s.n;
  char *to = is_plain ? lt_buf_reserve(buf, s.n + 2) : NULL;
  if (to != NULL) {
    *to = '"';
    memcpy(to + 1, s.n > 0 ? s.p : "", s.n);
    to[s.n + 1] = '"';
    lt_buf_commit(buf, s.n + 2);
  } else if (!is_plain) {
    lt_buf_expect(buf, s.n + s.n / 16 + 2); /* a long text has an escape or two in a line */
    lt_buf_byte(buf, '"');
    lt_json_escape(buf, s);
    lt_buf_byte(buf, '"');
  }
}

/* Comma, key and colon in one step, if nothing is to be escaped. */
static bool json_write_put_plain_key(lt_json_writer *w, lt_str key) {
  bool is_plain = key.n > 0 && lt_json_plain_end(key.p, key.p + key.n) == key.p + key.n;
  char *to = is_plain ? lt_buf_reserve(w->buf, key.n + 3 + w->need_comma) : NULL, *end = to;
  if (to == NULL) {
    return false;
  }
  *end = ',';
  end += w->need_comma;
  *end++ = '"';
  memcpy(end, key.p, key.n);
  end += key.n;
  *end++ = '"';
  *end++ = ':';
  lt_buf_commit(w->buf, (size_t)(end - to));
  return true;
}

void lt_json_key_str(lt_json_writer *w, lt_str key) {
  LT_CHECK(w->depth > 0 && !w->after_key && (!json_write_known(w) || json_write_in_object(w)));
  if (!json_write_put_plain_key(w, key)) {
    json_write_comma(w);
    json_write_put_quoted(w->buf, key);
    lt_buf_byte(w->buf, ':');
  }
  w->after_key = true;
}

void lt_json_put_str(lt_json_writer *w, lt_str s) {
  json_write_before_value(w);
  json_write_put_quoted(w->buf, s);
}

void lt_json_put_cstr(lt_json_writer *w, const char *cstr) {
  lt_json_put_str(w, lt_str_of(cstr));
}

void lt_json_put_given(lt_json_writer *w, const char *key, lt_str value) {
  if (value.n > 0) {
    lt_json_put_pair(w, key, value);
  }
}

void lt_json_put_bool(lt_json_writer *w, bool b) {
  lt_json_put_raw(w, b ? LT_STR("true") : LT_STR("false"));
}

void lt_json_put_null(lt_json_writer *w) {
  lt_json_put_raw(w, LT_STR("null"));
}

void lt_json_put_raw(lt_json_writer *w, lt_str json) {
  json_write_before_value(w);
  lt_buf_add(w->buf, json.n > 0 ? json : LT_STR("null"));
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

void lt_json_put_int(lt_json_writer *w, int64_t n) {
  json_write_before_value(w);
  lt_buf_int(w->buf, n);
}

#define DIGITS_MAX 17 /* 17 digits distinguish any two doubles */

/* 0.d1d2d3... * 10^point */
typedef struct written_decimal {
  char digits[DIGITS_MAX + 1];
  int count;
  int point;
} written_decimal;

/* Writes `n`, rounded to `precision` digits. The point is skipped, as it depends on the locale. */
static written_decimal json_write_round_to(double n, int precision) {
  char text[DIGITS_MAX + 16];
  snprintf(text, sizeof text, "%.*e", precision - 1, n);
  written_decimal d = {.count = 0};
  const char *p = text;
  for (; *p != 'e'; p++) {
    if (*p >= '0' && *p <= '9') {
      d.digits[d.count++] = *p;
    }
  }
  d.point = atoi(p + 1) + 1;
  return d;
}

static bool json_write_reads_back(const written_decimal *d, double n) {
  char text[DIGITS_MAX + 16];
  snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->point - d->count);
  return strtod(text, NULL) == n;
}

/* Finds the decimal with the same number of digits above `d`. False: it needs one digit more. */
static bool json_write_step_up(written_decimal *d) {
  for (int i = d->count - 1; i >= 0; i--) {
    if (d->digits[i] != '9') {
      d->digits[i]++;
      d->count = i + 1;
      return true;
    }
  }
  return false;
}

/* Finds the fewest digits that read back as `n`, which is positive; zeros at the end do not count. Every decimal of 15
 * digits survives a conversion to double and back, so fewer digits need no attempt, except for subnormal numbers. Above
 * a power of two, doubles are twice as far apart as below. There a decimal of 16 digits that is not the nearest one may
 * be enough. */
static written_decimal json_write_shortest(double n) {
  for (int precision = isnormal(n) ? 15 : 1; precision < DIGITS_MAX; precision++) {
    written_decimal d = json_write_round_to(n, precision);
    if (json_write_reads_back(&d, n)) {
      return d;
    }
    int exponent;
    if (precision == 16 && frexp(n, &exponent) == 0.5 && json_write_step_up(&d) && json_write_reads_back(&d, n)) {
      return d;
    }
  }
  return json_write_round_to(n, DIGITS_MAX);
}

static void json_write_drop_zeros(written_decimal *d) {
  while (d->count > 1 && d->digits[d->count - 1] == '0') {
    d->count--;
  }
}

static void json_write_add_zeros(lt_buf *buf, int n) {
  while (n-- > 0) {
    lt_buf_byte(buf, '0');
  }
}

/* ECMA-262, Number::toString: a whole number below 1e21, a fraction down to 1e-6, an exponent for all others. */
static void json_write_add_decimal(lt_buf *buf, const written_decimal *d) {
  int whole = d->point < 0 ? 0 : d->point < d->count ? d->point : d->count; /* digits before the point */
  if (d->point > 21 || d->point <= -6) {
    whole = 1;
  }
  lt_buf_add(buf, (lt_str){d->digits, (size_t)whole});
  bool exponent = d->point > 21 || d->point <= -6;
  if (whole == 0) {
    lt_buf_byte(buf, '0');
  } else if (!exponent) {
    json_write_add_zeros(buf, d->point - d->count);
  }
  if (d->count > whole) {
    lt_buf_byte(buf, '.');
    json_write_add_zeros(buf, exponent ? 0 : -d->point);
    lt_buf_add(buf, (lt_str){d->digits + whole, (size_t)(d->count - whole)});
  }
  if (exponent) {
    lt_buf_printf(buf, "e%+d", d->point - 1);
  }
}

void lt_json_put_double(lt_json_writer *w, double n) {
  if (!isfinite(n)) {
    lt_json_put_null(w);
    return;
  }
  json_write_before_value(w);
  if (signbit(n)) {
    lt_buf_byte(w->buf, '-');
    n = -n;
  }
  if (n < 9007199254740992.0 && n == (double)(int64_t)n) {
    lt_buf_int(w->buf, (int64_t)n);
  } else {
    written_decimal d = json_write_shortest(n);
    json_write_drop_zeros(&d);
    json_write_add_decimal(w->buf, &d);
  }
}

/* --- Whole values ------------------------------------------------------------------------------------------------- */

/* Writes a scalar unchanged, but escapes encoded surrogates, because the output must be UTF-8. */
static void json_write_add_scalar(lt_buf *out, lt_str text, uint32_t info) {
  const char *p = text.p;
  const char *end = text.p + text.n;
  while (info & LT_JSON_INFO_ESCAPED) {
    const char *at = memchr(p, 0xED, (size_t)(end - p));
    if (at == NULL) {
      break;
    }
    lt_buf_add(out, (lt_str){p, (size_t)(at - p)});
    lt_json_escape(out, (lt_str){at, 3}); /* U+D000..U+DFFF: may be a surrogate */
    p = at + 3;
  }
  lt_buf_add(out, (lt_str){p, (size_t)(end - p)});
}

static bool json_write_is_container(const lt_json_node *node) {
  uint32_t type = node->info & LT_JSON_INFO_TYPE;
  return type == LT_JSON_ARRAY || type == LT_JSON_OBJECT;
}

/* A run of text that is copied unchanged. It is as long as possible, because a call of lt_buf_add costs more than a
 * value.
 */
typedef struct copied_run {
  lt_buf *out;
  const char *text;
  uint32_t from; /* the first byte that is not written yet */
  uint32_t at;
} copied_run;

static void json_write_end_run(copied_run *r, uint32_t go_on_at) {
  lt_buf_add(r->out, (lt_str){r->text + r->from, r->at - r->from});
  r->from = r->at = go_on_at;
}

static inline void json_write_run_to(copied_run *r, uint32_t stop) {
  while (r->at < stop) {
    if (lt_json_is_space(r->text[r->at])) {
      json_write_end_run(r, r->at + 1);
    } else {
      r->at++;
    }
  }
}

/* Between the scalars of a checked document there is only punctuation and white space. lt_json_pretty relies on that,
 * too. */
void lt_json_compact(lt_json v, lt_buf *out) {
  if (!lt_json_exists(v)) {
    return;
  }
  const lt_json_doc *doc = v.doc;
  const lt_json_node *root = &doc->nodes[v.at];
  copied_run r = {out, doc->text.p, root->start, root->start};
  for (const lt_json_node *node = root; node < doc->nodes + root->next && out->status == LT_OK; node++) {
    json_write_run_to(&r, node->start);
    if (node->info & LT_JSON_INFO_ESCAPED) {
      json_write_end_run(&r, node->end);
      json_write_add_scalar(out, lt_json_text((lt_json){doc, (uint32_t)(node - doc->nodes)}), node->info);
    } else if (!json_write_is_container(node)) {
      r.at = node->end;
    }
  }
  json_write_run_to(&r, root->end);
  json_write_end_run(&r, root->end);
}

typedef struct pretty_layout {
  lt_buf *out;
  uint32_t depth;
  bool opened; /* the innermost container is empty so far */
} pretty_layout;

static void json_write_new_line(pretty_layout *l) {
  size_t n = 1 + 2 * (size_t)l->depth;
  char *p = lt_buf_reserve(l->out, n);
  if (p != NULL) {
    memset(p, ' ', n);
    p[0] = '\n';
    lt_buf_commit(l->out, n);
  }
}

static void json_write_before_item(pretty_layout *l) {
  if (l->opened) {
    json_write_new_line(l);
    l->opened = false;
  }
}

static void json_write_end_container(pretty_layout *l) {
  l->depth--;
  if (!l->opened) {
    json_write_new_line(l);
  }
  l->opened = false;
}

static void json_write_add_punctuation(pretty_layout *l, char c) {
  if (lt_json_is_space(c)) {
    return;
  }
  if (c == '{' || c == '[') {
    json_write_before_item(l);
    l->depth++;
    l->opened = true;
  } else if (c == '}' || c == ']') {
    json_write_end_container(l);
  }
  lt_buf_byte(l->out, c);
  if (c == ',') {
    json_write_new_line(l);
  } else if (c == ':') {
    lt_buf_byte(l->out, ' ');
  }
}

void lt_json_pretty(lt_json v, lt_buf *out) {
  if (!lt_json_exists(v)) {
    return;
  }
  pretty_layout l = {.out = out};
  const lt_json_doc *doc = v.doc;
  const lt_json_node *root = &doc->nodes[v.at];
  uint32_t at = root->start;
  for (const lt_json_node *node = root; node < doc->nodes + root->next && out->status == LT_OK; node++) {
    for (; at < node->start; at++) {
      json_write_add_punctuation(&l, doc->text.p[at]);
    }
    if (!json_write_is_container(node)) {
      json_write_before_item(&l);
      json_write_add_scalar(out, (lt_str){doc->text.p + at, node->end - at}, node->info);
      at = node->end;
    }
  }
  for (; at < root->end && out->status == LT_OK; at++) {
    json_write_add_punctuation(&l, doc->text.p[at]);
  }
}
