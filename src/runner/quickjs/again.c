/* Calls that a program with a tape opens: those it opened before it was dropped, those that are on record, and new
 * ones.
 */
#include "runner/quickjs/tape.h"

static bool is_recorded(const lt_tape *tape, uint64_t seq) {
  return tape->next_recorded < tape->record.call_count && tape->record.calls[tape->next_recorded].seq == seq;
}

/* The call as it was opened before the program was dropped; NULL: this one is new. What is on record of it was found
 * then. */
static lt_run_tool_call *find_known(lt_run *run) {
  lt_tape *tape = run->tape;
  lt_run_tool_call *call = tape->next_known;
  if (call != NULL) {
    tape->next_known = call->next;
    tape->next_recorded += is_recorded(tape, run->last_id + 1);
  }
  return call;
}

static uint32_t open_known(lt_run *run, lt_run_tool_call *call, uint64_t hash, lt_str tool, lt_str input) {
  uint32_t id = (run->last_id + 1) * 2;
  if (call->hash != hash || call->open.id != id) {
    lt_tape_diverge_call(run, id, tool, input, call->record.tool, call->record.input);
    return 0;
  }
  lt_run_add_known(run, &call->open, false, LT_TAPE_NOWHERE);
  return id;
}

/* The record of the call that is opened next; NULL: it was not begun. */
static const lt_recorded_call *find_recorded(lt_run *run) {
  lt_tape *tape = run->tape;
  uint64_t seq = run->last_id + 1;
  if (tape->next_recorded < tape->record.call_count && tape->record.calls[tape->next_recorded].seq < seq) {
    lt_tape_diverge_missing(run, "it did not make a call that is on record", &tape->record.calls[tape->next_recorded]);
    return NULL;
  }
  return is_recorded(tape, seq) ? &tape->record.calls[tape->next_recorded++] : NULL;
}

/* What came of it the first time, if anything did. False: no memory. */
static bool recall_outcome(lt_run *run, lt_run_tool_call *call, const lt_recorded_call *recorded, uint32_t place) {
  const lt_tape_ready *ready = place != LT_TAPE_NOWHERE ? &run->tape->ready[place] : NULL;
  if (recorded != NULL && recorded->finished) {
    call->status = recorded->status;
    lt_buf_add(&call->out, recorded->answer);
    call->preset = true;
  } else if (ready != NULL && ready->status != LT_OK) {
    call->status = ready->status;
    lt_buf_add(&call->out, ready->text);
    call->preset = true;
  } else if (recorded != NULL && !recorded->repeatable) {
    call->interrupted = recorded->id;
  }
  if (call->preset) {
    lt_str text = lt_buf_view(&call->out);
    call->kept = true;
    call->record.finished = true;
    call->record.result_bytes = text.n;
    *(call->status == LT_OK ? &call->record.result : &call->record.error) = text;
  }
  return call->out.status == LT_OK;
}

/* A call that was opened in an earlier process, or one that is new. */
static void open_recorded(lt_run *run, lt_run_tool_call *call, const lt_recorded_call *recorded) {
  uint32_t id = (run->last_id + 1) * 2;
  pthread_mutex_lock(&run->lock);
  uint32_t place = lt_tape_place(run->tape, id);
  bool recalled = recall_outcome(run, call, recorded, place);
  pthread_mutex_unlock(&run->lock);
  lt_run_link_call(run, call);
  if (!recalled) {
    lt_tape_diverge(run, "no memory for the answer of call %u that is on record", id / 2);
    return;
  }
  if (call->preset && place != LT_TAPE_NOWHERE) {
    lt_run_let_go(run, call->record.input_bytes);
    lt_run_add_known(run, &call->open, true, place);
  } else {
    lt_run_add_open(run, &call->open, lt_run_start_call);
  }
}

static uint32_t diverged(lt_run *run, lt_outcome *ret) {
  ret->text = run->tape->fault;
  return 0;
}

uint32_t lt_run_open_again(lt_run *run, lt_str tool, const lt_run_function *function, lt_str input, lt_outcome *ret) {
  uint64_t hash = lt_journal_hash(tool, input);
  if (run->tape->fault.n > 0) {
    return diverged(run, ret);
  }
  lt_run_tool_call *call = find_known(run);
  if (call != NULL) {
    run->call_count++;
    return open_known(run, call, hash, tool, input) != 0 ? call->open.id : diverged(run, ret);
  }
  const lt_recorded_call *recorded = find_recorded(run);
  if (recorded != NULL && recorded->hash != hash) {
    lt_tape_diverge_call(run, (run->last_id + 1) * 2, tool, input, recorded->tool, recorded->input);
  }
  if (run->tape->fault.n > 0) {
    return diverged(run, ret);
  }
  call = lt_run_make_call(run, tool, input, ret);
  if (call == NULL) {
    lt_tape_diverge(run, "no memory for call %u", run->last_id + 1);
    return 0;
  }
  call->function = function;
  call->hash = hash;
  run->call_count++;
  open_recorded(run, call, recorded);
  return run->tape->fault.n == 0 ? call->open.id : diverged(run, ret);
}
