/* Who answers what servers ask (MCP: elicitation, sampling, roots): an interface that is handed down, since a server
 * knows neither the terminal nor the client or the model behind it. Loop thread only. */
#ifndef LT_SOURCE_RESPONDER_H
#define LT_SOURCE_RESPONDER_H

#include "mcp/mcp_client.h"

typedef struct lt_server_question {
  lt_mcp_ask_kind kind;
  lt_str server;     /* its name in the configuration */
  lt_str run;        /* the run whose call it is asked for (lt_caller.run); empty: it cannot be told */
  lt_json params;    /* of the request; the server's words, not checked; may be NONE */
  lt_json key;       /* what the server calls it (lt_mcp_ask.key); may be NONE */
  lt_cancel *cancel; /* fired when the server, or the call, does not want the answer any more; may be NULL */
} lt_server_question;

typedef struct lt_responder lt_responder;
struct lt_responder {
  /* What could be answered now. Must not yield. */
  lt_mcp_offers (*offers)(lt_responder *self, lt_str server);
  /* Appends the result of the question's method as JSON. LT_YIELDS. Errors: LT_E_UNSUPPORTED (nobody answers such
   * questions), LT_E_INVALID (the question itself), LT_E_DENIED (limits, or a person's no to sampling); others. */
  lt_status (*answer)(lt_responder *self, const lt_server_question *question, lt_buf *ret_result,
                      lt_err *err) LT_YIELDS;
};

#endif
