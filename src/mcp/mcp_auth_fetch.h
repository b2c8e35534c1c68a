/* Requests to authorization servers, and for the documents that lead to them: small answers, no redirects, no plain
 * HTTP but on this machine. */
#ifndef LT_MCP_MCP_AUTH_FETCH_H
#define LT_MCP_MCP_AUTH_FETCH_H

#include "base/arena.h"
#include "io/http.h"
#include "json/json.h"

typedef struct lt_mcp_auth_fetch {
  lt_http *http;
  lt_str url;
  bool may_be_local;    /* also http:// on this machine, because the MCP server itself is there */
  lt_str form;          /* the body of a POST, application/x-www-form-urlencoded; empty: GET, or ... */
  lt_str json;          /* ... the body of a POST, application/json */
  lt_str authorization; /* the header's value; may be empty */
  lt_cancel *cancel;    /* may be NULL */
} lt_mcp_auth_fetch;

typedef struct lt_mcp_auth_reply {
  int status;
  lt_json_doc doc; /* must not be moved: `root` points to it */
  lt_json root;    /* an object, or NONE where the body is none */
} lt_mcp_auth_reply;

/* Carries the request out. LT_YIELDS. LT_OK for every HTTP status; the body is an object or nothing. Owns: the arena.
 * Errors: LT_E_DENIED (not https), LT_E_LIMIT (the answer is over LT_MCP_AUTH_BODY_MAX_BYTES), those of lt_http_open.
 * No message contains a path, a query or a body. */
lt_status lt_mcp_auth_fetch_run(const lt_mcp_auth_fetch *fetch, lt_arena *arena, lt_mcp_auth_reply *ret_reply,
                                lt_err *err) LT_YIELDS;
/* Whether such an address may be asked: https://, or http:// on this machine if `may_be_local`. */
bool lt_mcp_auth_fetch_may(lt_str url, bool may_be_local);

#endif
