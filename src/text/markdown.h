/* Markdown for a terminal, rendered while it streams (docs/internals/markdown.md).
 *
 * Text comes in pieces, cut anywhere; what is written does not depend on the cuts. A word is written as soon as it is
 * complete, marked text when its mark ends, a line of code when it ends, a table when it ends. What is written has no
 * control characters but line breaks and our own styles, whatever the text was, and ends without a style.
 *
 * The time is proportional to the text. Limits: LT_MARKDOWN_SPAN_BYTES of marked text and LT_MARKDOWN_TABLE_BYTES of a
 * table are kept; what is longer is shown as it is written, or in columns as wide as those of its beginning.
 */
#ifndef LT_TEXT_MARKDOWN_H
#define LT_TEXT_MARKDOWN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef struct lt_markdown lt_markdown;

/* `width`: columns of the terminal, at least 1. Errors: LT_E_NOMEM. Owns: the caller, lt_markdown_free. */
lt_status lt_markdown_new(size_t width, lt_markdown **ret_markdown, lt_err *err);
void lt_markdown_free(lt_markdown *markdown); /* NULL is allowed */

/* For the lines to come: the terminal has another width. */
void lt_markdown_set_width(lt_markdown *markdown, size_t width);
/* Reads more text and writes what is complete. */
void lt_markdown_add(lt_markdown *markdown, lt_str piece, lt_buf *out);
/* The text has ended: writes the rest and ends the line. The next text begins anew. */
void lt_markdown_end(lt_markdown *markdown, lt_buf *out);
/* Something else was written, and the cursor is at a line's beginning. */
void lt_markdown_interrupted(lt_markdown *markdown);
/* Whether the cursor is behind something in its line. */
bool lt_markdown_is_mid_line(const lt_markdown *markdown);

#endif
