#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

#define ELLIPSIS     "..."
#define ELLIPSIS_LEN (sizeof(ELLIPSIS) - 1)
/* A prefix may take half of the message at most: what follows it is the cause, which must stay readable. */
#define PREFIX_MAX (LT_ERR_MSG_MAX / 2)

static void err_store_msg(lt_err *err, const char *text) {
  memcpy(err->msg, text, strlen(text) + 1);
}

/* Ends a full buffer of `size` bytes in "...", between characters. */
static void err_mark_cut(char *text, size_t size) {
  size_t at = lt_utf8_floor(lt_str_from(text, size - 1), size - 1 - ELLIPSIS_LEN);
  memcpy(text + at, ELLIPSIS, sizeof(ELLIPSIS));
}

__attribute__((format(printf, 3, 0))) static void err_format_cut(char *text, size_t size, const char *fmt, va_list ap) {
  int n = vsnprintf(text, size, fmt, ap);
  if (n < 0) {
    text[0] = '\0';
  } else if ((size_t)n >= size) {
    err_mark_cut(text, size);
  }
}

__attribute__((format(printf, 5, 0))) static void err_vset(lt_err *err, lt_status status, const char *file, int line,
                                                           const char *fmt, va_list ap) {
  if (err == NULL) {
    return;
  }
  char text[LT_ERR_MSG_MAX]; /* an argument may be the old message */
  err_format_cut(text, sizeof(text), fmt, ap);
  err->status = status;
  err->file = file;
  err->line = line;
  err_store_msg(err, text);
}

lt_status lt_err_set(lt_err *err, lt_status status, const char *file, int line, const char *fmt, ...) {
  LT_CHECK(status != LT_OK);
  va_list ap;
  va_start(ap, fmt);
  err_vset(err, status, file, line, fmt, ap);
  va_end(ap);
  return status;
}

lt_status lt_err_set_if(lt_err *err, lt_status status, const char *file, int line, const char *fmt, ...) {
  if (status != LT_OK) {
    va_list ap;
    va_start(ap, fmt);
    err_vset(err, status, file, line, fmt, ap);
    va_end(ap);
  }
  return status;
}

lt_status lt_err_prefix(lt_err *err, const char *fmt, ...) {
  if (err == NULL) {
    return LT_E_INTERNAL;
  }
  LT_CHECK(err->status != LT_OK);
  char prefix[PREFIX_MAX];
  va_list ap;
  va_start(ap, fmt);
  err_format_cut(prefix, sizeof(prefix), fmt, ap);
  va_end(ap);
  char text[LT_ERR_MSG_MAX];
  int n = snprintf(text, sizeof(text), "%s: %s", prefix, lt_err_msg(err));
  if (n >= (int)sizeof(text)) {
    err_mark_cut(text, sizeof(text));
  }
  err_store_msg(err, text);
  return err->status;
}

lt_status lt_err_copy(lt_err *to, const lt_err *from) {
  if (to != NULL && to != from && from->status != LT_OK) {
    *to = *from;
  }
  return from->status;
}

const char *lt_err_msg(const lt_err *err) {
  return err->msg[0] != '\0' ? err->msg : lt_status_text(err->status);
}

_Noreturn void lt_err_check_failed(const char *cond, const char *file, int line) {
  char text[512];
  int n = snprintf(text, sizeof(text), "%s:%d: internal check failed: %s\n", file, line, cond);
  size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
  /* write and not stdio, whose lock or buffer may be broken. A failure of write cannot be reported. */
  ssize_t written = write(STDERR_FILENO, text, len);
  (void)written;
  abort();
}
