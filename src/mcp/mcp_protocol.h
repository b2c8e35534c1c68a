/* MCP's messages: the protocol's versions, reading a message's kind and parts, writing our messages. Pure: bytes in,
 * bytes out.
 *
 * Quotations are from the specification of 2025-11-25 unless another version is named; sections as its pages name them.
 */
#ifndef LT_MCP_MCP_PROTOCOL_H
#define LT_MCP_MCP_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "json/json.h"
#include "trace/trace_context.h"

/* "In the `initialize` request, the client MUST send a protocol version it supports. This SHOULD be the latest version
 * supported by the client." (Lifecycle, Version Negotiation) */
#define LT_MCP_VERSION_OFFERED "2025-11-25"
#define LT_MCP_VERSION_MODERN  "2026-07-28"
#define LT_MCP_VERSIONS_TEXT   "2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05"

/* Of a server's log, messages of this level and above are asked for, and shown as warnings. */
#define LT_MCP_LOG_LEVEL "warning"

/* JSON-RPC 2.0, section 5.1. */
#define LT_MCP_METHOD_NOT_FOUND (-32601)
#define LT_MCP_INVALID_PARAMS   (-32602)
#define LT_MCP_INTERNAL_ERROR   (-32603)
/* "User rejected sampling request" (Sampling, Error Handling) */
#define LT_MCP_REJECTED (-1)
/* "the sub-range the MCP specification reserves for protocol-defined errors" (2026-07-28, Error Codes) */
#define LT_MCP_HEADER_MISMATCH     (-32020)
#define LT_MCP_MISSING_CAPABILITY  (-32021)
#define LT_MCP_UNSUPPORTED_VERSION (-32022)

/* Whether we can speak the version a server answered `initialize` with. */
bool lt_mcp_version_known(lt_str version);
/* Whether a list of versions, from server/discover or its error, has a modern one that we speak. */
bool lt_mcp_version_in(lt_json versions);

/* What we say about ourselves. */
typedef struct lt_mcp_self {
  bool is_modern;           /* each request carries the version and the capabilities */
  bool has_forms, has_urls; /* elicitation */
  bool has_sampling, has_roots;
  const char *log_level; /* NULL: LT_MCP_LOG_LEVEL */
} lt_mcp_self;

/* What a call says beside its arguments. */
typedef struct lt_mcp_call_extra {
  bool wants_progress;
  lt_str input_responses;        /* JSON text of an object; may be empty */
  lt_str request_state;          /* JSON text, as the server sent it; may be empty */
  const lt_trace_context *trace; /* NULL or without a span: the call is not traced */
} lt_mcp_call_extra;

typedef enum lt_mcp_kind {
  LT_MCP_NOISE, /* JSON, but no JSON-RPC 2.0 message */
  LT_MCP_REQUEST,
  LT_MCP_NOTIFICATION,
  LT_MCP_RESPONSE,
} lt_mcp_kind;

/* A message taken apart. Borrows the document; members that are not there are NONE. */
typedef struct lt_mcp_message {
  lt_mcp_kind kind;
  lt_json id;     /* REQUEST: a string or an integer; RESPONSE: any value */
  lt_json method; /* REQUEST, NOTIFICATION: a string */
  lt_json params;
  lt_json result; /* RESPONSE: at most one of the two is there */
  lt_json error;
} lt_mcp_message;

lt_mcp_message lt_mcp_message_read(lt_json value);

/* The number in a response's id. False when it cannot be one of our ids, which are integers and never strings. */
bool lt_mcp_id_read(lt_json id, int64_t *ret_id);

/* --- Writing: each appends one whole line, "\n" included. Errors stick in the buffer's status. -------------------- */
void lt_mcp_write_discover(lt_buf *out, int64_t id, const lt_mcp_self *self);
void lt_mcp_write_initialize(lt_buf *out, int64_t id, const lt_mcp_self *self);
void lt_mcp_write_initialized(lt_buf *out);
/* `cursor`: the JSON text of the last page's nextCursor, or empty for the first page. */
void lt_mcp_write_list(lt_buf *out, int64_t id, const lt_mcp_self *self, lt_str cursor);
/* Asks for notifications about the list of tools (2026-07-28). */
void lt_mcp_write_listen(lt_buf *out, int64_t id, const lt_mcp_self *self);
void lt_mcp_write_set_level(lt_buf *out, int64_t id, const char *level);
/* `arguments`: JSON text that has been checked to be an object; white space and lone surrogates in it may be rewritten,
 * nothing else. Progress notifications have the id as their token. */
void lt_mcp_write_call(lt_buf *out, int64_t id, const lt_mcp_self *self, lt_str tool, lt_str arguments,
                       const lt_mcp_call_extra *extra);
/* Any other request with parameters: JSON text that has been checked to be an object. Its `_meta` is left out. */
void lt_mcp_write_request(lt_buf *out, int64_t id, const lt_mcp_self *self, const char *method, lt_str params,
                          const lt_mcp_call_extra *extra);
void lt_mcp_write_cancelled(lt_buf *out, int64_t id, const char *reason);

/* --- Answers to requests of the server, without "\n", because a batch may contain them. -------------------------- */
/* `id`: the JSON text of the request's id. */
void lt_mcp_put_empty_result(lt_json_writer *w, lt_str id);
void lt_mcp_put_error(lt_json_writer *w, lt_str id, int code, const char *message);
/* `result`: the JSON text of an object. */
void lt_mcp_put_result(lt_json_writer *w, lt_str id, lt_str result);

#endif
