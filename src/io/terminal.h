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
 * terminal is gone), LT_E_INTERRUPTED (the window has another size than lt_terminal_measure said), the cancel's reason,
 * the buffer's own. `cancel` may be NULL. One reader at a time. */
lt_status lt_terminal_read_line(lt_terminal *terminal, lt_cancel *cancel, lt_buf *out, lt_err *err) LT_YIELDS;
/* Forgets what was typed, writes `prompt` and waits for one of `keys`; others do nothing, and no key is shown, however
 * early after the prompt it comes. Afterwards the terminal has its former settings. LT_YIELDS. Errors: as above;
 * LT_E_CLOSED also for Ctrl-D. */
lt_status lt_terminal_read_key(lt_terminal *terminal, lt_str prompt, const char *keys, lt_cancel *cancel, char *ret_key,
                               lt_err *err) LT_YIELDS;

/* From `hide` to `show`, what is typed is not echoed and can be read at once. `show` restores the former settings. */
void lt_terminal_hide_typed(lt_terminal *terminal);
void lt_terminal_show_typed(lt_terminal *terminal);
/* Appends what has been typed, at least a byte. LT_YIELDS. Errors: as above. */
lt_status lt_terminal_read_typed(lt_terminal *terminal, lt_cancel *cancel, lt_buf *out, lt_err *err) LT_YIELDS;

typedef struct lt_terminal_size {
  unsigned rows, columns;
} lt_terminal_size;
/* The window's size; 24 rows, 80 columns where it is unknown. From now on reads end when it changes. */
lt_terminal_size lt_terminal_measure(lt_terminal *terminal);

#endif
