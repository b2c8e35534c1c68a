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
  m->last_seq = m->record.call_count > 0 ? m->record.calls[m->record.call_count - 1].seq : 0;
  m->used = lt_mem_zalloc(m->record.call_count + 1, sizeof *m->used);
  return m->used != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the program");
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

/* The first that is left of what was called so; SIZE_MAX: there is none. */
static size_t find(const lt_matching *m, uint64_t hash) {
  size_t i = 0;
  while (i < m->record.call_count && (m->used[i] || m->record.calls[i].hash != hash)) {
    i++;
  }
  return i < m->record.call_count ? i : SIZE_MAX;
}

bool lt_matching_answer(lt_matching *m, lt_str tool, lt_str input, uint64_t *ret_seq, lt_status *ret_status,
                        lt_buf *out) {
  size_t at = m->used != NULL ? find(m, lt_journal_hash(tool, input)) : SIZE_MAX;
  if (at == SIZE_MAX) {
    *ret_seq = ++m->last_seq;
    return false;
  }
  const lt_recorded_call *call = &m->record.calls[at];
  m->used[at] = true;
  *ret_seq = call->seq;
  if (!call->finished && call->repeatable) {
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
  lt_mem_free(m->used);
  lt_record_release(&m->record);
  *m = (lt_matching){0};
}
