/* Answers single calls from the record, for a caller whose runs are repeated (docs/internals/replay.md). Calls of a
 * program are not handled here: its runner loads the whole record. */
#ifndef LT_REPLAY_RECORDED_CALL_H
#define LT_REPLAY_RECORDED_CALL_H

#include "tool/door.h"

/* Counts a call that the record answers, so that budgets have the same rest as in the first run. Call it before later
 * calls are made. */
void lt_recorded_call_count(const lt_door *door, const lt_caller *caller, lt_str tool, lt_status status);
/* Reports a recorded call as finished. The door did not run it and has no number for it. Masks the input. */
void lt_recorded_call_report(const lt_door *door, const lt_caller *caller, const lt_call_event *event);

typedef enum lt_recalled {
  LT_RECALLED_NOTHING,  /* the call is not on record: make it */
  LT_RECALLED_OPEN,     /* it is on record without an end, and is repeatable: make it */
  LT_RECALLED_WITHHELD, /* it is on record, but its end is withheld for a comparison: make it */
  LT_RECALLED_ANSWERED, /* the returned status and `out` are those of lt_door_call; LT_E_INTERRUPTED: it was under way
                           and is not repeatable; LT_E_DIVERGED: the record has another call */
} lt_recalled;

/* Looks for the call with the number `options->seq` of the run of `options->caller`. LT_YIELDS. Errors: the journal's,
 * with LT_RECALLED_NOTHING. */
lt_status lt_recorded_call_recall(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options,
                                  lt_recalled *ret_recalled, lt_buf *out, lt_err *err) LT_YIELDS;
/* Makes the call with lt_door_call, unless the record answers it. The caller gets an event of its end in either case.
 * LT_YIELDS. */
lt_status lt_recorded_call_make(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                                lt_err *err) LT_YIELDS;

#endif
