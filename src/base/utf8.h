/* Characters in UTF-8 text: where they begin, how many there are. json/json_text.h decodes and checks them.
 *
 * The text need not be UTF-8: nothing here reads beyond it, and no bytes take longer than others.
 */
#ifndef LT_BASE_UTF8_H
#define LT_BASE_UTF8_H

#include "base/str.h"

/* Whether a byte is not the first of its character. */
static inline bool lt_utf8_continues(char c) {
  return ((unsigned char)c & 0xC0) == 0x80;
}

/* How many characters there are; a byte that begins none and belongs to one counts as nothing. */
static inline size_t lt_utf8_count(lt_str s) {
  size_t count = 0;
  for (size_t i = 0; i < s.n; i++) {
    count += !lt_utf8_continues(s.p[i]);
  }
  return count;
}

/* The last place at or before `at`, and in the text, that is between two characters. A character has at most three
 * bytes that continue it; where there are more, the text is not UTF-8 and any place is as good. */
static inline size_t lt_utf8_floor(lt_str s, size_t at) {
  if (at >= s.n) {
    return s.n;
  }
  size_t place = at;
  while (place > 0 && at - place < 4 && lt_utf8_continues(s.p[place])) {
    place--;
  }
  return at - place < 4 ? place : at;
}

/* The first place at or after `at`, or the end, that is between two characters. */
static inline size_t lt_utf8_ceil(lt_str s, size_t at) {
  while (at < s.n && lt_utf8_continues(s.p[at])) {
    at++;
  }
  return at < s.n ? at : s.n;
}

/* At most the first `max_bytes` of it, cut between characters. */
static inline lt_str lt_utf8_cut(lt_str s, size_t max_bytes) {
  return lt_str_sub(s, 0, lt_utf8_floor(s, max_bytes));
}

#endif
