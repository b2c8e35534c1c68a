/* The tool calls of a run in few words, counted: `3 × files.read, files.write (failed)`. They tell whoever tries again
 * which effects there have been. Pure. */
#ifndef LT_RUNNER_CALL_SUMMARY_H
#define LT_RUNNER_CALL_SUMMARY_H

#include "base/limits.h"
#include "runner/run_result.h"

/* Calls of one tool that ended in the same way. */
typedef struct lt_call_group {
  lt_str tool;
  const char *end; /* "", " (failed)", or the word of lt_call_summary_read for calls that were cut short */
  size_t count;
} lt_call_group;

typedef struct lt_call_summary {
  lt_call_group groups[LT_TOOL_LISTED_MAX]; /* in the order of their first calls */
  size_t count;
  size_t more; /* calls in no group: there are too many groups */
} lt_call_summary;

/* Borrows: the result. `cut_short` stands behind a call that the program's end cancelled, such as " (cut short)". */
lt_call_summary lt_call_summary_read(const lt_run_result *result, const char *cut_short);
/* Appends one group: `3 × files.read (failed)`. */
void lt_call_summary_put_group(lt_buf *out, const lt_call_group *group);
/* Appends all of them, with ", " between. */
void lt_call_summary_put(lt_buf *out, const lt_call_summary *summary);

#endif
