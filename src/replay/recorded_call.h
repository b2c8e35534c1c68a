/* Single calls that may be on record already: those of a caller whose runs are run again (docs/internals/replay.md).
 * The calls of a program are its runner's, which recalls them all at once. */
#ifndef LT_REPLAY_RECORDED_CALL_H
#define LT_REPLAY_RECORDED_CALL_H

#include "tool/door.h"

/* Counts a call that is answered by the record, so that budgets have as much left as they had then: before calls are
 * made that come after it. */
void lt_recorded_call_count(const lt_door *door, const lt_caller *caller, lt_str tool, lt_status status);
/* Reports a recorded call as finished. The door did not run it and has no number for it. Masks the input. */
void lt_recorded_call_report(const lt_door *door, const lt_caller *caller, const lt_call_event *event);

typedef enum lt_recalled {
  LT_RECALLED_NOTHING,  /* it is not on record: to be made */
  LT_RECALLED_OPEN,     /* it is, without an end, and can be made again: to be made */
  LT_RECALLED_WITHHELD, /* it is, with an end that is withheld to be compared: to be made */
  LT_RECALLED_ANSWERED, /* the returned status and `out` are as lt_door_call gave them, or LT_E_INTERRUPTED when it was
                           under way and must not be made again; LT_E_DIVERGED: it was another call */
} lt_recalled;

/* Looks for the call with the number `options->seq` of the run of `options->caller`. LT_YIELDS. Errors: the journal's,
 * with LT_RECALLED_NOTHING. */
lt_status lt_recorded_call_recall(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options,
                                  lt_recalled *ret_recalled, lt_buf *out, lt_err *err) LT_YIELDS;
/* lt_door_call, unless the call is on record; its end is reported to the caller in either case. LT_YIELDS. */
lt_status lt_recorded_call_make(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                                lt_err *err) LT_YIELDS;

#endif
