/* The gateway: Lathe as an MCP server. A client lists four tools, and with them finds and calls the tools of all
 * configured servers from programs (docs/guide/gateway.md).
 *
 * A run of a program is a prompt in mode "program" (agent/modes/program.c): it is stored, a call of it may wait for an
 * approval from anywhere, and a process after this one goes on with it. Nothing here knows how messages travel: a way
 * in hands over whole JSON-RPC messages and gets whole ones. Loop thread only.
 */
#ifndef LT_GATEWAY_GATEWAY_H
#define LT_GATEWAY_GATEWAY_H

#include "app/session.h"

typedef struct lt_gateway lt_gateway;

/* One client's connection, made by the way in. */
typedef struct lt_gateway_peer {
  /* Sends one message, JSON without a line break. Must not yield. */
  void (*send)(void *arg, lt_str message);
  void *arg;
} lt_gateway_peer;

/* `session` is open. Errors: LT_E_CONFIG, LT_E_NOMEM, the store's. LT_YIELDS. Owns: the caller, lt_gateway_close.
 * Borrows: the session. */
lt_status lt_gateway_open(lt_session *session, lt_gateway **ret_gateway, lt_err *err) LT_YIELDS;
/* No more messages come: answers the requests that are open. One that waits for a run says that the run is not done.
 * LT_YIELDS. */
void lt_gateway_finish(lt_gateway *gateway) LT_YIELDS;
/* Does that, leaves running programs to the next process, and frees the gateway. NULL is allowed.
 * LT_YIELDS. */
void lt_gateway_close(lt_gateway *gateway) LT_YIELDS;

/* Takes one message of a client: JSON text, copied. Requests are answered later, each on its own fiber. At most
 * LT_GATEWAY_REQUESTS_MAX at once; a further one is refused. Does not yield. */
void lt_gateway_take(lt_gateway *gateway, const lt_gateway_peer *peer, lt_str message);

#endif
