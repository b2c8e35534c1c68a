/* The journal as a turn sees it. */
#include "agent/turn_journal.h"

#include "agent/deferred_start.h"
#include "agent/outbox.h"

/* Fails when the agent ends without ending its prompts: nothing more is recorded. */
static lt_turn_state *turn_journal_owner(lt_journal *self) {
  return (lt_turn_state *)(void *)((char *)self - offsetof(lt_turn_state, journal));
}

static lt_status turn_journal_check_leaving(const lt_turn_state *turn_state, lt_err *err) {
  return turn_state->turn.agent->leaving ? lt_fail(err, LT_E_CLOSED, "Lathe is ending") : LT_OK;
}

/* Outputs from before the call are stored before the call's record or in the same transaction, without a separate wait.
 * When they cannot be stored, the call is not made. A call that only reads has no effect that they would have to come
 * before: nothing waits for the store. */
static lt_status turn_journal_begin_call(lt_journal *self, const lt_journal_call *call, int64_t *ret_id,
                                         lt_err *err) LT_YIELDS {
  lt_turn_state *turn_state = turn_journal_owner(self);
  lt_journal *theirs = turn_state->turn.agent->options.journal;
  LT_TRY(turn_journal_check_leaving(turn_state, err));
  if (lt_deferred_start_keep_call(turn_state, call, ret_id)) {
    return LT_OK;
  }
  LT_TRY(lt_deferred_start_store(turn_state, err));
  if (!call->read_only) {
    LT_TRY(lt_outbox_send(&turn_state->outbox, err));
    LT_TRY(turn_journal_check_leaving(turn_state, err));
  }
  LT_TRY(theirs->begin(theirs, call, ret_id, err));
  return lt_outbox_check(&turn_state->outbox, err);
}

static lt_status turn_journal_finish_call(lt_journal *self, int64_t id, lt_status status, lt_str answer,
                                          lt_err *err) LT_YIELDS {
  lt_turn_state *turn_state = turn_journal_owner(self);
  const lt_agent *agent = turn_state->turn.agent;
  lt_journal *theirs = agent->options.journal;
  if (agent->leaving || lt_deferred_start_keep_end(turn_state, &id, status, answer)) {
    return LT_OK;
  }
  return theirs->finish(theirs, id, status, answer, err);
}

static void turn_journal_note(lt_journal *self, lt_str run, const lt_note *what,
                              void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  lt_turn_state *turn_state = turn_journal_owner(self);
  const lt_agent *agent = turn_state->turn.agent;
  lt_journal *theirs = agent->options.journal;
  if (!agent->leaving && !lt_deferred_start_keep_note(turn_state, run, what)) {
    theirs->note(theirs, run, what, on_failure, arg);
  }
}

static lt_status turn_journal_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  lt_turn_state *turn_state = turn_journal_owner(self);
  lt_journal *theirs = turn_state->turn.agent->options.journal;
  LT_TRY(lt_deferred_start_store(turn_state, err));
  return theirs->recall(theirs, run, ret_record, err);
}

lt_journal *lt_turn_journal_init(lt_turn_state *turn_state) {
  lt_journal *theirs = turn_state->turn.agent->options.journal;
  bool notes = theirs != NULL && theirs->note != NULL && theirs->recall != NULL;
  turn_state->journal = (lt_journal){.begin = turn_journal_begin_call,
                                     .finish = turn_journal_finish_call,
                                     .note = notes ? turn_journal_note : NULL,
                                     .recall = notes ? turn_journal_recall : NULL,
                                     .final = notes && theirs->final};
  return theirs != NULL ? &turn_state->journal : NULL;
}
