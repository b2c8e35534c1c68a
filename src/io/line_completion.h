/* What can stand at the cursor of a line that is typed: candidates, what they have in common, and the table of them.
 *
 * Private to those who complete lines and to io/line_input.c. Loop thread only.
 */
#ifndef LT_IO_LINE_COMPLETION_H
#define LT_IO_LINE_COMPLETION_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

typedef struct lt_line_completion {
  lt_str line;  /* the line up to the cursor. Borrows */
  size_t start; /* where the word begins that the candidates replace; at first the end of the line */
  lt_str items[LT_COMPLETIONS_MAX];
  size_t count;
  size_t more; /* further candidates that are only counted */
  lt_arena arena;
} lt_line_completion;

void lt_line_completion_init(lt_line_completion *completion, lt_str line);
void lt_line_completion_release(lt_line_completion *completion);
/* Adds a candidate for the word that begins at `start`. Copies. Ignores what does not begin with the word as it was
 * typed, what is there already, and what has control characters. */
void lt_line_completion_add(lt_line_completion *completion, lt_str text);
/* Sorts the candidates. Returns what all of them have behind the typed word; empty: nothing. Borrows. */
lt_str lt_line_completion_rest(lt_line_completion *completion);
/* Appends the candidates in columns, each line with its end. */
void lt_line_completion_put(const lt_line_completion *completion, size_t columns, lt_buf *out);

#endif
