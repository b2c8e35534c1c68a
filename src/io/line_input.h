/* Lines that a person types at the terminal, with editing and a history, by libedit.
 *
 * libedit runs on the reader's fiber and asks for one character at a time. The fiber waits for each character on the
 * loop, so nothing else is delayed. Without libedit, lines are read as the terminal delivers them. Loop thread only.
 */
#ifndef LT_IO_LINE_INPUT_H
#define LT_IO_LINE_INPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "io/line_completion.h"
#include "io/loop.h"

typedef struct lt_line_input lt_line_input;

/* `history_path`: the history's file, made with mode 0600 when the first line is kept; NULL: no history file. Errors:
 * LT_E_NOTFOUND (there is no terminal), LT_E_NOMEM. Owns: the caller, lt_line_input_close. */
lt_status lt_line_input_open(lt_loop *loop, const char *history_path, lt_line_input **ret_input, lt_err *err);
/* NULL is allowed. No fiber may be in lt_line_input_read. */
void lt_line_input_close(lt_line_input *input);

/* Shows `prompt` and appends a line without its end. Pasted text is part of the line with all its line breaks and tabs,
 * where the terminal marks it (bracketed paste). LT_YIELDS until a line is complete. Afterwards the terminal has its
 * former settings. Errors: LT_E_CLOSED (end of input), the cancel's reason, the buffer's own. `cancel` may be NULL. */
lt_status lt_line_input_read(lt_line_input *input, const char *prompt, lt_cancel *cancel, lt_buf *out,
                             lt_err *err) LT_YIELDS;
/* Puts text into the next line that is read, as if it had been typed; nothing where lines are not edited. */
void lt_line_input_offer(lt_line_input *input, const char *text);
/* Calls `change` with each pasted text before it comes into the line. */
void lt_line_input_change_pastes_by(lt_line_input *input, void (*change)(lt_buf *text));
/* Calls `complete` at each Tab behind a word: it sets `start` and adds candidates, and may yield. What all candidates
 * have in common is put into the line; when that is nothing, they are shown. A Tab behind nothing or spaces is two
 * spaces. Nothing where lines are not edited. Borrows `arg` until the input is closed. */
void lt_line_input_complete_by(lt_line_input *input,
                               void (*complete)(void *arg, lt_line_completion *completion) LT_YIELDS, void *arg);
/* Adds a line to the history, also to its file. */
void lt_line_input_keep(lt_line_input *input, lt_str line);
/* Whether the line had text when the last read was cancelled. */
bool lt_line_input_had_text(const lt_line_input *input);
/* Call it after the terminal's size has changed. */
void lt_line_input_resized(lt_line_input *input);

#endif
