/* Matches the calls of a program in its own process with the record, when the program runs again. A call is found by
 * its tool and input, because such a program may make its calls in another order (docs/internals/replay.md).
 *
 * The record answers each recorded call once; a further call of the same kind is made. A call that was under way is
 * made again when its tool is repeatable; otherwise it fails as `interrupted`. When the journal is final
 * (replay_check.h), no call is made: the run diverges when it makes a call that is not on record, or leaves out a
 * recorded call. Loop thread only.
 */
#ifndef LT_REPLAY_CALL_MATCHING_H
#define LT_REPLAY_CALL_MATCHING_H

#include "runner/runner.h"

typedef struct lt_call_matching {
  lt_journal *journal; /* NULL: the run is not recorded, and all functions do nothing */
  const lt_run_request *request;
  const lt_door *door;
  lt_record record;
  struct lt_call_matching_call {
    uint64_t seq, hash;
    bool is_taken;
  } * opened; /* the calls of earlier processes, also calls that only asked for approval */
  size_t opened_count;
  uint64_t last_seq; /* the highest call number of the run */
  unsigned begun;    /* number of earlier processes */
  lt_buf fault;      /* how the run diverged; empty: it did not */
} lt_call_matching;

/* The warning in the logs of a program that is run again. */
#define LT_CALL_MATCHING_WARNING                                                                                   \
  "this program is run again, because Lathe was interrupted: its earlier calls are answered from the record, and " \
  "what it had written to its workspace is still there"

/* Call this before the program starts. `*ret_ended`: the record has the program's end, and `result` is filled.
 * `runner`: the id of the runner. The program does not run when the record has another runner or program; then `result`
 * says so. Borrows: the request, the door. LT_YIELDS. Errors: the journal's. */
lt_status lt_call_matching_begin(lt_call_matching *matching, const lt_run_request *request, const char *runner,
                                 const lt_door *door, lt_run_result *result, bool *ret_ended, lt_err *err) LT_YIELDS;

/* Looks for a call of the program in the record. True: the record answers (`out` has the value or the message, and the
 * runner reports the call with lt_recorded_call_report), or the status is LT_E_DIVERGED and the runner stops the
 * program. False: the runner makes the call. `*ret_seq` is the call's number (lt_invoke_options.seq). LT_YIELDS. */
bool lt_call_matching_answer(lt_call_matching *matching, lt_str tool, lt_str input, uint64_t *ret_seq,
                             lt_status *ret_status, lt_buf *out) LT_YIELDS;

/* Notes the failure of a call that the journal does not have (denied, invalid, unknown), so that the call fails in the
 * same way when the program runs again. */
void lt_call_matching_note_failure(const lt_call_matching *matching, uint64_t seq, lt_status status, lt_str message);

/* Notes the program's folder, so that the next process finds it; returns the folder of the earlier process, or
 * empty. */
void lt_call_matching_note_folder(const lt_call_matching *matching, lt_str path);
lt_str lt_call_matching_folder(const lt_call_matching *matching);
/* Whether the logs have LT_CALL_MATCHING_WARNING: the program is run again; in a check: the recorded run was. */
bool lt_call_matching_warns(const lt_call_matching *matching);

/* Call this after the program's end. Notes the result without secrets, unless the program was cancelled. When the
 * program diverged from the record, the divergence becomes the result. */
void lt_call_matching_end(const lt_call_matching *matching, lt_run_result *result);
void lt_call_matching_release(lt_call_matching *matching); /* one of zeros is allowed */

#endif
