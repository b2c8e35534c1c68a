#include "types/typegen_text.h"

#include "json/json.h"
#include "json/json_text.h"
#include "text/plain.h"

/* --- Characters worth showing ------------------------------------------------------------------------------------- */

/* Like lt_plain_next, but white space is ' ' or '\n'. */
static bool doc_text_next_char(lt_plain_reader *r, uint32_t *ret_cp) {
  bool more = lt_plain_next(r, ret_cp);
  if (more && *ret_cp == '\t') {
    *ret_cp = ' ';
  }
  return more;
}

static void doc_text_put_char(lt_buf *out, uint32_t cp) {
  char bytes[4];
  lt_buf_add(out, lt_str_from(bytes, lt_json_write_char(bytes, cp)));
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static void doc_text_trim_spaces(lt_buf *out, size_t from) {
  while (out->n > from && out->p[out->n - 1] == ' ') {
    out->p[--out->n] = '\0';
  }
}

/* Copies plain characters from `r` on, at most `max_bytes`. Nearly all text is plain. */
static size_t doc_text_plain_run(const lt_plain_reader *r, size_t max_bytes) {
  size_t n = 0;
  while (n < max_bytes && r->p + n < r->end && r->p[n] >= 0x20 && r->p[n] < 0x7F) {
    n++;
  }
  return n;
}

void lt_typegen_put_text(lt_buf *out, lt_str text, size_t max_bytes) {
  lt_plain_reader r = lt_plain_reader_of(text);
  size_t from = out->n;
  unsigned newlines = 0;
  uint32_t cp;
  while (out->status == LT_OK && doc_text_next_char(&r, &cp)) {
    if (cp == '\n') {
      doc_text_trim_spaces(out, from);
      newlines++;
      continue;
    }
    if (cp == ' ' && out->n == from) {
      continue;
    }
    if (out->n - from >= max_bytes) {
      doc_text_trim_spaces(out, from);
      lt_buf_addc(out, "...");
      return;
    }
    if (newlines > 0 && out->n > from) {
      lt_buf_addc(out, newlines > 1 ? "\n\n" : "\n");
    }
    newlines = 0;
    doc_text_put_char(out, cp);
    size_t left = max_bytes - (out->n - from < max_bytes ? out->n - from : max_bytes);
    size_t run = doc_text_plain_run(&r, left);
    lt_buf_add(out, lt_str_from(r.p, run));
    r.p += run;
    r.before = run > 0 ? (unsigned char)r.p[-1] : r.before;
    r.marks = run > 0 ? 0 : r.marks;
  }
  doc_text_trim_spaces(out, from);
}

/* One line under construction. */
typedef struct doc_text_line {
  lt_buf *out;
  size_t from;
  size_t chars;
  size_t max_chars;
  size_t cut_at; /* the place of "..." if the line gets too long */
  bool space;    /* white space came after the last character */
} doc_text_line;

static void doc_text_note_cut(doc_text_line *l) {
  if (l->chars + 3 <= l->max_chars) {
    l->cut_at = l->out->n;
  }
}

static void doc_text_cut(doc_text_line *l) {
  l->out->n = l->cut_at;
  l->out->p[l->cut_at] = '\0';
  doc_text_trim_spaces(l->out, l->from);
  lt_buf_addc(l->out, "...");
}

/* False when the line is full; it then ends in "...". */
static bool doc_text_line_add(doc_text_line *l, uint32_t cp) {
  if (cp == ' ' || cp == '\n') {
    l->space = l->out->n > l->from;
    return true;
  }
  if (l->chars + (l->space ? 2 : 1) > l->max_chars) {
    doc_text_cut(l);
    return false;
  }
  if (l->space) {
    lt_buf_byte(l->out, ' ');
    l->chars++;
    doc_text_note_cut(l);
    l->space = false;
  }
  doc_text_put_char(l->out, cp);
  l->chars++;
  doc_text_note_cut(l);
  return l->out->status == LT_OK;
}

void lt_typegen_put_line(lt_buf *out, lt_str text, size_t max_chars) {
  lt_plain_reader r = lt_plain_reader_of(text);
  doc_text_line l = {.out = out, .from = out->n, .max_chars = max_chars, .cut_at = out->n};
  uint32_t cp;
  while (out->status == LT_OK && doc_text_next_char(&r, &cp) && doc_text_line_add(&l, cp)) {
  }
}

/* Whether the full stop at the end of `text` belongs to an abbreviation. */
static bool doc_text_is_abbreviation(lt_str text) {
  static const char *const words[] = {"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "incl.", "max.", "min.", "no."};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    lt_str word = lt_str_of(words[i]);
    lt_str tail = lt_str_sub(text, text.n - (word.n < text.n ? word.n : text.n), text.n);
    bool own_word = text.n == word.n || (text.n > word.n && strchr(" (,", text.p[text.n - word.n - 1]) != NULL);
    if (own_word && lt_str_distance(tail, word, 0) == 0) {
      return true;
    }
  }
  return false;
}

/* `seen` is the text so far; white space follows. */
static bool doc_text_ends_sentence(lt_str seen) {
  char last = seen.n > 0 ? seen.p[seen.n - 1] : '\0';
  return last == '!' || last == '?' ||
         (last == '.' && !lt_str_ends(seen, LT_STR("..")) && !doc_text_is_abbreviation(seen));
}

#define WRAPPED_MIN_CHARS 60 /* a line that is shorter was not broken because of its length */

/* Whether a line break ends the sentence: an empty line follows, or the line is short and a new sentence follows. */
static bool doc_text_break_ends_sentence(lt_plain_reader r, size_t chars) {
  uint32_t cp = ' ';
  while (doc_text_next_char(&r, &cp) && cp == ' ') {
  }
  bool begins = (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9') || (cp < 0x80 && strchr("-*#`<", (int)cp) != NULL);
  return cp == '\n' || (begins && chars < WRAPPED_MIN_CHARS);
}

static bool doc_text_sentence_ends(const doc_text_line *l, lt_plain_reader r, uint32_t cp) {
  if (l->out->n == l->from || (cp != ' ' && cp != '\n')) {
    return false;
  }
  return doc_text_ends_sentence(lt_str_sub(lt_buf_view(l->out), l->from, l->out->n)) ||
         (cp == '\n' && doc_text_break_ends_sentence(r, l->chars));
}

void lt_typegen_put_sentence(lt_buf *out, lt_str text, size_t max_chars) {
  lt_plain_reader r = lt_plain_reader_of(text);
  doc_text_line l = {.out = out, .from = out->n, .max_chars = max_chars, .cut_at = out->n};
  uint32_t cp;
  while (out->status == LT_OK && doc_text_next_char(&r, &cp) && !doc_text_sentence_ends(&l, r, cp)) {
    if (!doc_text_line_add(&l, cp == '|' ? '/' : cp)) {
      return;
    }
  }
  lt_str put = lt_str_sub(lt_buf_view(out), l.from, out->n);
  if (out->status == LT_OK && lt_str_ends(put, LT_STR(".")) && !lt_str_ends(put, LT_STR("..")) &&
      !doc_text_is_abbreviation(put)) {
    out->p[--out->n] = '\0';
  }
}

/* --- Literals ----------------------------------------------------------------------------------------------------- */

static void doc_text_put_unit(lt_buf *out, uint32_t unit) {
  lt_buf_printf(out, "\\u%04x", (unsigned)unit);
}

static void doc_text_put_escaped(lt_buf *out, uint32_t cp) {
  if (cp > 0xFFFF) { /* as two UTF-16 units, because JavaScript's \u without braces has four digits */
    doc_text_put_unit(out, 0xD800 + ((cp - 0x10000) >> 10));
    doc_text_put_unit(out, 0xDC00 + ((cp - 0x10000) & 0x3FF));
  } else {
    doc_text_put_unit(out, cp);
  }
}

/* Writes `text`. Characters that must not be shown are escaped; `put_rest` writes the others. */
static void doc_text_put_escaping(lt_buf *out, lt_str text, void (*put_rest)(lt_buf *out, lt_str part)) {
  lt_plain_reader whole = lt_plain_reader_of(text);
  const char *p = whole.p;
  const char *from = p;
  unsigned marks = 0;
  while (p < whole.end) {
    uint32_t cp = 0;
    unsigned n = lt_json_read_char(p, whole.end, &cp);
    if (n > 0 && lt_plain_needs_escape(cp, &marks)) {
      put_rest(out, lt_str_from(from, (size_t)(p - from)));
      doc_text_put_escaped(out, cp);
      from = p + n;
    }
    p += n > 0 ? n : 1;
  }
  put_rest(out, lt_str_from(from, (size_t)(p - from)));
}

void lt_typegen_put_string(lt_buf *out, lt_str s) {
  lt_buf_byte(out, '"');
  doc_text_put_escaping(out, s, lt_json_escape);
  lt_buf_byte(out, '"');
}

void lt_typegen_put_visible(lt_buf *out, lt_str json) {
  doc_text_put_escaping(out, json, lt_buf_add);
}

bool lt_typegen_is_identifier(lt_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    if (!letter && (i == 0 || c < '0' || c > '9')) {
      return false;
    }
  }
  return s.n > 0;
}
