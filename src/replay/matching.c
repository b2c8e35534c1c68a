#include "replay/matching.h"

#include <stdio.h>

#include "base/mem.h"
#include "runner/quickjs/tape.h"

static void note(const lt_call_matching *m, uint32_t kind, lt_str text) {
  m->journal->note(m->journal, m->request->caller->run, &(lt_note){.kind = kind, .text = text}, NULL, NULL);
}

/* The last of a kind. */
static const lt_note *find_note(const lt_record *record, uint32_t kind) {
  for (size_t i = record->note_count; i > 0; i--) {
    if (record->notes[i - 1].kind == kind) {
      return &record->notes[i - 1];
    }
  }
  return NULL;
}

static unsigned count_notes(const lt_record *record, uint32_t kind) {
  unsigned count = 0;
  for (size_t i = 0; i < record->note_count; i++) {
    count += record->notes[i].kind == kind;
  }
  return count;
}

/* Which runner, and which program. */
static lt_str identity(const lt_run_request *request, const char *runner, char text[64]) {
  int n = snprintf(text, 64, "%s %016llx", runner, (unsigned long long)lt_str_hash(request->code));
  return lt_str_from(text, (size_t)n);
}

/* A call's number is noted before anybody is asked about it, or it is recorded: whatever is known of it later is known
 * by that. */
