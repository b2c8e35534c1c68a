/* A client's message, read. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_MESSAGE_H
#define LT_GATEWAY_GATEWAY_MESSAGE_H

#include "mcp/mcp_protocol.h"
#include "trace/trace_context.h"

/* JSON-RPC 2.0, section 5.1, and MCP 2026-07-28, Error Codes. */
#define LT_GATEWAY_PARSE_ERROR     (-32700)
#define LT_GATEWAY_INVALID_REQUEST (-32600)
#define LT_GATEWAY_BUSY            (-32000)
#define LT_GATEWAY_NO_SESSION      (-32001)

typedef struct lt_gateway_message {
  lt_arena arena; /* owns text and index */
  lt_json_doc doc;
  lt_mcp_message parts;
  bool is_http;
  lt_trace_context around; /* the span of the request over HTTP that brought it; may be not set */
  lt_str session;          /* the id of the session over HTTP; may be empty */
} lt_gateway_message;

/* Copies and reads a message; JSON that is no message of JSON-RPC is of kind LT_MCP_NOISE. Any thread. Errors: those of
 * lt_json_parse. Owns: the caller, lt_gateway_message_free. */
lt_status lt_gateway_message_read(lt_str text, lt_gateway_message **ret_message, lt_err *err);
/* Says that it came over HTTP. Copies: the request over HTTP may end before this one. */
void lt_gateway_message_came_over_http(lt_gateway_message *message, const lt_trace_context *around, lt_str session);
/* NULL is allowed. */
void lt_gateway_message_free(lt_gateway_message *message);

/* Appends the answer of an error. `id`: the JSON text of the request's id; empty: none, as MCP has it where the id is
 * not known (JSON-RPC has null there). `data`: JSON text; may be empty. */
void lt_gateway_message_put_error(lt_buf *out, lt_str id, int code, const char *message, lt_str data);
/* Appends a notification. `params`: the JSON text of an object; may be empty. */
void lt_gateway_message_put_notification(lt_buf *out, const char *method, lt_str params);

#endif
