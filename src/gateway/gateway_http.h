/* The gateway over HTTP: Streamable HTTP of MCP at one path, for clients of 2025-03-26 to 2025-11-25, which have a
 * session, and for those of 2026-07-28, which have none (Transports, Streamable HTTP, of both revisions).
 *
 * It answers requests of a server that somebody else owns (`lathe mcp --http`, `lathe serve`), and that has checked
 * who asks. Loop thread only.
 */
#ifndef LT_GATEWAY_GATEWAY_HTTP_H
#define LT_GATEWAY_GATEWAY_HTTP_H

#include "gateway/gateway.h"
#include "io/http_server.h"

typedef struct lt_gateway_http lt_gateway_http;

/* Errors: LT_E_NOMEM. Owns: the caller, lt_gateway_http_close. Borrows: the gateway. */
lt_status lt_gateway_http_open(lt_gateway *gateway, lt_gateway_http **ret_http, lt_err *err);
/* Ends all sessions and their streams; runs go on. No handler may come afterwards, and handlers that are inside end
 * soon: wait for them (lt_http_server_close), then free. Does not yield. */
void lt_gateway_http_finish(lt_gateway_http *http);
/* Finishes, and frees. No handler is inside. NULL is allowed. */
void lt_gateway_http_free(lt_gateway_http *http);

/* Answers one request: POST, GET or DELETE. `user`: who asks; sessions and runs are their user's alone. `trace`: the
 * request's span; may be not set. LT_YIELDS. */
void lt_gateway_http_handle(lt_gateway_http *http, const lt_http_call *call, lt_str user, const lt_trace_context *trace,
                            lt_http_answer *answer) LT_YIELDS;

#endif