static bool load_opened(lt_call_matching *m) {
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

static lt_status load(lt_call_matching *m, lt_str identity, lt_run_result *result, lt_stored_values *values,
                      bool *ret_ended, lt_err *err) LT_YIELDS {
  LT_TRY(m->journal->recall(m->journal, m->request->caller->run, &m->record, err));
  const lt_note *begun = find_note(&m->record, LT_NOTE_BEGIN);
  const lt_note *ended = find_note(&m->record, LT_NOTE_END);
  if (begun == NULL) {
    return LT_OK;
  }
  if (!lt_str_eq(begun->text, identity)) {
    lt_run_result_fail(result, LT_E_DIVERGED, "diverged: another program, or another runner's, is on record here");
    *ret_ended = true;
    return LT_OK;
  }
  m->begun = count_notes(&m->record, LT_NOTE_BEGIN);
  if (ended != NULL) {
    *ret_ended = true;
    LT_TRY(lt_result_note_read(ended->text, result, values, err));
    lt_recorded_run_count(m->door, m->request, &m->record);
    lt_recorded_run_report(m->door, m->request->caller, &m->record, result);
    return LT_OK;
  }
  return load_opened(m) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the program");
}

lt_status lt_call_matching_begin(lt_call_matching *m, const lt_run_request *request, const char *runner,
                                 const lt_door *door, lt_run_result *result, bool *ret_ended, lt_err *err) {
  const lt_caller *caller = request->caller;
  char text[64];
  *m = (lt_call_matching){.request = request, .door = door};
  lt_buf_init(&m->fault, LT_ERR_MSG_MAX);
  if (caller == NULL || !caller->noted || caller->journal == NULL || caller->journal->note == NULL) {
    return LT_OK;
  }
  m->journal = caller->journal;
  lt_str is = identity(request, runner, text);
  if (caller->recalled) {
    LT_TRY(load(m, is, result, request->values, ret_ended, err));
  }
  if (!*ret_ended) {
    note(m, LT_NOTE_BEGIN, is);
  }
  return LT_OK;
}

void lt_call_matching_note_folder(const lt_call_matching *m, lt_str path) {
  if (m->journal != NULL) {
    note(m, LT_NOTE_FOLDER, path);
  }
}

lt_str lt_call_matching_folder(const lt_call_matching *m) {
  const lt_note *folder = m->begun > 0 && !m->journal->final ? find_note(&m->record, LT_NOTE_FOLDER) : NULL;
  return folder != NULL ? folder->text : LT_STR_NULL;
}

bool lt_call_matching_warns(const lt_call_matching *m) {
  return m->begun > (m->journal != NULL && m->journal->final ? 1 : 0);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
/* The number of the first that is left of what was called so, or the next one. */
static uint64_t number_for(lt_call_matching *m, uint64_t hash) {
  for (size_t i = 0; i < m->opened_count; i++) {
    if (!m->opened[i].taken && m->opened[i].hash == hash) {
      m->opened[i].taken = true;
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

static const lt_recorded_call *find_recorded(const lt_call_matching *m, uint64_t seq) {
  for (size_t i = 0; i < m->record.call_count; i++) {
    if (m->record.calls[i].seq == seq) {
      return &m->record.calls[i];
    }
  }
  return NULL;
}

/* How a call failed that never got as far as the journal. */
static const lt_note *find_failure(const lt_call_matching *m, uint64_t seq) {
  for (size_t i = 0; i < m->record.note_count; i++) {
    if (m->record.notes[i].kind == LT_NOTE_READY && m->record.notes[i].number == seq) {
      return &m->record.notes[i];
    }
  }
  return NULL;
}

/* The journal's words for it: it refuses whatever it has not. */
static bool refuse(lt_call_matching *m, lt_str tool, lt_str input, uint64_t seq, lt_buf *out) LT_YIELDS {
  int64_t id;
  lt_err why = LT_ERR_INIT;
  const lt_caller *caller = m->request->caller;
  const lt_journal_call what = {.user = caller->user,
                                .run = caller->run,
                                .seq = seq,
                                .hash = lt_journal_hash(tool, input),
                                .tool = tool,
                                .input = lt_secrets_in(lt_door_secrets(m->door), input) ? LT_STR("{}") : input};
  if (m->journal->begin(m->journal, &what, &id, &why) == LT_OK) {
    return false;
  }
  lt_buf_addc(out, lt_err_msg(&why));
  lt_buf_addc(&m->fault, m->fault.n == 0 ? lt_err_msg(&why) : "");
  return true;
}

static lt_status give(const lt_call_matching *m, const lt_recorded_call *call, lt_buf *out) LT_YIELDS {
  lt_buf_add(out, call->finished ? call->answer : LT_STR(LT_JOURNAL_INTERRUPTED));
  if (!call->finished) {
    (void)m->journal->finish(m->journal, call->id, LT_E_INTERRUPTED, LT_STR(LT_JOURNAL_INTERRUPTED), NULL);
  }
  return call->finished ? call->status : LT_E_INTERRUPTED;
}

bool lt_call_matching_answer(lt_call_matching *m, lt_str tool, lt_str input, uint64_t *ret_seq, lt_status *ret_status,
                             lt_buf *out) {
  *ret_seq = number_for(m, lt_journal_hash(tool, input));
  const lt_recorded_call *call = find_recorded(m, *ret_seq);
  const lt_note *failure = call == NULL ? find_failure(m, *ret_seq) : NULL;
  bool final = m->journal != NULL && m->journal->final;
  lt_str message = LT_STR("");
  lt_buf_clear(out);
  if (failure != NULL) {
    *ret_status = lt_tape_read_failure(failure->text, &message);
    lt_buf_add(out, message);
    return *ret_status != LT_OK;
  }
  if (call != NULL && (call->finished || (!call->repeatable && !final))) {
    *ret_status = give(m, call, out);
    return true;
  }
  *ret_status = LT_E_DIVERGED;
  return final && refuse(m, tool, input, *ret_seq, out);
}

/* Others are cut short, or in the journal: it has their message. */
static bool is_refusal(lt_status status) {
  return status == LT_E_DENIED || status == LT_E_INVALID || status == LT_E_NOTFOUND || status == LT_E_LIMIT ||
         status == LT_E_CLOSED;
}

void lt_call_matching_note_failure(const lt_call_matching *m, uint64_t seq, lt_status status, lt_str message) {
  lt_buf text;
  if (m->journal == NULL || !is_refusal(status)) {
    return;
  }
  lt_buf_init(&text, LT_JSON_MAX_BYTES);
  lt_buf_printf(&text, "%s ", lt_status_name(status));
  lt_buf_add(&text, message);
  if (text.status == LT_OK) {
    const lt_note failed = {.kind = LT_NOTE_READY, .number = seq, .text = lt_buf_view(&text)};
    m->journal->note(m->journal, m->request->caller->run, &failed, NULL, NULL);
  }
  lt_buf_release(&text);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */
/* What a program that fails cuts short it may cut short earlier, and then it is not called at all. */
static bool has_come_to_something(const lt_recorded_call *call) {
  return call->finished && call->status != LT_E_CANCELLED && call->status != LT_E_TIMEOUT &&
         call->status != LT_E_INTERRUPTED;
}

#define SHOWN(text) LT_STR_ARG(lt_str_sub(text, 0, LT_RECORD_SHOWN_BYTES))

static void put_missing(const lt_call_matching *m, lt_buf *fault) {
  for (size_t i = 0; i < m->opened_count && fault->n == 0; i++) {
    const struct lt_call_matching_call *one = &m->opened[i];
    const lt_recorded_call *call = one->taken ? NULL : find_recorded(m, one->seq);
    if (call != NULL && has_come_to_something(call)) {
      lt_buf_printf(fault, "it ended without a call that is on record: call %u, %.*s %.*s", (unsigned)call->seq,
                    SHOWN(call->tool), SHOWN(call->input));
    }
  }
}

static void judge(const lt_call_matching *m, lt_run_result *result) {
  lt_buf fault;
  lt_buf_init(&fault, LT_ERR_MSG_MAX);
  lt_buf_add(&fault, lt_buf_view(&m->fault));
  if (result->status != LT_E_CANCELLED) {
    put_missing(m, &fault);
  }
  if (fault.n > 0) {
    lt_run_result_fail(result, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&fault)));
  }
  lt_buf_release(&fault);
}

void lt_call_matching_end(const lt_call_matching *m, lt_run_result *result) {
  lt_buf text, masked;
  if (m->journal != NULL && m->journal->final) {
    judge(m, result);
  }
  if (m->journal == NULL || result->status == LT_E_CANCELLED || result->status == LT_E_DIVERGED) {
    return;
  }
  lt_buf_init(&text, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&masked, 2 * LT_JSON_MAX_BYTES);
  lt_result_note_write(result, m->request->values, &text);
  if (text.status == LT_OK) {
    lt_secrets_mask_json(lt_door_secrets(m->door), lt_buf_view(&text), &masked);
  }
  if (masked.status == LT_OK && masked.n > 0) {
    note(m, LT_NOTE_END, lt_buf_view(&masked));
  }
  lt_buf_release(&masked);
  lt_buf_release(&text);
}

void lt_call_matching_release(lt_call_matching *m) {
  lt_buf_release(&m->fault);
  lt_mem_free(m->opened);
  lt_record_release(&m->record);
  *m = (lt_call_matching){0};
}
