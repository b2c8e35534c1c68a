#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

/* Fills `n` bytes. False: the kernel gives none, and the bytes are not to be used. */
static bool random_fill(void *bytes, size_t n) {
  char *at = bytes;
  while (n > 0) {
    ssize_t got = getrandom(at, n, 0);
    if (got < 0 && errno != EINTR) {
      return false;
    }
    if (got > 0) {
      at += got;
      n -= (size_t)got;
    }
  }
  return true;
}

/* The bytes fill the second half of the text, then become its digits from the front: no digit reaches a byte unread. */
bool lt_random_hex(char *text, size_t digits) {
  size_t count = digits / 2;
  unsigned char *bytes = (unsigned char *)text + count;
  if (!random_fill(bytes, count)) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    unsigned char byte = bytes[i];
    text[2 * i] = "0123456789abcdef"[byte >> 4];
    text[2 * i + 1] = "0123456789abcdef"[byte & 15];
  }
  text[2 * count] = '\0';
  return true;
}
