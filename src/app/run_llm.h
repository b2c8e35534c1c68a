/* llm() and llmJson() of a program that no model has written: they ask the configured model. It is looked for, and the
 * HTTP client is made, at the first question. Loop thread only. */
#ifndef LT_APP_RUN_LLM_H
#define LT_APP_RUN_LLM_H

#include "agent/llm.h"
#include "app/models.h"
#include "app/session.h"

typedef struct lt_run_llm {
  lt_llm llm;
  lt_session *session;
  lt_arena arena;
  lt_models models;
} lt_run_llm;

/* Appends the functions to those of `request`. A question fails with lt_models_find's error, which says what to set,
 * where no model is configured. The caller's journal records each question and its answer. Not to be moved.
 * Errors: LT_E_NOMEM. Owns: the caller, lt_run_llm_release, also after an error. */
lt_status lt_run_llm_init(lt_run_llm *run_llm, lt_session *session, lt_run_request *request, lt_err *err);
/* The program must have ended. */
void lt_run_llm_release(lt_run_llm *run_llm);

#endif
