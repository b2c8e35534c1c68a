/* Programs in processes of their own, run again: a call is matched with the record by its tool and input, since nothing
 * says in which order such a program makes its calls the next time (docs/internals/replay.md).
 *
 * A call on record is answered from there once; one more of the same kind is made. A call that was under way is made
 * again when that does no harm, and is `interrupted` otherwise. Where the journal is final (replay_check.h) no call is
 * made: one that is not on record, or one on record that is not made, is the run's divergence. Loop thread only.
 */
#ifndef LT_REPLAY_CALL_MATCHING_H
#define LT_REPLAY_CALL_MATCHING_H

#include "runner/runner.h"

typedef struct lt_call_matching {
  lt_journal *journal; /* NULL: the run is not noted, and nothing here does anything */
  const lt_run_request *request;
  const lt_door *door;
  lt_record record;
  struct lt_call_matching_call {
    uint64_t seq, hash;
    bool is_taken;
  } * opened; /* the calls it made in an earlier process, also those that got no further than a question */
  size_t opened_count;
  uint64_t last_seq; /* the highest number a call of the run has */
  unsigned begun;    /* in how many earlier processes */
  lt_buf fault;      /* how it diverged; empty: it did not */
} lt_call_matching;

/* What the logs of a program that is run again say. */
#define LT_CALL_MATCHING_WARNING                                                                                   \
  "this program is run again, because Lathe was interrupted: its earlier calls are answered from the record, and " \
  "what it had written to its workspace is still there"

/* Before the program starts. `*ret_ended`: its end is on record, and `result` is filled. `runner`: which one runs it;
 * by another one, or another program, it is not: then the result says so. Borrows: the request, the door.
 * LT_YIELDS. Errors: the journal's. */
lt_status lt_call_matching_begin(lt_call_matching *matching, const lt_run_request *request, const char *runner,
                                 const lt_door *door, lt_run_result *result, bool *ret_ended, lt_err *err) LT_YIELDS;

/* A call of the program: true when it is answered from the record (`out` has the value or the message; the caller is to
 * be told, lt_recorded_call_report), or, with LT_E_DIVERGED, when the program is to be stopped. Otherwise it is to be
 * made. `*ret_seq` is its number (lt_invoke_options.seq). LT_YIELDS. */
bool lt_call_matching_answer(lt_call_matching *matching, lt_str tool, lt_str input, uint64_t *ret_seq,
                             lt_status *ret_status, lt_buf *out) LT_YIELDS;

/* A call that was to be made has failed: when it never got as far as the journal (denied, invalid, unknown), that is
 * noted, so that it fails the same when the program is run again. */
void lt_call_matching_note_failure(const lt_call_matching *matching, uint64_t seq, lt_status status, lt_str message);

/* The folder it works in, so that it is found again; and that of the earlier process, or empty. */
void lt_call_matching_note_folder(const lt_call_matching *matching, lt_str path);
lt_str lt_call_matching_folder(const lt_call_matching *matching);
/* Whether the logs say LT_CALL_MATCHING_WARNING: the program is run again, or, where it is only checked, was. */
bool lt_call_matching_warns(const lt_call_matching *matching);

/* Behind the program's end: notes the result without secrets, unless it was cancelled. One that went another way than
 * on record gets that as its result. */
void lt_call_matching_end(const lt_call_matching *matching, lt_run_result *result);
void lt_call_matching_release(lt_call_matching *matching); /* one of zeros is allowed */

#endif
