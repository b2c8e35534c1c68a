#include "text/plain.h"

#include "json/json_text.h"

#define ESC 0x1B
#define BEL 0x07

bool lt_plain_is_invisible(uint32_t cp) {
  return (cp >= 0x7F && cp <= 0x9F) || cp == 0xAD || cp == 0x61C || cp == 0x200B || cp == 0x200E || cp == 0x200F ||
         (cp >= 0x202A && cp <= 0x202E) || (cp >= 0x2060 && cp <= 0x2069) || cp == 0xFEFF ||
         (cp >= 0xE0000 && cp <= 0xE007F);
}

static bool plain_in_range(const char *p, const char *end, char from, char to) {
  return p < end && *p >= from && *p <= to;
}

/* After ESC: a control sequence (ECMA-48, 5.4), a control string (5.6, up to its end or the line's), or two bytes. */
static const char *plain_skip_escape(const char *p, const char *end) {
  if (p >= end) {
    return end;
  }
  char kind = *p;
  if (kind == '[') {
    p++;
    while (plain_in_range(p, end, 0x20, 0x3F)) {
      p++;
    }
    return p + plain_in_range(p, end, 0x40, 0x7E);
  }
  if (strchr("]PX^_", kind) != NULL && kind != '\0') {
    while (p < end && *p != BEL && *p != ESC && *p != '\n') {
      p++;
    }
    return p;
  }
  while (plain_in_range(p, end, 0x20, 0x2F)) {
    p++;
  }
  return p + plain_in_range(p, end, 0x30, 0x7E);
}

static uint32_t plain_read_char(const char **p, const char *end) {
  uint32_t cp = 0;
  unsigned n = lt_json_read_char(*p, end, &cp);
  if (n == 0 || lt_json_is_surrogate(cp)) {
    cp = 0xFFFD;
  }
  *p += n > 0 ? n : 1;
  return cp;
}

bool lt_plain_next(const char **p, const char *end, uint32_t *ret_cp) {
  while (*p < end) {
    uint32_t cp = plain_read_char(p, end);
    if (cp == ESC) {
      *p = plain_skip_escape(*p, end);
    } else if (cp == '\n' || cp == 0x2028 || cp == 0x2029 || (cp == '\r' && !plain_in_range(*p, end, '\n', '\n'))) {
      *ret_cp = '\n';
      return true;
    } else if (cp == '\t') {
      *ret_cp = '\t';
      return true;
    } else if (cp == '\v' || cp == '\f' || cp == 0xA0) {
      *ret_cp = ' ';
      return true;
    } else if (cp >= 0x20 && !lt_plain_is_invisible(cp)) {
      *ret_cp = cp;
      return true;
    }
  }
  return false;
}

/* One past the characters from `p` on that are as they should be: most text is nothing else. */
static const char *plain_ascii_end(const char *p, const char *end) {
  while (p < end && *p >= 0x20 && *p < 0x7F) {
    p++;
  }
  return p;
}

static void plain_add(lt_buf *out, lt_str text, bool in_one_line) {
  const char *p = text.n > 0 ? text.p : ""; /* NULL + 0 is undefined */
  const char *end = p + text.n;
  uint32_t cp;
  while (out->status == LT_OK && lt_plain_next(&p, end, &cp)) {
    char bytes[4];
    bool blank = in_one_line && (cp == '\n' || cp == '\t');
    lt_buf_add(out, lt_str_from(bytes, lt_json_write_char(bytes, blank ? ' ' : cp)));
    const char *from = p;
    p = plain_ascii_end(p, end);
    lt_buf_add(out, lt_str_from(from, (size_t)(p - from)));
  }
}

void lt_plain_add(lt_buf *out, lt_str text) {
  plain_add(out, text, false);
}

void lt_plain_add_line(lt_buf *out, lt_str text) {
  plain_add(out, text, true);
}
