/* Growing byte buffers with a mandatory ceiling and a sticky status.
 *
 * Append as often as you like and look at `status` once at the end: after the first failure (ceiling or memory) every
 * further append does nothing. What is appended must not lie in the buffer itself: growing moves it.
 */
#ifndef LT_BASE_BUF_H
#define LT_BASE_BUF_H

#include <stdarg.h>

#include "base/err.h"
#include "base/str.h"

typedef struct lt_buf {
  char *p;          /* a NUL follows the bytes whenever p is not NULL */
  size_t n;         /* bytes used */
  size_t cap;       /* bytes allocated */
  size_t max;       /* the ceiling for n */
  lt_status status; /* LT_OK, LT_E_LIMIT or LT_E_NOMEM */
} lt_buf;

/* Nothing is allocated before the first append. */
void lt_buf_init(lt_buf *buf, size_t max_bytes);
/* Frees the bytes; the buffer may be used again with the same ceiling. */
void lt_buf_release(lt_buf *buf);
/* Empties it and clears the status, keeps the memory. */
void lt_buf_clear(lt_buf *buf);

/* Declares a buffer that is released when its block is left, by whatever return. Never in a frame that is left by a
 * jump. */
#define LT_AUTO_BUF(name, max_bytes)       \
  __attribute__((cleanup(lt_buf_release))) \
  lt_buf name = {.p = NULL, .n = 0, .cap = 0, .max = (max_bytes), .status = LT_OK}

/* Looks at the sticky status, once, behind the last append: LT_OK, or fails with that status and `message`. */
lt_status lt_buf_check(const lt_buf *buf, lt_err *err, const char *message);

void lt_buf_add(lt_buf *buf, lt_str s);
void lt_buf_addc(lt_buf *buf, const char *cstr);
void lt_buf_byte(lt_buf *buf, char c);
void lt_buf_printf(lt_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for `n` more bytes and returns where they go, or NULL (status set). Follow with lt_buf_commit of as many
 * as were written, at most `n`. */
char *lt_buf_reserve(lt_buf *buf, size_t n);
void lt_buf_commit(lt_buf *buf, size_t n);

/* Removes the first `n` bytes, of which there must be so many. Cost: the rest is moved down. */
void lt_buf_consume(lt_buf *buf, size_t n);

/* Borrows: valid until the next change. */
static inline lt_str lt_buf_view(const lt_buf *buf) {
  return (lt_str){buf->p, buf->n};
}

/* Takes the bytes out (NUL-terminated, never NULL unless status is bad); the buffer is empty afterwards,
 * a bad status stays.
 * Owns: the caller, lt_mem_free. `ret_n` may be NULL. */
char *lt_buf_take(lt_buf *buf, size_t *ret_n);

#endif
