/* The functions llm() and llmJson(), with which a program asks a model (seed 015): of a prompt, or of `lathe run`. */
#ifndef LT_AGENT_LLM_H
#define LT_AGENT_LLM_H

#include "base/arena.h"
#include "io/http.h"
#include "model/model.h"
#include "runner/run_request.h"
#include "text/secrets.h"
#include "tool/monitor.h"

typedef struct lt_llm lt_llm;
struct lt_llm {
  lt_http *http;
  const lt_secrets *secrets; /* masked in what the model is asked; may be NULL */
  lt_monitor *monitor;       /* is told of questions; may be NULL */
  lt_str run;                /* whose programs ask: a prompt's id, or empty */
  const lt_model *model;
  /* Called before each question; may be NULL. It may set `http` and `model`. Its error is the function's. */
  lt_status (*prepare)(lt_llm *self, lt_err *err) LT_YIELDS;
  /* Called after each question, also after a failed one; may be NULL. Must not yield. */
  void (*on_completion)(void *arg, const lt_completion *completion);
  /* Called before each wait for another try; may be NULL. Must not yield. */
  void (*on_retry)(void *arg, const lt_retry_notice *notice);
  void *arg;
};

/* Appends both functions to those of `world`, in the arena. Borrows `llm`, as long as programs run. False: no memory.
 */
bool lt_llm_add_functions(lt_llm *llm, lt_arena *arena, lt_run_request *world);

#endif
