#include "base/str.h"

#include <limits.h>

#define DISTANCE_MAX_BYTES 64

int lt_str_cmp(lt_str a, lt_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int order = n == 0 ? 0 : memcmp(a.p, b.p, n);
  return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

bool lt_str_starts(lt_str s, lt_str prefix) {
  return prefix.n <= s.n && lt_str_eq((lt_str){s.p, prefix.n}, prefix);
}

bool lt_str_ends(lt_str s, lt_str suffix) {
  return suffix.n <= s.n && lt_str_eq(lt_str_sub(s, s.n - suffix.n, s.n), suffix);
}

bool lt_str_is_ascii(lt_str s) {
  const uint64_t tops = 0x8080808080808080u;
  uint64_t seen = 0, eight;
  size_t i = 0;
  for (; i + sizeof eight <= s.n; i += sizeof eight) {
    memcpy(&eight, s.p + i, sizeof eight);
    seen |= eight;
  }
  for (; i < s.n; i++) {
    seen |= (unsigned char)s.p[i];
  }
  return (seen & tops) == 0;
}

lt_str lt_str_sub(lt_str s, size_t from, size_t to) {
  to = to < s.n ? to : s.n;
  from = from < to ? from : to;
  return s.n == 0 ? s : (lt_str){s.p + from, to - from};
}

/* Not isspace, which asks the locale. */
static bool str_is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

lt_str lt_str_trim(lt_str s) {
  while (s.n > 0 && str_is_space(s.p[s.n - 1])) {
    s.n--;
  }
  while (s.n > 0 && str_is_space(s.p[0])) {
    s.p++;
    s.n--;
  }
  return s;
}

size_t lt_str_find(lt_str s, lt_str needle, size_t from) {
  if (from > s.n || needle.n > s.n - from) {
    return SIZE_MAX;
  }
  if (needle.n == 0) {
    return from;
  }
  const char *hit = memmem(s.p + from, s.n - from, needle.p, needle.n);
  return hit != NULL ? (size_t)(hit - s.p) : SIZE_MAX;
}

uint64_t lt_str_hash(lt_str s) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (size_t i = 0; i < s.n; i++) {
    hash = (hash ^ (unsigned char)s.p[i]) * 0x100000001b3U;
  }
  return hash;
}

static char str_fold(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned str_min2(unsigned a, unsigned b) {
  return a < b ? a : b;
}

typedef unsigned distance_row[DISTANCE_MAX_BYTES + 1];

/* Row i of the table of distances between prefixes, from the two rows above it; returns the row's least entry. */
static unsigned str_distance_step(lt_str a, lt_str b, size_t i, const unsigned *above2, const unsigned *above,
                                  unsigned *row) {
  unsigned least = row[0] = (unsigned)i;
  for (size_t j = 1; j <= b.n; j++) {
    char ca = str_fold(a.p[i - 1]);
    char cb = str_fold(b.p[j - 1]);
    unsigned d = str_min2(above[j - 1] + (ca != cb), str_min2(above[j], row[j - 1]) + 1);
    if (i > 1 && j > 1 && ca == str_fold(b.p[j - 2]) && cb == str_fold(a.p[i - 2])) {
      d = str_min2(d, above2[j - 2] + 1);
    }
    row[j] = d;
    least = str_min2(least, d);
  }
  return least;
}

/* Optimal string alignment: Damerau-Levenshtein where no part is edited twice. */
unsigned lt_str_distance(lt_str a, lt_str b, unsigned max) {
  unsigned over = max < UINT_MAX ? max + 1 : max;
  size_t gap = a.n > b.n ? a.n - b.n : b.n - a.n;
  if (a.n > DISTANCE_MAX_BYTES || b.n > DISTANCE_MAX_BYTES || gap > max) {
    return over;
  }
  distance_row rows[3] = {0};
  for (size_t j = 0; j <= b.n; j++) {
    rows[0][j] = (unsigned)j;
  }
  for (size_t i = 1; i <= a.n; i++) {
    unsigned least = str_distance_step(a, b, i, rows[(i + 1) % 3], rows[(i - 1) % 3], rows[i % 3]);
    /* No later row gets below it: a row's least is at most one over the row's above, so a swap, which skips a row and
     * costs one, gains nothing either. */
    if (least > max) {
      return over;
    }
  }
  return str_min2(rows[a.n % 3][b.n], over);
}

bool lt_str_eq_fold(lt_str a, lt_str b) {
  size_t i = 0;
  while (i < a.n && a.n == b.n && str_fold(a.p[i]) == str_fold(b.p[i])) {
    i++;
  }
  return a.n == b.n && i == a.n;
}
