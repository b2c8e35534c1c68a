/* The gateway on two descriptors: one JSON-RPC message a line (MCP 2025-11-25, Transports, stdio). Internal: the way in
 * of `lathe mcp`. Loop thread only. */
#ifndef LT_GATEWAY_GATEWAY_STDIO_H
#define LT_GATEWAY_GATEWAY_STDIO_H

#include "gateway/gateway.h"

/* Serves until the input ends, the client stops reading, or the session's cancel fires. A pipe, socket or terminal
 * becomes non-blocking; where the input is a file, its last requests get their answers. LT_YIELDS. Errors: LT_E_IO (a
 * descriptor cannot be used), LT_E_NOMEM. */
lt_status lt_gateway_stdio_serve(lt_gateway *gateway, lt_session *session, int in_fd, int out_fd,
                                 lt_err *err) LT_YIELDS;

#endif
