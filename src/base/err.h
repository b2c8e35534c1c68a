/* Errors: a status with a message for a person, in the caller's frame.
 *
 * An lt_err is never thread-local: another fiber on the same thread would overwrite it. Functions that can fail return
 * an lt_status and take `lt_err *err` last; they write it only when they fail. `err` may be NULL: the status still says
 * what happened.
 */
#ifndef LT_BASE_ERR_H
#define LT_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

#include "base/status.h"

#define LT_ERR_MSG_MAX 1024 /* bytes, with the final NUL; longer messages are cut at a character and end in "..." */

typedef struct lt_err {
  lt_status status;
  const char *file; /* where it was raised, for logs */
  int line;
  char msg[LT_ERR_MSG_MAX];
} lt_err;

#define LT_ERR_INIT ((lt_err){.status = LT_OK})
/* The same without clearing the whole message, which takes longer than many functions that use it. */
static inline void lt_err_clear(lt_err *err) {
  err->status = LT_OK;
  err->file = NULL;
  err->line = 0;
  err->msg[0] = '\0';
}
/* Declares a variable that is LT_OK: a declaration and a statement. */
#define LT_ERR_VAR(name) \
  lt_err name;           \
  lt_err_clear(&(name))

/* For a function with large variables, such as an lt_err, whose caller waits before or after it: the compiler must not
 * put them into the caller's frame, which each fiber that waits keeps in memory (docs/internals/fibers.md). */
#define LT_OWN_FRAME __attribute__((noinline))

/* Records a failure and returns its status: `return lt_fail(err, LT_E_INVALID, "...")`. The old message may be among
 * the arguments. */
#define lt_fail(err, status, ...) lt_err_set((err), (status), __FILE__, __LINE__, __VA_ARGS__)

lt_status lt_err_set(lt_err *err, lt_status status, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Checks a status that a function found earlier, such as a sticky one: returns LT_OK, or records the failure as lt_fail
 * does. */
#define lt_fail_if(err, status, ...) lt_err_set_if((err), (status), __FILE__, __LINE__, __VA_ARGS__)

lt_status lt_err_set_if(lt_err *err, lt_status status, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Puts `fmt` and ": " before the error's message and returns its status. A long prefix is cut to half of
 * LT_ERR_MSG_MAX, so that the cause stays readable. When `err` is NULL, the status is unknown and the function returns
 * LT_E_INTERNAL. */
lt_status lt_err_prefix(lt_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies an error that was caught elsewhere, such as on another fiber, and returns its status. When that status is
 * LT_OK, `to` does not change. */
lt_status lt_err_copy(lt_err *to, const lt_err *from);

/* The message, or the status's text where no message was given. `err` must not be NULL. */
const char *lt_err_msg(const lt_err *err);

/* The only control macro: returns a failure to the caller. Use it only where nothing has to be released by hand. */
#define LT_TRY(expr)                  \
  do {                                \
    lt_status lt_try_status = (expr); \
    if (lt_try_status != LT_OK) {     \
      return lt_try_status;           \
    }                                 \
  } while (0)

/* Checks for our own bugs, in every build: prints file and line and aborts. Never use it on input of a peer or a user.
 * */
#define LT_CHECK(cond) ((cond) ? (void)0 : lt_err_check_failed(#cond, __FILE__, __LINE__))

_Noreturn void lt_err_check_failed(const char *cond, const char *file, int line);

#endif
