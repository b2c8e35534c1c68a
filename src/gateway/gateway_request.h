/* A request of a client that is being answered, and the methods of MCP in both eras. Internal to gateway/.
 *
 * A client of 2025-11-25 and earlier begins with `initialize`. One of 2026-07-28 names the version in each request
 * (`_meta`), and asks server/discover. A request is judged by what it carries, so both may use one connection.
 *
 * A request lives until its fiber has answered it. A method may suspend as long as it likes; `cancel` says when nobody
 * wants the answer any more, or when the gateway closes.
 */
#ifndef LT_GATEWAY_GATEWAY_REQUEST_H
#define LT_GATEWAY_GATEWAY_REQUEST_H

#include "gateway/gateway_peer.h"

struct lt_gateway_request {
  lt_gateway *gateway;
  lt_gateway_peer *peer;
  lt_gateway_request *prev, *next; /* of the peer */
  lt_gateway_way way;
  lt_gateway_message *message; /* owned */
  lt_arena *arena;             /* the message's: for what is needed as long as the request */
  lt_json id, params, meta;    /* meta: params._meta, or NONE */
  lt_json progress_token;      /* of _meta, a string or an integer; NONE: the client wants no progress */
  bool is_modern;              /* of 2026-07-28 */
  bool is_direct;              /* a call of one tool, whose server's progress is passed as it is */
  bool wants_input;            /* the client is to answer questions first (gateway_asking.h), of this run: */
  char input_run[LT_STORE_ID_BYTES + 1];
  bool has_brought_input; /* the client has answered some with this request */
  /* What a server wanted to ask for this call, and the client has not declared: "sampling"; NULL: nothing. */
  const char *lacking;
  const char *lacking_mode; /* of elicitation, as "url"; else NULL */
  bool is_cancelled;        /* the client has said that it does not want the answer */
  lt_cancel cancel;         /* fired by that, by the end of the connection, and by the end of the gateway */
  lt_cancel_node closing;
  lt_telemetry_mcp span; /* not set: the request is not traced */
  lt_json_writer *w;     /* where the members of the result go */
  lt_err *err;
  int code;    /* of the error, where another one than the status says; 0: that one */
  lt_str data; /* of the error: JSON text; may be empty */
};

/* Begins to answer a request on a fiber of its own. Owns the message when it returns LT_OK. Errors: LT_E_NOMEM,
 * LT_E_LIMIT. */
lt_status lt_gateway_request_begin(lt_gateway_peer *peer, const lt_gateway_way *way, lt_gateway_message *message,
                                   lt_err *err);
/* Nobody wants the answer any more. */
void lt_gateway_request_cancel(lt_gateway_request *request);

/* Whether somebody still wants the answer: false after notifications/cancelled, and when the connection has ended. */
bool lt_gateway_request_is_wanted(const lt_gateway_request *request);
/* What the client can: a member of its capabilities, such as "elicitation"; NONE: it cannot. Borrows: the request. */
lt_json lt_gateway_request_capability(const lt_gateway_request *request, const char *name);
/* Returns LT_E_UNSUPPORTED, the error with which the client is told what `lacking` says. "the server MUST return a
 * MissingRequiredClientCapabilityError" (2026-07-28) */
lt_status lt_gateway_request_fail_lacking(lt_gateway_request *request);
/* From which level on the client wants log messages for this request; empty: none were asked for. Borrows. */
lt_str lt_gateway_request_log_level(const lt_gateway_request *request);

/* Sends a notification that belongs to the request. Over HTTP the answer becomes an event stream. `params`: as
 * lt_gateway_message_put_notification. Does nothing when the answer is not wanted. */
void lt_gateway_request_notify(lt_gateway_request *request, const char *method, lt_str params);
/* Sends a whole message of ours that belongs to the request, such as a request to the client. */
void lt_gateway_request_send(lt_gateway_request *request, lt_str message);

/* Writes the members of the result to request->w. LT_OK: they are complete. Anything else is an error of the protocol:
 * request->err has the message, and `code` and `data` where they differ from what the status says. LT_YIELDS. */
lt_status lt_gateway_request_carry_out(lt_gateway_request *request) LT_YIELDS;

#endif
