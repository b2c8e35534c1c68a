#include "agent/deferred_start.h"

#include "agent/decision_watch.h"
#include "agent/heartbeat.h"
#include "agent/turn_state.h"
#include "base/mem.h"

typedef enum deferred_kind { DEFERRED_NOTE, DEFERRED_BEGIN, DEFERRED_END } deferred_kind;

struct lt_deferred_record {
  lt_deferred_record *next;
  deferred_kind what;
  lt_str run;
  lt_note note;
  lt_journal_call call;
  int64_t id; /* BEGIN, END: of the kept call */
  lt_status status;
  lt_str answer;
  char bytes[]; /* the texts */
};

void lt_deferred_start_init(lt_deferred_start *d, lt_loop *loop) {
  _Static_assert(offsetof(lt_deferred_start, err) + sizeof(lt_err) == sizeof(lt_deferred_start),
                 "err is the last member");
  memset(d, 0, offsetof(lt_deferred_start, err));
  lt_err_clear(&d->err);
  d->last = &d->first;
  lt_cancel_init(&d->stored);
  lt_wait_init(&d->left, loop);
}

void lt_deferred_start_release(lt_deferred_start *d) {
  while (d->first != NULL) {
    lt_deferred_record *record = d->first;
    d->first = record->next;
    lt_mem_free(record);
  }
  lt_mem_free(d->ids);
  d->ids = NULL;
}

bool lt_deferred_start_is_open(const lt_turn_state *turn_state) {
  return turn_state->deferred_start.is_open;
}

/* --- Keeping ------------------------------------------------------------------------------------------------------ */
/* Copies the record and its texts. NULL: no memory. */
static lt_deferred_record *deferred_record_new(const lt_deferred_record *like, size_t *ret_bytes) {
  const lt_journal_call *call = &like->call;
  size_t bytes = sizeof *like + like->run.n + like->note.text.n + like->answer.n + call->user.n + call->run.n +
                 call->tool.n + call->input.n + call->edited_input.n;
  lt_deferred_record *record = lt_mem_alloc(bytes);
  if (record == NULL) {
    return NULL;
  }
  *record = *like;
  char *to = record->bytes;
  lt_str *texts[] = {&record->run,      &record->note.text, &record->answer,     &record->call.user,
                     &record->call.run, &record->call.tool, &record->call.input, &record->call.edited_input};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (texts[i]->n > 0) {
      memcpy(to, texts[i]->p, texts[i]->n);
      texts[i]->p = to;
      to += texts[i]->n;
    }
  }
  *ret_bytes = bytes;
  return record;
}

static bool deferred_start_keep(lt_deferred_start *d, const lt_deferred_record *like) {
  size_t bytes = 0;
  lt_deferred_record *record = deferred_record_new(like, &bytes);
  if (record == NULL) {
    return false;
  }
  *d->last = record;
  d->last = &record->next;
  d->bytes += bytes;
  return true;
}

/* The note with which a prompt begins comes before all others: a record without it cannot be carried out again. */
static void deferred_start_move_first(lt_deferred_start *d) {
  lt_deferred_record **place = &d->first;
  while ((*place)->next != NULL) {
    place = &(*place)->next;
  }
  lt_deferred_record *record = *place;
  if (record != d->first) {
    *place = NULL;
    d->last = place;
    record->next = d->first;
    d->first = record;
  }
}

bool lt_deferred_start_keep_call(lt_turn_state *turn_state, const lt_journal_call *call, int64_t *ret_id) {
  lt_deferred_start *d = &turn_state->deferred_start;
  const lt_deferred_record record = {.what = DEFERRED_BEGIN, .call = *call, .id = -(d->call_count + 1)};
  bool has_room = d->bytes < LT_DEFERRED_RECORD_BYTES && d->call_count < LT_DEFERRED_CALLS_MAX;
  if (!call->read_only || !d->is_open || d->is_storing || !has_room || !deferred_start_keep(d, &record)) {
    return false;
  }
  d->call_count++;
  *ret_id = record.id;
  return true;
}

bool lt_deferred_start_keep_end(lt_turn_state *turn_state, int64_t *id, lt_status status, lt_str answer) {
  lt_deferred_start *d = &turn_state->deferred_start;
  if (*id >= 0) {
    return false;
  }
  const lt_deferred_record record = {.what = DEFERRED_END, .id = *id, .status = status, .answer = answer};
  if (d->is_open && deferred_start_keep(d, &record)) {
    return true;
  }
  if (d->is_open) { /* without memory the call stays open on record: it is read-only, and is made again */
    return true;
  }
  *id = d->ids != NULL ? d->ids[-*id - 1] : 0;
  return *id == 0;
}

static bool deferred_start_is_beginning(const lt_turn_state *turn_state, lt_str run, const lt_note *note) {
  return note->kind == LT_PROMPT_NOTE_START && lt_str_eqc(run, turn_state->turn.ids.prompt);
}

