/* The bytes of JSON text, for code that reads it without a document, and the program's only decoder of UTF-8.
 *
 * WTF-8 is UTF-8 that may also hold encoded surrogates (U+D800..U+DFFF as ED A0..BF xx), so that every JavaScript
 * string can be written as bytes.
 */
#ifndef LT_JSON_JSON_TEXT_H
#define LT_JSON_JSON_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* The layout of lt_json_node.info. */
#define LT_JSON_INFO_TYPE        15u
#define LT_JSON_INFO_ESCAPED     16u /* has escapes or encoded surrogates: the text is not the characters */
#define LT_JSON_INFO_KEY         32u
#define LT_JSON_INFO_COUNT_SHIFT 6

static inline bool lt_json_is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool lt_json_is_digit(char c) {
  return (unsigned)(c - '0') < 10;
}

static inline int lt_json_hex_value(char c) {
  if (lt_json_is_digit(c)) {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool lt_json_is_surrogate(uint32_t cp) {
  return cp >= 0xD800 && cp <= 0xDFFF;
}

static inline bool lt_json_is_high(uint32_t cp) {
  return cp >= 0xD800 && cp <= 0xDBFF;
}

static inline bool lt_json_is_low(uint32_t cp) {
  return cp >= 0xDC00 && cp <= 0xDFFF;
}

static inline uint32_t lt_json_join(uint32_t high, uint32_t low) {
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

/* Which of eight bytes, the first one lowest, end plain text: the top bits of these. A borrow can set wrong bits only
 * after a true hit, and only the lowest hit counts. */
static inline uint64_t lt_json_stops(uint64_t x) {
  const uint64_t ones = 0x0101010101010101u;
  return ((x - ones * 0x20) | ((x ^ (ones * '"')) - ones) | ((x ^ (ones * '\\')) - ones) | x) & (ones * 0x80);
}

/* Fewer than eight bytes, the first one lowest; zeros after them. Some are read twice. */
static inline uint64_t lt_json_few_bytes(const char *p, size_t n) {
  if (n >= 4) {
    uint32_t first, last;
    memcpy(&first, p, sizeof first);
    memcpy(&last, p + n - 4, sizeof last);
    return le32toh(first) | (uint64_t)le32toh(last) << (8 * (n - 4));
  }
  if (n == 0) {
    return 0;
  }
  uint64_t first = (unsigned char)p[0], middle = (unsigned char)p[n / 2], last = (unsigned char)p[n - 1];
  return first | middle << (8 * (n / 2)) | last << (8 * (n - 1));
}

typedef int8_t lt_json_bytes16 __attribute__((vector_size(16)));

/* The first byte that ends plain text: a quote, a backslash, a control character or a byte of a multi-byte character;
 * `end` when there is none. The zero after the last few bytes is such a byte, too.
 */
static inline const char *lt_json_plain_end(const char *p, const char *end) {
  for (; end - p >= 16; p += 16) {
    lt_json_bytes16 x;
    uint64_t stops[2]; /* all bits of a byte that ends plain text; as a signed number, one of a wide character is < 0 */
    memcpy(&x, p, sizeof x);
    lt_json_bytes16 is_stop = (lt_json_bytes16)((x < 0x20) | (x == '"') | (x == '\\'));
    memcpy(stops, &is_stop, sizeof stops);
    if ((stops[0] | stops[1]) != 0) {
      return stops[0] != 0 ? p + (__builtin_ctzll(le64toh(stops[0])) >> 3)
                           : p + 8 + (__builtin_ctzll(le64toh(stops[1])) >> 3);
    }
  }
  if (end - p >= 8) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    uint64_t stop = lt_json_stops(le64toh(x));
    if (stop != 0) {
      return p + (__builtin_ctzll(stop) >> 3);
    }
    p += 8;
  }
  return p + (__builtin_ctzll(lt_json_stops(lt_json_few_bytes(p, (size_t)(end - p)))) >> 3);
}

/* Reads one WTF-8 sequence. Returns its length, or 0 when it is malformed (overlong, cut, above U+10FFFF, stray). */
static inline unsigned lt_json_read_char(const char *p, const char *end, uint32_t *ret_cp) {
  const unsigned char *u = (const unsigned char *)p;
  ptrdiff_t n = end - p;
  if (u[0] < 0x80) {
    *ret_cp = u[0];
    return 1;
  }
  if (u[0] < 0xE0) {
    *ret_cp = (u[0] & 0x1Fu) << 6 | (n >= 2 ? u[1] & 0x3Fu : 0);
    return u[0] >= 0xC2 && n >= 2 && lt_utf8_continues(p[1]) ? 2 : 0;
  }
  if (u[0] < 0xF0) {
    if (n < 3 || !lt_utf8_continues(p[1]) || !lt_utf8_continues(p[2])) {
      return 0;
    }
    *ret_cp = (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu);
    return *ret_cp >= 0x800 ? 3 : 0;
  }
  if (u[0] > 0xF4 || n < 4 || !lt_utf8_continues(p[1]) || !lt_utf8_continues(p[2]) || !lt_utf8_continues(p[3])) {
    return 0;
  }
  *ret_cp = (u[0] & 0x07u) << 18 | (u[1] & 0x3Fu) << 12 | (u[2] & 0x3Fu) << 6 | (u[3] & 0x3Fu);
  return *ret_cp >= 0x10000 && *ret_cp <= 0x10FFFF ? 4 : 0;
}

/* Writes one code point, surrogates included; returns its length, at most 4. */
static inline unsigned lt_json_write_char(char *out, uint32_t cp) {
  if (cp < 0x80) {
    out[0] = (char)cp;
    return 1;
  }
  if (cp < 0x800) {
    out[0] = (char)(0xC0 | cp >> 6);
    out[1] = (char)(0x80 | (cp & 0x3F));
    return 2;
  }
  if (cp < 0x10000) {
    out[0] = (char)(0xE0 | cp >> 12);
    out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[2] = (char)(0x80 | (cp & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | cp >> 18);
  out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
  out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
  out[3] = (char)(0x80 | (cp & 0x3F));
  return 4;
}

#endif
