#include "replay/call_matching.h"

#include "base/mem.h"
#include "replay/notes.h"
#include "replay/recorded_run.h"
#include "replay/result_note.h"

static void matching_note(const lt_call_matching *m, uint32_t kind, lt_str text) {
  m->journal->note(m->journal, m->request->caller->run, &(lt_note){.kind = kind, .text = text}, NULL, NULL);
}

static lt_program_identity matching_identity(const lt_run_request *request, const char *runner) {
  return (lt_program_identity){.runner = lt_str_of(runner), .program = lt_str_hash(request->code)};
}

/* A call's number is noted before its approval is requested and before it is recorded, because both are found by that
 * number.
 */
static bool matching_load_opened(lt_call_matching *m) {
  m->opened = lt_mem_zalloc(m->record.note_count + 1, sizeof *m->opened);
  for (size_t i = 0; m->opened != NULL && i < m->record.note_count; i++) {
    const lt_note *n = &m->record.notes[i];
    if (n->kind == LT_NOTE_OPEN) {
      m->opened[m->opened_count++] = (struct lt_call_matching_call){.seq = n->number, .hash = n->time_us};
      m->last_seq = n->number > m->last_seq ? n->number : m->last_seq;
    }
  }
  return m->opened != NULL;
}

static bool matching_is_same(const lt_note *begun, const lt_program_identity *now) {
  lt_program_identity recorded;
  return lt_notes_read_identity(begun->text, &recorded) && lt_str_eq(recorded.runner, now->runner) &&
         recorded.engine == now->engine && recorded.program == now->program;
}

static lt_status matching_load(lt_call_matching *m, const lt_program_identity *identity, lt_run_result *result,
                               bool *ret_ended, lt_err *err) LT_YIELDS {
  LT_TRY(m->journal->recall(m->journal, m->request->caller->run, &m->record, err));
  const lt_note *begun = lt_notes_find_last(&m->record, LT_NOTE_BEGIN);
  const lt_note *ended = lt_notes_find_last(&m->record, LT_NOTE_END);
  if (begun == NULL) {
    return LT_OK;
  }
  if (!matching_is_same(begun, identity)) {
    lt_run_result_fail(result, LT_E_DIVERGED, "diverged: another program, or another runner's, is on record here");
    *ret_ended = true;
    return LT_OK;
  }
  m->begun = (unsigned)lt_notes_count(&m->record, LT_NOTE_BEGIN);
  if (ended != NULL) {
    *ret_ended = true;
    LT_TRY(lt_result_note_read(ended->text, result, m->request->values, err));
    lt_recorded_run_count(m->door, m->request, &m->record);
    lt_recorded_run_report(m->door, m->request->caller, &m->record, result);
    return LT_OK;
  }
  return matching_load_opened(m) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the program");
}

lt_status lt_call_matching_begin(lt_call_matching *m, const lt_run_request *request, const char *runner,
                                 const lt_door *door, lt_run_result *result, bool *ret_ended, lt_err *err) {
  const lt_caller *caller = request->caller;
  char text[LT_NOTES_IDENTITY_BYTES];
  *m = (lt_call_matching){.request = request, .door = door};
  lt_buf_init(&m->fault, LT_ERR_MSG_MAX);
  if (caller == NULL || !caller->noted || caller->journal == NULL || caller->journal->note == NULL) {
    return LT_OK;
  }
  m->journal = caller->journal;
  const lt_program_identity identity = matching_identity(request, runner);
  if (caller->recalled) {
    LT_TRY(matching_load(m, &identity, result, ret_ended, err));
  }
  if (!*ret_ended) {
    matching_note(m, LT_NOTE_BEGIN, lt_notes_put_identity(&identity, text));
  }
  return LT_OK;
}

void lt_call_matching_note_folder(const lt_call_matching *m, lt_str path) {
  if (m->journal != NULL) {
    matching_note(m, LT_NOTE_FOLDER, path);
  }
}

lt_str lt_call_matching_folder(const lt_call_matching *m) {
  const lt_note *folder = m->begun > 0 && !m->journal->final ? lt_notes_find_last(&m->record, LT_NOTE_FOLDER) : NULL;
  return folder != NULL ? folder->text : LT_STR_NULL;
}

