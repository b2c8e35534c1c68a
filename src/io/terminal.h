/* The terminal: reads lines that a person types, without blocking the loop, and writes text.
 *
 * It is opened by its device name, so that it works when standard input is not the terminal. Loop thread only.
 */
#ifndef LT_IO_TERMINAL_H
#define LT_IO_TERMINAL_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

typedef struct lt_terminal lt_terminal;

/* `path`: "/dev/tty", the controlling terminal. Errors: LT_E_NOTFOUND (there is none), LT_E_NOMEM. Owns: the caller,
 * lt_terminal_close. */
lt_status lt_terminal_open(lt_loop *loop, const char *path, lt_terminal **ret_terminal, lt_err *err);
void lt_terminal_close(lt_terminal *terminal); /* NULL is allowed; no fiber may be reading */

/* Discards typed text that is not read yet: an answer must not be older than its question. */
void lt_terminal_forget(lt_terminal *terminal);
/* Writes all of the text. On a failure the rest is lost. */
void lt_terminal_write(lt_terminal *terminal, lt_str text);
/* Appends a line without its end. LT_YIELDS until a line is complete. Errors: LT_E_CLOSED (end of input), LT_E_IO (the
 * terminal is gone), the cancel's reason, the buffer's own. `cancel` may be NULL. One reader at a time. */
lt_status lt_terminal_read_line(lt_terminal *terminal, lt_cancel *cancel, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
