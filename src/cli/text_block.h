/* Writes a text of several lines for a person who decides about it: each line behind a margin, so that nothing in the
 * text can look like a line of ours. */
#ifndef LT_CLI_TEXT_BLOCK_H
#define LT_CLI_TEXT_BLOCK_H

#include "base/buf.h"
#include "base/str.h"

/* Appends "(N lines)" and the lines, each as a line break, `margin`, "| " and the text. Unless `whole` is set, it hides
 * the middle of many lines and the end of a long one, and states their sizes. False: something is hidden. */
bool lt_text_block_add(lt_buf *out, lt_str margin, lt_str text, bool whole);
/* Appends a line break, `margin`, `mark`, a space and `line`. What cannot be seen is shown as "<U+200B>". False: the
 * end of the line is hidden, since it is not `whole`. */
bool lt_text_block_line(lt_buf *out, lt_str margin, char mark, lt_str line, bool whole);

#endif
