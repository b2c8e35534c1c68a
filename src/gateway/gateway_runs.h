/* Runs of programs: prompts in mode "program", started, waited for, told. A run belongs to the user of the client that
 * began it; for all others there is none. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_RUNS_H
#define LT_GATEWAY_GATEWAY_RUNS_H

#include "gateway/gateway_request.h"

typedef struct lt_gateway_program {
  lt_str code;
  lt_str language;    /* "javascript", "typescript" or "python" */
  int64_t timeout_ms; /* 0: the configured one */
  lt_str tool;        /* the id of one tool that is called in place of a program; may be empty */
  lt_str input;       /* its input as JSON text */
  lt_str session;     /* its name; empty: none */
} lt_gateway_program;

/* Starts a program, which is stored at its first effect or wait. LT_YIELDS. Errors: those of lt_agent_start. */
lt_status lt_gateway_runs_start(const lt_gateway_request *request, const lt_gateway_program *program,
                                char ret_run[LT_STORE_ID_BYTES + 1], lt_err *err) LT_YIELDS;
/* Checks that the user has a run with that whole id. LT_YIELDS. Errors: LT_E_NOTFOUND, those of the store. */
lt_status lt_gateway_runs_find(const lt_gateway_request *request, lt_str wanted, char ret_run[LT_STORE_ID_BYTES + 1],
                               lt_err *err) LT_YIELDS;
/* Goes on with a run that no living process has. LT_OK also when it runs or has ended. LT_YIELDS. Errors:
 * those of lt_gateway_runs_find and of lt_agent_resume. */
lt_status lt_gateway_runs_continue(const lt_gateway_request *request, lt_str wanted,
                                   char ret_run[LT_STORE_ID_BYTES + 1], lt_err *err) LT_YIELDS;
/* Waits until a run of this process has ended, or for mcp.waitMs, or until the request is cancelled, and tells the run
 * as lt_gateway_runs_tell does. A run that has not ended is stored before. LT_YIELDS. Errors: those of
 * lt_gateway_runs_tell. */
lt_status lt_gateway_runs_answer(lt_gateway_request *request, lt_str run, lt_gateway_answer *ret_answer,
                                 lt_err *err) LT_YIELDS;
/* Appends what a run has said, its whole answer where it was a call of one tool, its result or its error; or, when it
 * has not ended, what it waits for and how to go on. LT_YIELDS. Errors: LT_E_NOTFOUND, those of the store. */
lt_status lt_gateway_runs_tell(const lt_gateway_request *request, lt_str run, lt_gateway_answer *ret_answer,
                               lt_err *err) LT_YIELDS;
#endif
