#include "mcp/words.h"

#include "base/limits.h"

/* --- Control characters ------------------------------------------------------------------------------------------- */

/* The bytes of the UTF-8 sequence at `i`, or 0 when there is none. */
static size_t utf8_length(lt_str s, size_t i) {
  unsigned char c = (unsigned char)s.p[i];
  size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (n == 0 || i + n > s.n) {
    return 0;
  }
  for (size_t k = 1; k < n; k++) {
    if (((unsigned char)s.p[i + k] & 0xC0) != 0x80) {
      return 0;
    }
  }
  return n;
}

/* One past the terminal escape that begins at `i`: ESC [ ... final byte, or ESC and one more. */
static size_t skip_escape(lt_str s, size_t i) {
  i++;
  if (i >= s.n || s.p[i] != '[') {
    return i < s.n ? i + 1 : i;
  }
  i++;
  while (i < s.n && (unsigned char)s.p[i] >= 0x20 && (unsigned char)s.p[i] < 0x40) {
    i++;
  }
  return i < s.n ? i + 1 : i;
}

static bool is_control(lt_str s, size_t i, size_t n) {
  unsigned char c = (unsigned char)s.p[i];
  if (n == 1) {
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  }
  return n == 2 && c == 0xC2 && (unsigned char)s.p[i + 1] < 0xA0;
}

static void add_plain(lt_buf *out, lt_str s) {
  size_t i = 0;
  while (i < s.n) {
    if (s.p[i] == 0x1B) {
      i = skip_escape(s, i);
      continue;
    }
    size_t n = utf8_length(s, i);
    if (n == 0) {
      lt_buf_byte(out, '?');
    } else if (!is_control(s, i, n)) {
      lt_buf_add(out, lt_str_sub(s, i, i + n));
    }
    i += n ? n : 1;
  }
}

/* --- Cutting ------------------------------------------------------------------------------------------------------ */

static bool inside_char(lt_str s, size_t i) {
  return i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80;
}

static void add_head(lt_buf *out, lt_str s, size_t max) {
  size_t n = s.n > max ? max : s.n;
  while (n > 0 && inside_char(s, n)) {
    n--;
  }
  lt_buf_add(out, lt_str_sub(s, 0, n));
  if (n < s.n) {
    lt_buf_addc(out, "...");
  }
}

static void add_tail(lt_buf *out, lt_str s, size_t max) {
  size_t from = s.n > max ? s.n - max : 0;
  while (inside_char(s, from)) {
    from++;
  }
  size_t line = from > 0 ? lt_str_find(s, LT_STR("\n"), from) : SIZE_MAX;
  if (line != SIZE_MAX && line + 1 < s.n) {
    from = line + 1;
  }
  if (from > 0) {
    lt_buf_addc(out, "...");
  }
  lt_buf_add(out, lt_str_sub(s, from, s.n));
}

void lt_mcp_words_add(lt_buf *out, lt_str text, lt_mcp_end end, size_t max, const lt_secrets *secrets) {
  /* A secret must not survive because a cut went through it: cut only after hiding. */
  if (text.n > LT_MCP_WORDS_READ_BYTES) {
    text = end == LT_MCP_HEAD ? lt_str_sub(text, 0, LT_MCP_WORDS_READ_BYTES)
                              : lt_str_sub(text, text.n - LT_MCP_WORDS_READ_BYTES, text.n);
  }
  lt_buf plain;
  lt_buf_init(&plain, 2 * LT_MCP_WORDS_READ_BYTES);
  add_plain(&plain, text);
  lt_secrets_mask_buf(secrets, &plain); /* after that: an escape may stand in the middle of one */
  lt_str words = lt_str_trim(lt_buf_view(&plain));
  if (end == LT_MCP_HEAD) {
    add_head(out, words, max);
  } else {
    add_tail(out, words, max);
  }
  lt_buf_release(&plain);
}
