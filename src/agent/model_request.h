/* The exit to models: no request of the agent reaches one with a secret in it. */
#ifndef LT_AGENT_MODEL_REQUEST_H
#define LT_AGENT_MODEL_REQUEST_H

#include "agent/agent.h"
#include "json/json.h"
#include "model/model.h"

/* lt_model_complete with secrets masked in the request's messages and tools. Tells the monitor.
 * The request's trace is the span that it is below. LT_YIELDS. Errors: its
 * own. */
lt_status lt_model_request_complete(const lt_agent_options *options, const lt_completion_request *request,
                                    lt_completion *completion, lt_err *err) LT_YIELDS;

/* Writes reason, waitMs, try and tries into an open object: what readers are told of a wait (agent.h). */
void lt_model_request_put_retry(lt_json_writer *w, const lt_retry_notice *notice);

#endif
