#include "runner/matching.h"

#include <stdio.h>

#include "base/mem.h"
#include "runner/tape.h"

static void note(const lt_matching *m, uint32_t kind, lt_str text) {
  m->journal->note(m->journal, m->caller->run, &(lt_note){.kind = kind, .text = text}, NULL, NULL);
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

/* Which runner, and which program. */
static lt_str identity(const lt_run_request *request, const char *runner, char text[64]) {
  int n = snprintf(text, 64, "%s %016llx", runner, (unsigned long long)lt_str_hash(request->code));
  return lt_str_from(text, (size_t)n);
}

/* A call's number is noted before anybody is asked about it, or it is recorded: whatever is known of it later is known
 * by that. */
static bool load_opened(lt_matching *m) {
  m->opened = lt_mem_zalloc(m->record.note_count + 1, sizeof *m->opened);
  for (size_t i = 0; m->opened != NULL && i < m->record.note_count; i++) {
    const lt_note *n = &m->record.notes[i];
    if (n->kind == LT_NOTE_OPEN) {
      m->opened[m->opened_count++] = (struct lt_matched){.seq = n->number, .hash = n->time_us};
      m->last_seq = n->number > m->last_seq ? n->number : m->last_seq;
    }
  }
  return m->opened != NULL;
}

static lt_status load(lt_matching *m, lt_str identity, lt_run_result *result, lt_values *values, bool *ret_ended,
                      lt_err *err) LT_YIELDS {
  LT_TRY(m->journal->recall(m->journal, m->caller->run, &m->record, err));
  const lt_note *begun = find_note(&m->record, LT_NOTE_BEGIN);
  const lt_note *ended = find_note(&m->record, LT_NOTE_END);
  if (begun == NULL) {
    return LT_OK;
  }
  if (!lt_str_eq(begun->text, identity)) {
    lt_run_fail(result, LT_E_DIVERGED, "diverged: another program, or another runner's, is on record here");
    *ret_ended = true;
    return LT_OK;
  }
  m->again = true;
  if (ended != NULL) {
    *ret_ended = true;
    return lt_run_result_recall(ended->text, result, values, err);
  }
  return load_opened(m) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the program");
}

lt_status lt_matching_begin(lt_matching *m, const lt_run_request *request, const char *runner, lt_run_result *result,
                            bool *ret_ended, lt_err *err) {
  const lt_caller *caller = request->caller;
  char text[64];
  *m = (lt_matching){.caller = caller};
  if (caller == NULL || !caller->noted || caller->journal == NULL || caller->journal->note == NULL) {
    return LT_OK;
  }
  m->journal = caller->journal;
  lt_str is = identity(request, runner, text);
  if (caller->recalled) {
    LT_TRY(load(m, is, result, request->values, ret_ended, err));
  }
  if (!m->again && !*ret_ended) {
    note(m, LT_NOTE_BEGIN, is);
  }
  return LT_OK;
}

void lt_matching_note_folder(const lt_matching *m, lt_str path) {
  if (m->journal != NULL) {
    note(m, LT_NOTE_FOLDER, path);
  }
}

lt_str lt_matching_folder(const lt_matching *m) {
  const lt_note *folder = m->again ? find_note(&m->record, LT_NOTE_FOLDER) : NULL;
  return folder != NULL ? folder->text : LT_STR_NULL;
}

/* The number of the first that is left of what was called so, or the next one. */
static uint64_t number_for(lt_matching *m, uint64_t hash) {
  for (size_t i = 0; i < m->opened_count; i++) {
    if (!m->opened[i].taken && m->opened[i].hash == hash) {
      m->opened[i].taken = true;
      return m->opened[i].seq;
    }
  }
  uint64_t seq = ++m->last_seq;
  if (m->journal != NULL) {
    m->journal->note(m->journal, m->caller->run, &(lt_note){.kind = LT_NOTE_OPEN, .number = seq, .time_us = hash}, NULL,
                     NULL);
  }
  return seq;
}

static const lt_recorded_call *find_recorded(const lt_matching *m, uint64_t seq) {
  for (size_t i = 0; i < m->record.call_count; i++) {
    if (m->record.calls[i].seq == seq) {
      return &m->record.calls[i];
    }
  }
  return NULL;
}

bool lt_matching_answer(lt_matching *m, lt_str tool, lt_str input, uint64_t *ret_seq, lt_status *ret_status,
                        lt_buf *out) {
  *ret_seq = number_for(m, lt_journal_hash(tool, input));
  const lt_recorded_call *call = find_recorded(m, *ret_seq);
  if (call == NULL || (!call->finished && call->repeatable)) {
    return false;
  }
  lt_buf_clear(out);
  lt_buf_add(out, call->finished ? call->answer : LT_STR(LT_JOURNAL_INTERRUPTED));
  *ret_status = call->finished ? call->status : LT_E_INTERRUPTED;
  if (!call->finished) {
    (void)m->journal->finish(m->journal, call->id, LT_E_INTERRUPTED, LT_STR(LT_JOURNAL_INTERRUPTED), NULL);
  }
  return true;
}

void lt_matching_end(const lt_matching *m, const lt_run_result *result, const lt_secrets *secrets) {
  lt_buf text, masked;
  if (m->journal == NULL || result->status == LT_E_CANCELLED || result->status == LT_E_DIVERGED) {
    return;
  }
  lt_buf_init(&text, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&masked, 2 * LT_JSON_MAX_BYTES);
  lt_run_result_note(result, NULL, &text);
  if (text.status == LT_OK) {
    lt_secrets_mask_json(secrets, lt_buf_view(&text), &masked);
  }
  if (masked.status == LT_OK && masked.n > 0) {
    note(m, LT_NOTE_END, lt_buf_view(&masked));
  }
  lt_buf_release(&masked);
  lt_buf_release(&text);
}

void lt_matching_release(lt_matching *m) {
  lt_mem_free(m->opened);
  lt_record_release(&m->record);
  *m = (lt_matching){0};
}
