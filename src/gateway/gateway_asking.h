/* What Lathe asks a client of the gateway: the questions of servers (elicitation, sampling, roots), and those about
 * approvals. Internal to gateway/.
 *
 * A question belongs to a run. It goes to a client that waits for this run and has said that it can answer: up to
 * 2025-11-25 as a request, in 2026-07-28 inside an answer (`input_required`), after which the client makes its call
 * again. While no client waits for the run, the question waits. Whose client cannot answer is told so at once.
 *
 * An approval is given by `accept` alone; after anything else the call goes on waiting (docs/guide/gateway.md).
 */
#ifndef LT_GATEWAY_GATEWAY_ASKING_H
#define LT_GATEWAY_GATEWAY_ASKING_H

#include "gateway/gateway_request.h"

/* NULL: no memory. Owns: the caller, lt_gateway_asking_close. Servers' questions come here from now on. */
lt_gateway_asking *lt_gateway_asking_new(lt_gateway *gateway);
/* No request is open. Withdraws questions that nobody has answered. LT_YIELDS. NULL is allowed. */
void lt_gateway_asking_close(lt_gateway_asking *asking) LT_YIELDS;

/* Takes an event of the agent (lt_agent_options.on_event). Does not yield. */
void lt_gateway_asking_take_event(lt_gateway_asking *asking, lt_str user, const char *event, lt_str data);

/* A request that waits for a run; in the frame of its fiber. */
typedef struct lt_gateway_attending {
  struct lt_gateway_attending *next;
  lt_gateway_request *request;
  lt_str run;
  lt_cancel *until; /* fired when there is nothing to wait for before the request is answered */
} lt_gateway_attending;

/* Begins and ends the waiting: the questions of the run go to this client. */
void lt_gateway_asking_attend(lt_gateway_asking *asking, lt_gateway_attending *attending);
/* Sets request->wants_input when the client must answer first. */
void lt_gateway_asking_leave(lt_gateway_asking *asking, lt_gateway_attending *attending);

/* Writes the members of an InputRequiredResult with the questions of the request's run. */
lt_status lt_gateway_asking_put_input(lt_gateway_asking *asking, lt_gateway_request *request);
/* Writes a server's question, as inputRequests has it, for the client of this request alone. Errors: LT_E_UNSUPPORTED:
 * the client has not declared that it answers such questions; LT_E_NOMEM. */
lt_status lt_gateway_asking_put_question(lt_gateway_request *request, const lt_server_question *question);
/* Whether a call is made again with what the client was asked for. LT_OK: appends the run, and the answers have been
 * handed over. Errors: LT_E_NOTFOUND: the call has no requestState; LT_E_INVALID: it is none that this user was given.
 */
lt_status lt_gateway_asking_take_input(lt_gateway_asking *asking, lt_gateway_request *request, lt_buf *ret_run,
                                       lt_err *err);
/* Appends a line for each question of a server that is open in this run. */
void lt_gateway_asking_put_open(const lt_gateway_asking *asking, lt_str run, lt_buf *out);

#endif
