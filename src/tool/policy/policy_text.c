#include "tool/policy/policy_text.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

/* Only the last "*" is tried again. An earlier "*" keeps its match, because the later one matches any characters. */
bool lt_policy_glob(lt_str pattern, lt_str text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = SIZE_MAX; /* in the pattern, and where its characters end in the text */
  size_t star_end = 0;
  while (t < text.n) {
    if (p < pattern.n && pattern.p[p] == '*') {
      star = p++;
      star_end = t;
    } else if (p < pattern.n && pattern.p[p] == '?') {
      p++;
      t = lt_utf8_ceil(text, t + 1);
    } else if (p < pattern.n && pattern.p[p] == text.p[t]) {
      p++;
      t++;
    } else if (star != SIZE_MAX) {
      p = star + 1;
      star_end = lt_utf8_ceil(text, star_end + 1);
      t = star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.n && pattern.p[p] == '*') {
    p++;
  }
  return p == pattern.n;
}

size_t lt_policy_literal_bytes(lt_str pattern) {
  size_t n = 0;
  for (size_t i = 0; i < pattern.n; i++) {
    n += pattern.p[i] != '*' && pattern.p[i] != '?';
  }
  return n;
}

bool lt_policy_may_begin(lt_str pattern, lt_str prefix) {
  for (size_t i = 0; i <= pattern.n; i++) {
    bool goes_on = i < pattern.n || (i > 0 && pattern.p[i - 1] == '*');
    if (goes_on && lt_policy_glob(lt_str_sub(pattern, 0, i), prefix)) {
      return true;
    }
  }
  return false;
}

static unsigned policy_text_min(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* One row of the table of edits: `row[k]` goes from the edits of the pattern before `c` to those with it. */
static unsigned policy_text_add_char(char c, lt_str text, unsigned *row) {
  unsigned left_above = row[0];
  unsigned least = row[0] += c != '*';
  for (size_t k = 1; k <= text.n; k++) {
    unsigned above = row[k];
    unsigned other = c != '?' && c != text.p[k - 1];
    row[k] = c == '*' ? policy_text_min(above, row[k - 1])
                      : policy_text_min(left_above + other, policy_text_min(above, row[k - 1]) + 1);
    left_above = above;
    least = policy_text_min(least, row[k]);
  }
  return least;
}

unsigned lt_policy_distance(lt_str pattern, lt_str text, unsigned limit) {
  unsigned row[LT_POLICY_NEAR_MAX_BYTES + 1];
  if (pattern.n > LT_POLICY_NEAR_MAX_BYTES || text.n > LT_POLICY_NEAR_MAX_BYTES) {
    return UINT_MAX;
  }
  for (size_t k = 0; k <= text.n; k++) {
    row[k] = (unsigned)k;
  }
  for (size_t i = 0; i < pattern.n; i++) {
    if (policy_text_add_char(pattern.p[i], text, row) > limit) {
      return UINT_MAX;
    }
  }
  return row[text.n] <= limit ? row[text.n] : UINT_MAX;
}

/* Removes the last name. */
static size_t policy_path_parent(const char *path, size_t n) {
  while (n > 0 && path[n - 1] != '/') {
    n--;
  }
  return n > 0 ? n - 1 : 0;
}

bool lt_policy_path(lt_arena *arena, lt_str path, lt_str *ret) {
  if (path.n == 0 || path.p[0] != '/' || memchr(path.p, '\0', path.n) != NULL) {
    return false;
  }
  char *out = lt_arena_alloc(arena, path.n);
  if (out == NULL) {
    return false;
  }
  size_t n = 0;
  for (size_t at = 1; at < path.n;) {
    const char *slash = memchr(path.p + at, '/', path.n - at);
    lt_str name = lt_str_sub(path, at, slash != NULL ? (size_t)(slash - path.p) : path.n);
    at += name.n + 1;
    if (lt_str_eq(name, LT_STR(".."))) {
      n = policy_path_parent(out, n);
    } else if (name.n > 0 && !lt_str_eq(name, LT_STR("."))) {
      out[n++] = '/';
      memcpy(out + n, name.p, name.n);
      n += name.n;
    }
  }
  *ret = (lt_str){out, n};
  return true;
}
