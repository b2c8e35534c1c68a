/* Shows a question on a terminal and reads a line as its answer.
 *
 * The question has a header, a body and a line that asks. What does not fit the window is shown in pages, each with the
 * header; the line that asks is always the last one. Lines are broken by us, with a margin, so that no text of the body
 * can begin at the left edge. All texts are fit for a terminal already. Loop thread only.
 */
#ifndef LT_CLI_QUESTION_H
#define LT_CLI_QUESTION_H

#include "base/buf.h"
#include "io/terminal.h"

typedef struct lt_question {
  lt_terminal *terminal;
  lt_str header; /* lines, each with its end; may be empty */
  lt_str body;   /* likewise */
  const char *ask;
} lt_question;

/* Shows the question, unless `is_shown` (then only its last line), and appends the answer to `ret_line`. Text that was
 * typed before is no answer. A window that gets another size shows the question again. LT_YIELDS. Errors: those of
 * lt_terminal_read_line but LT_E_INTERRUPTED. */
lt_status lt_question_ask(const lt_question *question, bool is_shown, lt_cancel *cancel, lt_buf *ret_line,
                          lt_err *err) LT_YIELDS;

#endif
