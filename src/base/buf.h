/* Growing byte buffers with a mandatory ceiling and a sticky status.
 *
 * Append as often as needed and check `status` once at the end: after the first failure (ceiling or memory) every
 * further append does nothing. Never append bytes of the buffer to itself: growing the buffer moves them. The holder of
 * the lt_buf owns its bytes. Nothing here suspends.
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
/* Empties the buffer and clears its status. Keeps the memory. */
void lt_buf_clear(lt_buf *buf);

/* Declares a buffer that is released when control leaves the enclosing block, also by a return. Do not use it in a
 * frame that a longjmp leaves. */
#define LT_AUTO_BUF(name, max_bytes)       \
  __attribute__((cleanup(lt_buf_release))) \
  lt_buf name = {.p = NULL, .n = 0, .cap = 0, .max = (max_bytes), .status = LT_OK}

/* Checks the sticky status after the last append. Returns LT_OK, or fails with that status and `message`. */
lt_status lt_buf_check(const lt_buf *buf, lt_err *err, const char *message);

void lt_buf_add(lt_buf *buf, lt_str s);
void lt_buf_addc(lt_buf *buf, const char *cstr);
static inline void lt_buf_byte(lt_buf *buf, char c) {
  if (buf->status == LT_OK && buf->cap - buf->n > 1) { /* the hot path of the writers */
    buf->p[buf->n++] = c;
    buf->p[buf->n] = '\0';
    return;
  }
  lt_buf_add(buf, (lt_str){&c, 1});
}
void lt_buf_printf(lt_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* In decimal digits: a fraction of what printf costs. */
void lt_buf_int(lt_buf *buf, int64_t n);

/* Only lt_buf_reserve calls this. */
char *lt_buf_make_room(lt_buf *buf, size_t n);
/* Makes room for `n` more bytes and returns the address for them, or NULL (the status is set). Write at most `n` bytes
 * there, then call lt_buf_commit with the number written. */
static inline char *lt_buf_reserve(lt_buf *buf, size_t n) {
  bool has_room = buf->status == LT_OK && n < buf->cap - buf->n; /* most often */
  return has_room ? buf->p + buf->n : lt_buf_make_room(buf, n);
}
void lt_buf_commit(lt_buf *buf, size_t n);
/* Makes room for about `n` more bytes at once, where it is known before how much will follow. More than the ceiling is
 * no error yet. */
void lt_buf_expect(lt_buf *buf, size_t n);

/* Removes the first `n` bytes. `n` must not exceed the buffer's length. Cost: the remaining bytes are moved down. */
void lt_buf_consume(lt_buf *buf, size_t n);
/* Removes all bytes after the first `n`. A buffer that has failed or is not longer than `n` does not change. */
void lt_buf_cut(lt_buf *buf, size_t n);

/* Borrows: valid until the next change. */
static inline lt_str lt_buf_view(const lt_buf *buf) {
  return (lt_str){buf->p, buf->n};
}

/* The same of a buffer that may have failed: then the text is `otherwise`. */
static inline lt_str lt_buf_view_or(const lt_buf *buf, lt_str otherwise) {
  return buf->status == LT_OK ? lt_buf_view(buf) : otherwise;
}

/* Takes the bytes out, NUL-terminated. NULL only when the status is a failure. The buffer is empty afterwards; a failed
 * status stays. `ret_n` may be NULL. Owns: the caller, lt_mem_free. */
char *lt_buf_take(lt_buf *buf, size_t *ret_n);
/* The other way round: the content becomes these `n` bytes, which a NUL follows, of lt_mem_alloc. Owns: the buffer,
 * also where they are more than its ceiling (LT_E_LIMIT). */
void lt_buf_give(lt_buf *buf, char *bytes, size_t n);

#endif
