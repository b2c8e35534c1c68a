/* Runs without a model, started by a request: prompts in mode "program". Internal to serve/. */
#ifndef LT_SERVE_SERVE_RUN_H
#define LT_SERVE_SERVE_RUN_H

#include "serve/serve_request.h"

/* Not to be moved. */
typedef struct lt_serve_run {
  lt_prompt_ids ids;
  lt_json_doc doc;
  lt_json prompt; /* as lt_agent_wait_for has it when the run has ended, else as lt_store_prompt_get */
  bool has_ended;
} lt_serve_run;

typedef struct lt_serve_run_options {
  lt_str message;   /* of program mode: a program, or a call of one tool */
  uint64_t wait_ms; /* for its end */
  bool is_kept;     /* false: it leaves nothing in the store when it ends without an effect */
} lt_serve_run_options;

/* Starts a run, and waits until it ends, the time is over, the client is gone or the server ends; in the last three
 * cases the run goes on, and is stored. LT_YIELDS. Errors: those of lt_agent_start, the store's. */
lt_status lt_serve_run_begin(lt_serve_request *request, const lt_serve_run_options *options, lt_serve_run *ret_run,
                             lt_err *err) LT_YIELDS;
/* All that it has said. Borrows: the request's arena. NULL bytes: no memory. */
lt_str lt_serve_run_text(const lt_serve_request *request, const lt_serve_run *run);

#endif
