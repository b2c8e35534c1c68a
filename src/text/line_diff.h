/* The difference of two texts, line by line, as in a unified diff.
 *
 * Common lines at both ends are cut off first; the rest is compared by its longest common subsequence, unless it is too
 * long (LT_DIFF_CELLS): then all of it counts as changed.
 */
#ifndef LT_TEXT_LINE_DIFF_H
#define LT_TEXT_LINE_DIFF_H

#include "base/err.h"
#include "base/str.h"

typedef enum lt_line_diff_mark {
  LT_DIFF_SAME,
  LT_DIFF_REMOVED,
  LT_DIFF_ADDED,
  LT_DIFF_SKIPPED, /* `count` lines that are the same and far from a change */
  LT_DIFF_NO_END,  /* the line before has no line break at its end */
} lt_line_diff_mark;

typedef struct lt_line_diff_step {
  lt_line_diff_mark mark;
  lt_str line; /* without its line break */
  size_t count;
} lt_line_diff_step;

/* Calls `fn` for each step, with `context` lines that are the same around a change. Nothing when the texts are equal.
 * Errors: LT_E_NOMEM, LT_E_LIMIT (LT_DIFF_LINES in one of the texts); then nothing was called. */
lt_status lt_line_diff(lt_str before, lt_str after, size_t context,
                       void (*fn)(void *arg, const lt_line_diff_step *step), void *arg, lt_err *err);

#endif
