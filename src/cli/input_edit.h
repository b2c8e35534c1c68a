/* Lets a person edit a call's input at the terminal. */
#ifndef LT_CLI_INPUT_EDIT_H
#define LT_CLI_INPUT_EDIT_H

#include "base/buf.h"
#include "io/terminal.h"

/* `input`: JSON text of an object. Appends the edited text to `ret_text`: a JSON object. The person gets $VISUAL or
 * $EDITOR on a file that only they can read, else a line of the terminal. LT_YIELDS. Errors: LT_E_INVALID: the text is
 * no JSON object, or nothing was typed; LT_E_IO, LT_E_NOTFOUND: there is no file or no editor; the cancel's reason. */
lt_status lt_input_edit(lt_loop *loop, lt_str input, lt_cancel *cancel, lt_buf *ret_text, lt_err *err) LT_YIELDS;

#endif
