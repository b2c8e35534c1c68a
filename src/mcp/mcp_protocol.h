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

/* "In the `initialize` request, the client MUST send a protocol version it supports. This SHOULD be the latest version
 * supported by the client." (Lifecycle, Version Negotiation) */
#define LT_MCP_VERSION_OFFERED "2025-11-25"
#define LT_MCP_VERSIONS_TEXT   "2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05"

/* JSON-RPC 2.0, section 5.1. */
#define LT_MCP_METHOD_NOT_FOUND (-32601)
#define LT_MCP_INVALID_PARAMS   (-32602)

/* Whether we can speak the version a server answered with. */
bool lt_mcp_version_known(lt_str version);

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
void lt_mcp_write_initialize(lt_buf *out, int64_t id);
void lt_mcp_write_initialized(lt_buf *out);
/* `cursor`: the JSON text of the last page's nextCursor, or empty for the first page. */
void lt_mcp_write_list(lt_buf *out, int64_t id, lt_str cursor);
/* `arguments`: JSON text that has been checked to be an object; white space and lone surrogates in it may be rewritten,
 * nothing else. `progress` asks for progress notifications, with the id as their token. */
void lt_mcp_write_call(lt_buf *out, int64_t id, lt_str tool, lt_str arguments, bool progress);
void lt_mcp_write_cancelled(lt_buf *out, int64_t id, const char *reason);

/* --- Answers to requests of the server, without "\n", because a batch may contain them. -------------------------- */
/* `id`: the JSON text of the request's id. */
void lt_mcp_put_empty_result(lt_json_writer *w, lt_str id);
void lt_mcp_put_error(lt_json_writer *w, lt_str id, int code, const char *message);

#endif
