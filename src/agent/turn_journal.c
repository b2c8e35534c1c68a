/* The journal as a turn sees it. */
#include "agent/own.h"

/* The agent's, until it ends and leaves its prompts as they are: what happens to them then is on nobody's record. */
static lt_turn_own *own_of_journal(lt_journal *self) {
  return (lt_turn_own *)(void *)((char *)self - offsetof(lt_turn_own, journal));
}

static lt_status check_leaving(const lt_turn_own *own, lt_err *err) {
  return own->turn.agent->leaving ? lt_fail(err, LT_E_CLOSED, "Lathe is ending") : LT_OK;
}

/* What was put out before the call is in the store before it, or with it in one transaction: nobody had to wait for
 * that alone. A call that begins without it is not made. */
static lt_status begin_call(lt_journal *self, const lt_journal_call *call, int64_t *ret_id, lt_err *err) LT_YIELDS {
  lt_turn_own *own = own_of_journal(self);
  lt_journal *theirs = own->turn.agent->options.journal;
  LT_TRY(check_leaving(own, err));
  LT_TRY(lt_outbox_send(&own->outbox, err));
  LT_TRY(check_leaving(own, err));
  LT_TRY(theirs->begin(theirs, call, ret_id, err));
  return lt_outbox_check(&own->outbox, err);
}

static lt_status finish_call(lt_journal *self, int64_t id, lt_status status, lt_str answer, lt_err *err) LT_YIELDS {
  const lt_agent *agent = own_of_journal(self)->turn.agent;
  lt_journal *theirs = agent->options.journal;
  return agent->leaving ? LT_OK : theirs->finish(theirs, id, status, answer, err);
}

static void note(lt_journal *self, lt_str run, const lt_note *what, void (*on_failure)(void *arg, const lt_err *err),
                 void *arg) {
  const lt_agent *agent = own_of_journal(self)->turn.agent;
  lt_journal *theirs = agent->options.journal;
  if (!agent->leaving) {
    theirs->note(theirs, run, what, on_failure, arg);
  }
}

static lt_status recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  lt_journal *theirs = own_of_journal(self)->turn.agent->options.journal;
  return theirs->recall(theirs, run, ret_record, err);
}

lt_journal *lt_turn_make_journal(lt_turn_own *own) {
  lt_journal *theirs = own->turn.agent->options.journal;
  bool notes = theirs != NULL && theirs->note != NULL && theirs->recall != NULL;
  own->journal = (lt_journal){.begin = begin_call,
                              .finish = finish_call,
                              .note = notes ? note : NULL,
                              .recall = notes ? recall : NULL,
                              .final = notes && theirs->final};
  return theirs != NULL ? &own->journal : NULL;
}
