/* Characters in UTF-8 text: their boundaries and their number. Decoding and checking is in json/json_text.h.
 *
 * The text may be invalid UTF-8: no function reads beyond its end, and invalid bytes cost no extra time.
 */
#ifndef LT_BASE_UTF8_H
#define LT_BASE_UTF8_H

#include "base/str.h"

/* Whether a byte continues a character: it is not the first byte of one. */
static inline bool lt_utf8_continues(char c) {
  return ((unsigned char)c & 0xC0) == 0x80;
}

/* The number of characters. Continuation bytes are not counted. */
static inline size_t lt_utf8_count(lt_str s) {
  size_t count = 0;
  for (size_t i = 0; i < s.n; i++) {
    count += !lt_utf8_continues(s.p[i]);
  }
  return count;
}

/* The last character boundary at or before `at`, at most the end of the text. A character has at most three
 * continuation bytes. Where there are more, the text is not UTF-8 and `at` itself is returned. */
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

/* The first character boundary at or after `at`, or the end of the text. */
static inline size_t lt_utf8_ceil(lt_str s, size_t at) {
  while (at < s.n && lt_utf8_continues(s.p[at])) {
    at++;
  }
  return at < s.n ? at : s.n;
}

/* The first `max_bytes` of the text or fewer, cut at a character boundary. */
static inline lt_str lt_utf8_cut(lt_str s, size_t max_bytes) {
  return lt_str_sub(s, 0, lt_utf8_floor(s, max_bytes));
}

#endif