bool lt_deferred_start_keep_note(lt_turn_state *turn_state, lt_str run, const lt_note *note) {
  lt_deferred_start *d = &turn_state->deferred_start;
  const lt_deferred_record record = {.what = DEFERRED_NOTE, .run = run, .note = *note};
  if (!d->is_open) {
    return false;
  }
  if (!deferred_start_keep(d, &record)) {
    lt_fail(&d->err, LT_E_NOMEM, "no memory for the record of the prompt");
  } else if (deferred_start_is_beginning(turn_state, run, note)) {
    deferred_start_move_first(d);
  }
  return true;
}

/* --- Storing ------------------------------------------------------------------------------------------------------ */
/* Not durable by itself: the record of the effect that follows is, and a wait may be lost when the power fails. */
static lt_status deferred_start_create(const lt_turn_state *turn_state, lt_err *err) LT_YIELDS {
  const lt_turn *turn = &turn_state->turn;
  const lt_prompt_row row = {
      .id = lt_str_of(turn->ids.prompt),
      .user = turn->user,
      .conversation = lt_str_of(turn->ids.conversation),
      .model = turn->model->ref,
      .mode = lt_str_of(turn->mode->id),
      .input = turn->input,
      .origin = turn->agent->options.origin,
      .visible = true,
      .is_lazy = true,
  };
  return lt_store_prompt_create(turn->agent->options.db, &row, err);
}

static lt_status deferred_start_write(lt_turn_state *turn_state, const lt_deferred_record *record,
                                      lt_err *err) LT_YIELDS {
  const lt_deferred_start *d = &turn_state->deferred_start;
  lt_journal *theirs = turn_state->turn.agent->options.journal;
  switch (record->what) {
    case DEFERRED_NOTE:
      if (deferred_start_is_beginning(turn_state, record->run, &record->note)) {
        lt_recorded_tools_store(&turn_state->turn);
      }
      theirs->note(theirs, record->run, &record->note, NULL, NULL);
      return LT_OK;
    case DEFERRED_BEGIN:
      return theirs->begin(theirs, &record->call, &d->ids[-record->id - 1], err);
    case DEFERRED_END:
      return theirs->finish(theirs, d->ids[-record->id - 1], record->status, record->answer, err);
  }
  return LT_OK;
}

/* More notes and ends may come meanwhile, and no call. */
static lt_status deferred_start_write_all(lt_turn_state *turn_state, lt_err *err) LT_YIELDS {
  lt_deferred_start *d = &turn_state->deferred_start;
  d->ids = lt_mem_zalloc((size_t)d->call_count + 1, sizeof *d->ids);
  lt_status status = d->ids != NULL ? lt_err_copy(err, &d->err) : lt_fail(err, LT_E_NOMEM, "no memory for the prompt");
  while (status == LT_OK && d->first != NULL) {
    lt_deferred_record *record = d->first;
    d->first = record->next;
    d->last = d->first == NULL ? &d->first : d->last;
    status = deferred_start_write(turn_state, record, err);
    lt_mem_free(record);
  }
  return status;
}

/* A prompt whose record has a gap makes no further call, and stays in the store as it ends. */
static lt_status deferred_start_fill(lt_turn_state *turn_state, lt_err *err) LT_YIELDS {
  lt_deferred_start *d = &turn_state->deferred_start;
  LT_ERR_VAR(why);
  lt_status status = deferred_start_write_all(turn_state, &why);
  d->is_open = false; /* from here on everything is recorded in the store, behind what is sent there now */
  if (status == LT_OK) {
    status = lt_outbox_store_all(&turn_state->outbox, &why);
  }
  if (status != LT_OK) {
    d->err = why;
    d->err.status = status;
  }
  return lt_err_copy(err, &d->err);
}

static lt_status deferred_start_store(lt_turn_state *turn_state, lt_err *err) LT_YIELDS {
  lt_deferred_start *d = &turn_state->deferred_start;
  lt_agent *agent = turn_state->turn.agent;
  d->is_storing = true;
  lt_cancel_init(&d->stored);
  lt_status status = deferred_start_create(turn_state, err);
  if (status == LT_OK) {
    status = deferred_start_fill(turn_state, err);
    lt_decision_watch_wake(agent);
    lt_heartbeat_start(agent);
  }
  d->is_storing = false;
  lt_cancel_fire(&d->stored, LT_E_CANCELLED);
  return status;
}

static void deferred_start_wait(lt_deferred_start *d, lt_loop *loop) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, loop);
  lt_cancel_add(&d->stored, &node, &wait);
  (void)lt_wait_on(&wait, UINT64_MAX);
  lt_cancel_remove(&d->stored, &node);
}

/* After the wake nothing of the prompt is touched: its fiber may free it. */
lt_status lt_deferred_start_store(lt_turn_state *turn_state, lt_err *err) {
  lt_deferred_start *d = &turn_state->deferred_start;
  d->fibers++;
  while (d->is_storing) {
    deferred_start_wait(d, turn_state->turn.agent->options.loop);
  }
  lt_status status = d->is_open ? deferred_start_store(turn_state, err) : lt_err_copy(err, &d->err);
  if (--d->fibers == 0) {
    lt_wait_wake(&d->left, LT_OK);
  }
  return status;
}

void lt_deferred_start_settle(lt_turn_state *turn_state) {
  lt_deferred_start *d = &turn_state->deferred_start;
  while (d->fibers > 0) {
    (void)lt_wait_on(&d->left, UINT64_MAX);
  }
}
