#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

#define FIRST_BYTES    64
#define SMALL_BYTES    1024
#define INT_DIGITS_MAX 19

void lt_buf_init(lt_buf *buf, size_t max_bytes) {
  /* The bound on the ceiling keeps every sum below in range. */
  *buf = (lt_buf){.max = max_bytes < PTRDIFF_MAX ? max_bytes : PTRDIFF_MAX - 1, .status = LT_OK};
}

void lt_buf_release(lt_buf *buf) {
  lt_mem_free(buf->p);
  lt_buf_init(buf, buf->max);
}

lt_status lt_buf_check(const lt_buf *buf, lt_err *err, const char *message) {
  return lt_fail_if(err, buf->status, "%s", message);
}

void lt_buf_clear(lt_buf *buf) {
  buf->n = 0;
  buf->status = LT_OK;
  if (buf->p != NULL) {
    buf->p[0] = '\0';
  }
}

/* Twice the room, four times while it is small, at least `need`, at most the ceiling and its NUL. */
static size_t buf_grown_cap(const lt_buf *buf, size_t need) {
  size_t cap = buf->cap == 0 ? FIRST_BYTES : buf->cap * (buf->cap < SMALL_BYTES ? 4 : 2);
  cap = cap > need ? cap : need;
  return cap < buf->max + 1 ? cap : buf->max + 1;
}

static bool buf_grow(lt_buf *buf, size_t need) {
  size_t cap = buf_grown_cap(buf, need);
  char *p = lt_mem_realloc(buf->p, cap);
  if (p == NULL) {
    buf->status = LT_E_NOMEM;
    return false;
  }
  p[buf->n] = '\0';
  buf->p = p;
  buf->cap = cap;
  return true;
}

char *lt_buf_make_room(lt_buf *buf, size_t n) {
  if (buf->status != LT_OK) {
    return NULL;
  }
  if (n > buf->max - buf->n) {
    buf->status = LT_E_LIMIT;
    return NULL;
  }
  size_t need = buf->n + n + 1;
  if (need > buf->cap && !buf_grow(buf, need)) {
    return NULL;
  }
  return buf->p + buf->n;
}

void lt_buf_expect(lt_buf *buf, size_t n) {
  if (n <= buf->max - buf->n) {
    (void)lt_buf_reserve(buf, n);
  }
}

void lt_buf_commit(lt_buf *buf, size_t n) {
  LT_CHECK(n == 0 || n < buf->cap - buf->n);
  buf->n += n;
  if (buf->p != NULL) {
    buf->p[buf->n] = '\0';
  }
}

void lt_buf_add(lt_buf *buf, lt_str s) {
  if (s.n == 0) {
    return;
  }
  char *to = lt_buf_reserve(buf, s.n);
  if (to != NULL) {
    memcpy(to, s.p, s.n);
    buf->n += s.n;
    buf->p[buf->n] = '\0';
  }
}

void lt_buf_addc(lt_buf *buf, const char *cstr) {
  lt_buf_add(buf, lt_str_of(cstr));
}

/* Prints into the room that there is: what does not fit there is not in the buffer. Returns how long the text is. */
__attribute__((format(printf, 2, 0))) static int buf_print_fitting(lt_buf *buf, const char *fmt, va_list ap) {
  size_t room = buf->cap - buf->n;
  int n = vsnprintf(buf->p != NULL ? buf->p + buf->n : NULL, room, fmt, ap);
  if (n > 0 && (size_t)n < room) {
    buf->n += (size_t)n;
  } else if (buf->p != NULL) {
    buf->p[buf->n] = '\0';
  }
  return n;
}

void lt_buf_printf(lt_buf *buf, const char *fmt, ...) {
  if (buf->status != LT_OK) {
    return;
  }
  size_t before = buf->n;
  va_list ap;
  va_start(ap, fmt);
  int n = buf_print_fitting(buf, fmt, ap);
  va_end(ap);
  if (n < 0) { /* more than INT_MAX bytes, the only way it can fail with our formats */
    buf->status = LT_E_LIMIT;
    return;
  }
  char *to = buf->n == before ? lt_buf_reserve(buf, (size_t)n) : NULL;
  if (to == NULL) {
    return;
  }
  va_start(ap, fmt);
  vsnprintf(to, (size_t)n + 1, fmt, ap);
  va_end(ap);
  lt_buf_commit(buf, (size_t)n);
}

void lt_buf_int(lt_buf *buf, int64_t n) {
  char text[INT_DIGITS_MAX + 1];
  char *at = text + sizeof text;
  uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
  do {
    *--at = (char)('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (n < 0) {
    *--at = '-';
  }
  lt_buf_add(buf, lt_str_from(at, (size_t)(text + sizeof text - at)));
}

void lt_buf_consume(lt_buf *buf, size_t n) {
  LT_CHECK(n <= buf->n);
  if (n == 0) {
    return;
  }
  memmove(buf->p, buf->p + n, buf->n - n + 1);
  buf->n -= n;
}

void lt_buf_cut(lt_buf *buf, size_t n) {
  if (buf->status == LT_OK && buf->n > n) {
    buf->n = n;
    buf->p[n] = '\0';
  }
}

char *lt_buf_take(lt_buf *buf, size_t *ret_n) {
  if (lt_buf_reserve(buf, 0) == NULL) {
    lt_status why = buf->status;
    lt_buf_release(buf);
    buf->status = why;
    return NULL;
  }
  char *p = buf->p;
  if (ret_n != NULL) {
    *ret_n = buf->n;
  }
  lt_buf_init(buf, buf->max);
  return p;
}

void lt_buf_give(lt_buf *buf, char *bytes, size_t n) {
  lt_buf_release(buf);
  if (n > buf->max) {
    lt_mem_free(bytes);
    buf->status = LT_E_LIMIT;
    return;
  }
  buf->p = bytes;
  buf->n = n;
  buf->cap = n + 1;
}
