/* What a request of a client is answered: the methods of MCP, in both eras. Internal to gateway/.
 *
 * A client of 2025-11-25 and earlier begins with `initialize`. One of 2026-07-28 names the version in each request
 * (`_meta`), and asks server/discover. A request is judged by what it carries, so both may use one connection.
 */
#ifndef LT_GATEWAY_GATEWAY_REQUEST_H
#define LT_GATEWAY_GATEWAY_REQUEST_H

#include "gateway/gateway_state.h"
#include "mcp/mcp_protocol.h"

/* Appends the whole answer to a request, as one line without its end. LT_YIELDS. */
void lt_gateway_request_answer(lt_gateway *gateway, const lt_mcp_message *request, lt_arena *arena,
                               lt_buf *out) LT_YIELDS;

#endif
