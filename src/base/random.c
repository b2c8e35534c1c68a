#include "base/random.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

/* Every program takes two numbers, and a call of the system for each costs as much as a tenth of a small program. So a
 * thread fetches bytes ahead; each is wiped when it is handed out. */
typedef struct random_store {
  unsigned char bytes[256];
  size_t left; /* of them, at the beginning */
} random_store;

#define MOST_FROM_STORE 32

static _Thread_local random_store random_ahead;

/* What was fetched ahead belongs to the parent. A child has only the thread that has forked. */
static void on_random_fork(void) {
  random_ahead.left = 0;
}

static bool random_follows_forks;

static void random_follow_forks(void) {
  random_follows_forks = pthread_atfork(NULL, NULL, on_random_fork) == 0;
}

static bool random_fetch(void *bytes, size_t size_bytes) {
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

bool lt_random_fill(void *bytes, size_t size_bytes) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, random_follow_forks);
  random_store *store = &random_ahead;
  if (size_bytes > MOST_FROM_STORE || !random_follows_forks) {
    return random_fetch(bytes, size_bytes);
  }
  if (store->left < size_bytes) {
    store->left = 0;
    if (!random_fetch(store->bytes, sizeof store->bytes)) {
      return false;
    }
    store->left = sizeof store->bytes;
  }
  store->left -= size_bytes;
  memcpy(bytes, store->bytes + store->left, size_bytes);
  explicit_bzero(store->bytes + store->left, size_bytes);
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
