#include "mcp/words.h"

#include <strings.h>
#include <unistd.h>

#include "base/limits.h"

/* Shorter values ("true", "info", "1") would make holes in ordinary text. */
#define SECRET_MIN_BYTES     4
#define CONFIGURED_MIN_BYTES 8

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

/* --- Secrets ------------------------------------------------------------------------------------------------------ */

static bool sounds_secret(lt_str name) {
  static const char *const marks[] = {"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED", "COOKIE", "PRIVATE"};
  for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
    size_t n = strlen(marks[m]);
    for (size_t i = 0; i + n <= name.n; i++) {
      if (strncasecmp(name.p + i, marks[m], n) == 0) {
        return true;
      }
    }
  }
  return false;
}

static bool inherited(const char *entry) {
  for (char **own = environ; own && *own; own++) {
    if (strcmp(*own, entry) == 0) {
      return true;
    }
  }
  return false;
}

/* The value to hide, or empty. */
static lt_str secret_of(const char *entry) {
  lt_str all = lt_str_of(entry);
  size_t eq = lt_str_find(all, LT_STR("="), 0);
  if (eq == SIZE_MAX) {
    return LT_STR_NULL;
  }
  lt_str value = lt_str_sub(all, eq + 1, all.n);
  bool secret = sounds_secret(lt_str_sub(all, 0, eq)) && value.n >= SECRET_MIN_BYTES;
  return secret || (value.n >= CONFIGURED_MIN_BYTES && !inherited(entry)) ? value : LT_STR_NULL;
}

static void hide(lt_buf *text, lt_str secret) {
  lt_str all = lt_buf_view(text);
  size_t at = lt_str_find(all, secret, 0);
  if (at == SIZE_MAX) {
    return;
  }
  lt_buf without;
  lt_buf_init(&without, 4 * text->max);
  size_t done = 0;
  for (; at != SIZE_MAX; at = lt_str_find(all, secret, done)) {
    lt_buf_add(&without, lt_str_sub(all, done, at));
    lt_buf_addc(&without, "***");
    done = at + secret.n;
  }
  lt_buf_add(&without, lt_str_sub(all, done, all.n));
  lt_buf_clear(text);
  if (without.status == LT_OK) { /* rather nothing than a secret */
    lt_buf_add(text, lt_buf_view(&without));
  }
  lt_buf_release(&without);
}

static void hide_secrets(lt_buf *text, const char *const *env) {
  const char *const *entries = env ? env : (const char *const *)environ;
  for (; entries && *entries; entries++) {
    lt_str secret = secret_of(*entries);
    if (secret.n > 0) {
      hide(text, secret);
    }
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

void lt_mcp_words_add(lt_buf *out, lt_str text, lt_mcp_end end, size_t max, const char *const *env) {
  /* A secret must not survive because a cut went through it: cut only after hiding. */
  if (text.n > LT_MCP_WORDS_READ_BYTES) {
    text = end == LT_MCP_HEAD ? lt_str_sub(text, 0, LT_MCP_WORDS_READ_BYTES)
                              : lt_str_sub(text, text.n - LT_MCP_WORDS_READ_BYTES, text.n);
  }
  lt_buf plain;
  lt_buf_init(&plain, 2 * LT_MCP_WORDS_READ_BYTES);
  add_plain(&plain, text);
  hide_secrets(&plain, env);
  lt_str words = lt_str_trim(lt_buf_view(&plain));
  if (end == LT_MCP_HEAD) {
    add_head(out, words, max);
  } else {
    add_tail(out, words, max);
  }
  lt_buf_release(&plain);
}
