#include "tool/masked_records.h"

#include "base/limits.h"
#include "json/json.h"

/* Puts the text without secrets in its place. `masked` stays empty where there are none. Borrows: both. */
static lt_status masked_records_mask(const lt_secrets *secrets, lt_str *text, lt_buf *masked) {
  if (lt_secrets_in(secrets, *text)) {
    bool is_json = lt_json_check(*text, NULL) == LT_OK;
    (is_json ? lt_secrets_mask_json : lt_secrets_mask)(secrets, *text, masked);
    *text = lt_buf_view(masked);
  }
  return masked->status;
}

/* --- The journal -------------------------------------------------------------------------------------------------- */
static lt_masked_journal *masked_journal_of(lt_journal *self) {
  return (lt_masked_journal *)self;
}

static lt_status masked_journal_begin(lt_journal *self, const lt_journal_call *call, int64_t *ret_id,
                                      lt_err *err) LT_YIELDS {
  lt_masked_journal *m = masked_journal_of(self);
  lt_journal_call shown = *call;
  LT_AUTO_BUF(tool, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(edited, LT_JSON_MAX_BYTES);
  lt_status status = masked_records_mask(m->secrets, &shown.tool, &tool);
  status = lt_status_first(status, masked_records_mask(m->secrets, &shown.input, &input));
  status = lt_status_first(status, masked_records_mask(m->secrets, &shown.edited_input, &edited));
  LT_TRY(lt_fail_if(err, status, "no memory to record a call without its secrets"));
  return m->to->begin(m->to, &shown, ret_id, err);
}

static lt_status masked_journal_finish(lt_journal *self, int64_t id, lt_status status, lt_str answer,
                                       lt_err *err) LT_YIELDS {
  lt_masked_journal *m = masked_journal_of(self);
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  if (masked_records_mask(m->secrets, &answer, &masked) != LT_OK) {
    answer = LT_STR("\"***\""); /* never a secret */
  }
  return m->to->finish(m->to, id, status, answer, err);
}

static void masked_journal_note(lt_journal *self, lt_str run, const lt_note *note,
                                void (*on_failure)(void *arg, const lt_err *err), void *arg) {
  lt_masked_journal *m = masked_journal_of(self);
  lt_note shown = *note;
  LT_AUTO_BUF(masked, 2 * LT_JSON_MAX_BYTES);
  lt_status status = masked_records_mask(m->secrets, &shown.text, &masked);
  if (status == LT_OK) {
    m->to->note(m->to, run, &shown, on_failure, arg);
    return;
  }
  if (m->to->lose != NULL) {
    m->to->lose(m->to, run, status);
  }
  if (on_failure != NULL) {
    LT_ERR_VAR(err);
    lt_fail(&err, status, "no memory to record a note without its secrets");
    on_failure(arg, &err);
  }
}

static void masked_journal_lose(lt_journal *self, lt_str run, lt_status why) {
  lt_journal *to = masked_journal_of(self)->to;
  to->lose(to, run, why);
}

static lt_status masked_journal_recall(lt_journal *self, lt_str run, lt_record *ret_record, lt_err *err) LT_YIELDS {
  lt_journal *to = masked_journal_of(self)->to;
  return to->recall(to, run, ret_record, err);
}

lt_journal *lt_masked_records_journal(lt_masked_journal *masked, lt_journal *to, const lt_secrets *secrets) {
  *masked = (lt_masked_journal){.base = {.begin = masked_journal_begin,
                                         .finish = masked_journal_finish,
                                         .note = to->note != NULL ? masked_journal_note : NULL,
                                         .lose = to->lose != NULL ? masked_journal_lose : NULL,
                                         .recall = to->recall != NULL ? masked_journal_recall : NULL,
                                         .final = to->final},
                                .to = to,
                                .secrets = secrets};
  return &masked->base;
}

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
static lt_status masked_artifacts_put(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id,
                                      lt_err *err) LT_YIELDS {
  lt_masked_artifacts *m = (lt_masked_artifacts *)self;
  lt_artifact shown = *artifact;
  lt_str *texts[] = {&shown.type, &shown.description, &shown.mime_type, &shown.data};
  lt_buf masked[sizeof texts / sizeof *texts];
  lt_status status = LT_OK;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    lt_buf_init(&masked[i], LT_JSON_MAX_BYTES);
    status = lt_status_first(status, masked_records_mask(m->secrets, texts[i], &masked[i]));
  }
  status = lt_fail_if(err, status, "the artifact is not kept: there is no room for it without its secrets");
  if (status == LT_OK) {
    status = m->to->put(m->to, &shown, ret_id, err);
  }
  for (size_t i = 0; i < sizeof masked / sizeof *masked; i++) {
    lt_buf_release(&masked[i]);
  }
  return status;
}

lt_artifacts *lt_masked_records_artifacts(lt_masked_artifacts *masked, lt_artifacts *to, const lt_secrets *secrets) {
  *masked = (lt_masked_artifacts){.base = {.put = masked_artifacts_put}, .to = to, .secrets = secrets};
  return &masked->base;
}