bool lt_call_matching_warns(const lt_call_matching *m) {
  return m->begun > (m->journal != NULL && m->journal->final ? 1 : 0);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
/* The number of the first unused recorded call with that hash, otherwise the next free number. */
static uint64_t matching_take_number(lt_call_matching *m, uint64_t hash) {
  for (size_t i = 0; i < m->opened_count; i++) {
    if (!m->opened[i].is_taken && m->opened[i].hash == hash) {
      m->opened[i].is_taken = true;
      return m->opened[i].seq;
    }
  }
  uint64_t seq = ++m->last_seq;
  if (m->journal != NULL) {
    const lt_note opened = {.kind = LT_NOTE_OPEN, .number = seq, .time_us = hash};
    m->journal->note(m->journal, m->request->caller->run, &opened, NULL, NULL);
  }
  return seq;
}

/* The note of a call that failed before the journal had it. */
static const lt_note *matching_find_failure(const lt_call_matching *m, uint64_t seq) {
  for (size_t i = 0; i < m->record.note_count; i++) {
    if (m->record.notes[i].kind == LT_NOTE_READY && m->record.notes[i].number == seq) {
      return &m->record.notes[i];
    }
  }
  return NULL;
}

/* The message is the journal's, which refuses a call that it does not have. */
static bool matching_refuse(lt_call_matching *m, lt_str tool, lt_str input, uint64_t seq, lt_buf *out) LT_YIELDS {
  int64_t id;
  LT_ERR_VAR(why);
  const lt_caller *caller = m->request->caller;
  const lt_journal_call what = {.user = caller->user,
                                .run = caller->run,
                                .seq = seq,
                                .hash = lt_journal_hash(tool, input),
                                .tool = tool,
                                .input = input};
  if (m->journal->begin(m->journal, &what, &id, &why) == LT_OK) {
    return false;
  }
  lt_buf_addc(out, lt_err_msg(&why));
  lt_buf_addc(&m->fault, m->fault.n == 0 ? lt_err_msg(&why) : "");
  return true;
}

static lt_status matching_give(const lt_call_matching *m, const lt_recorded_call *call, lt_buf *out) LT_YIELDS {
  lt_buf_add(out, call->finished ? call->answer : LT_STR(LT_JOURNAL_INTERRUPTED));
  if (!call->finished) {
    (void)m->journal->finish(m->journal, call->id, LT_E_INTERRUPTED, LT_STR(LT_JOURNAL_INTERRUPTED), NULL);
  }
  return call->finished ? call->status : LT_E_INTERRUPTED;
}

bool lt_call_matching_answer(lt_call_matching *m, lt_str tool, lt_str input, uint64_t *ret_seq, lt_status *ret_status,
                             lt_buf *out) {
  *ret_seq = matching_take_number(m, lt_journal_hash(tool, input));
  const lt_recorded_call *call = lt_notes_find_call(&m->record, *ret_seq);
  const lt_note *failure = call == NULL ? matching_find_failure(m, *ret_seq) : NULL;
  bool final = m->journal != NULL && m->journal->final;
  lt_str message = LT_STR("");
  lt_buf_clear(out);
  if (failure != NULL) {
    *ret_status = lt_notes_read_failure(failure->text, &message);
    lt_buf_add(out, message);
    return *ret_status != LT_OK;
  }
  if (call != NULL && (call->finished || (!call->repeatable && !final))) {
    *ret_status = matching_give(m, call, out);
    return true;
  }
  *ret_status = LT_E_DIVERGED;
  return final && matching_refuse(m, tool, input, *ret_seq, out);
}

/* Other failures are cancelled calls, or the journal has them with their message. */
static bool matching_is_refusal(lt_status status) {
  return status == LT_E_DENIED || status == LT_E_INVALID || status == LT_E_NOTFOUND || status == LT_E_LIMIT ||
         status == LT_E_CLOSED;
}

void lt_call_matching_note_failure(const lt_call_matching *m, uint64_t seq, lt_status status, lt_str message) {
  if (m->journal == NULL || !matching_is_refusal(status)) {
    return;
  }
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  lt_notes_put_failure(&text, status, message);
  if (text.status != LT_OK && m->journal->lose != NULL) {
    m->journal->lose(m->journal, m->request->caller->run, text.status);
  } else if (text.status == LT_OK) {
    const lt_note failed = {.kind = LT_NOTE_READY, .number = seq, .text = lt_buf_view(&text)};
    m->journal->note(m->journal, m->request->caller->run, &failed, NULL, NULL);
  }
}

/* --- The end ------------------------------------------------------------------------------------------------------ */
/* A call that a failing program cancels may be missing in the next run. */
static bool matching_has_outcome(const lt_recorded_call *call) {
  return call->finished && call->status != LT_E_CANCELLED && call->status != LT_E_TIMEOUT &&
         call->status != LT_E_INTERRUPTED;
}

#define SHOWN(text) LT_STR_ARG(lt_str_sub(text, 0, LT_RECORD_SHOWN_BYTES))

static void matching_put_missing(const lt_call_matching *m, lt_buf *fault) {
  for (size_t i = 0; i < m->opened_count && fault->n == 0; i++) {
    const struct lt_call_matching_call *opened = &m->opened[i];
    const lt_recorded_call *call = opened->is_taken ? NULL : lt_notes_find_call(&m->record, opened->seq);
    if (call != NULL && matching_has_outcome(call)) {
      lt_buf_printf(fault, "it ended without a call that is on record: call %u, %.*s %.*s", (unsigned)call->seq,
                    SHOWN(call->tool), SHOWN(call->input));
    }
  }
}

static void matching_judge(const lt_call_matching *m, lt_run_result *result) {
  LT_AUTO_BUF(fault, LT_ERR_MSG_MAX);
  lt_buf_add(&fault, lt_buf_view(&m->fault));
  if (result->status != LT_E_CANCELLED) {
    matching_put_missing(m, &fault);
  }
  if (fault.n > 0) {
    lt_run_result_fail(result, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&fault)));
  }
}

void lt_call_matching_end(const lt_call_matching *m, lt_run_result *result) {
  if (m->journal != NULL && m->journal->final) {
    matching_judge(m, result);
  }
  if (m->journal == NULL || result->status == LT_E_CANCELLED || result->status == LT_E_DIVERGED) {
    return;
  }
  LT_AUTO_BUF(text, 2 * LT_JSON_MAX_BYTES);
  lt_result_note_write(result, m->request->values, &text);
  if (text.status == LT_OK && text.n > 0) {
    matching_note(m, LT_NOTE_END, lt_buf_view(&text));
  }
}

void lt_call_matching_release(lt_call_matching *m) {
  lt_buf_release(&m->fault);
  lt_mem_free(m->opened);
  lt_record_release(&m->record);
  *m = (lt_call_matching){0};
}
