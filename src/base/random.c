#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

bool lt_random_fill(void *bytes, size_t size_bytes) {
  char *at = bytes;
  while (size_bytes > 0) {
    ssize_t got = getrandom(at, size_bytes, 0);
    if (got < 0 && errno != EINTR) {
      return false;
    }
    if (got > 0) {
      at += got;
      size_bytes -= (size_t)got;
    }
  }
  return true;
}

/* The bytes fill the second half of the text, then become its digits from the front: no digit reaches a byte unread. */
bool lt_random_hex(char *text, size_t digits) {
  size_t count = digits / 2;
  unsigned char *bytes = (unsigned char *)text + count;
  if (!lt_random_fill(bytes, count)) {
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
