/* Lines that a person types at the terminal, with editing and a history, by libedit.
 *
 * libedit asks for one character after the other; it runs on the reader's fiber, which waits for each on the loop. So a
 * line is read in straight-line code, and nothing is held up meanwhile. Without libedit lines are read as the terminal
 * gives them. Loop thread only.
 */
#ifndef LT_IO_LINE_INPUT_H
#define LT_IO_LINE_INPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

typedef struct lt_line_input lt_line_input;

/* `history_path`: a file, made with mode 0600 when something is to be kept; NULL: nothing is. Errors: LT_E_NOTFOUND
 * (there is no terminal), LT_E_NOMEM. Owns: the caller, lt_line_input_close. */
lt_status lt_line_input_open(lt_loop *loop, const char *history_path, lt_line_input **ret_input, lt_err *err);
/* NULL is allowed; nobody may be reading. */
void lt_line_input_close(lt_line_input *input);

/* Shows `prompt` and appends a line without its end. Text that is pasted into a terminal that tells so (bracketed
 * paste) is part of it with all its lines and tabs. LT_YIELDS until there is one; the terminal is itself again
 * afterwards. Errors: LT_E_CLOSED (end of input), the cancel's reason, the buffer's own. `cancel` may be NULL. */
lt_status lt_line_input_read(lt_line_input *input, const char *prompt, lt_cancel *cancel, lt_buf *out,
                             lt_err *err) LT_YIELDS;
/* Adds a line to the history, also to its file. */
void lt_line_input_keep(lt_line_input *input, lt_str line);
/* Whether something had been typed when the last read was cancelled. */
bool lt_line_input_had_text(const lt_line_input *input);
/* The terminal has another size now. */
void lt_line_input_resized(lt_line_input *input);

#endif
