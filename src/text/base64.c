#include "text/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void lt_base64_encode(lt_str bytes, lt_buf *out) {
  char *to = lt_buf_reserve(out, (bytes.n + 2) / 3 * 4);
  size_t n = 0;
  for (size_t i = 0; to != NULL && i < bytes.n; i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; k++) {
      word = word << 8 | (i + k < bytes.n ? (unsigned char)bytes.p[i + k] : 0);
    }
    for (size_t k = 0; k < 4; k++) {
      to[n++] = i + k <= bytes.n ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  if (to != NULL) {
    lt_buf_commit(out, n);
  }
}

/* The value of a digit, or -1. */
static int base64_value_of(char c) {
  if (c >= 'A' && c <= 'Z') {
    return c - 'A';
  }
  if (c >= 'a' && c <= 'z') {
    return c - 'a' + 26;
  }
  if (c >= '0' && c <= '9') {
    return c - '0' + 52;
  }
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

size_t lt_base64_length(lt_str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.n; i++) {
    count += base64_value_of(text.p[i]) >= 0;
  }
  return count / 4 * 3 + count % 4 * 3 / 4;
}

void lt_base64_decode(lt_str text, lt_buf *out) {
  char *to = lt_buf_reserve(out, lt_base64_length(text) + 1);
  uint32_t word = 0;
  unsigned bits = 0;
  size_t n = 0;
  for (size_t i = 0; to != NULL && i < text.n; i++) {
    int value = base64_value_of(text.p[i]);
    if (value < 0) {
      continue;
    }
    word = word << 6 | (uint32_t)value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      to[n++] = (char)(word >> bits & 255);
    }
  }
  if (to != NULL) {
    lt_buf_commit(out, n);
  }
}
