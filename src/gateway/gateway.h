/* The gateway: Lathe as an MCP server. A client lists four tools, and with them finds and calls the tools of all
 * configured servers from programs (docs/guide/gateway.md).
 *
 * A run of a program is a prompt in mode "program" (agent/modes/program.c): it is stored, a call of it may wait for an
 * approval from anywhere, and a process after this one goes on with it. Nothing here knows how messages travel: a way
 * in hands over whole JSON-RPC messages and gets whole ones. Loop thread only.
 */
#ifndef LT_GATEWAY_GATEWAY_H
#define LT_GATEWAY_GATEWAY_H

#include "agent/agent.h"
#include "app/session.h"

typedef struct lt_gateway lt_gateway;

/* One client: a connection, or a session over HTTP. */
typedef struct lt_gateway_peer lt_gateway_peer;

/* Where messages to a client go: JSON without a line break. Neither function may yield. */
typedef struct lt_gateway_way {
  void (*send)(void *arg, lt_str message);
  /* Of a request: the last message, its answer, with the error's code or 0. An empty one: there is no answer, because
   * the client has withdrawn the request or is gone. NULL: answers are sent as any message. */
  void (*end)(void *arg, lt_str answer, int code);
  void *arg;
} lt_gateway_way;

/* `session` is open. `agent`: who runs the programs, where the process has an agent already; its events go to
 * lt_gateway_take_event and lt_gateway_take_call, and it is freed between lt_gateway_finish and lt_gateway_close. NULL:
 * one of the gateway's own. Errors: LT_E_CONFIG, LT_E_NOMEM, the store's. LT_YIELDS. Owns: the caller,
 * lt_gateway_close. Borrows: both. */
lt_status lt_gateway_open(lt_session *session, lt_agent *agent, lt_gateway **ret_gateway, lt_err *err) LT_YIELDS;
/* Takes an event of the agent that was handed over. Does not yield. */
void lt_gateway_take_event(lt_gateway *gateway, lt_str user, const char *event, lt_str data);
/* Takes an event of one of its calls (lt_agent_options.on_call). Does not yield. */
void lt_gateway_take_call(lt_gateway *gateway, lt_str run, const lt_call_event *event);
/* Waits until no request is open, at most mcp.waitMs, or until the session's cancel fires. LT_YIELDS. */
void lt_gateway_drain(lt_gateway *gateway) LT_YIELDS;
/* No more messages come: answers the requests that are open. One that waits for a run says that the run is not done.
 * LT_YIELDS. */
void lt_gateway_finish(lt_gateway *gateway) LT_YIELDS;
/* Does that, leaves running programs to the next process, and frees the gateway. NULL is allowed.
 * LT_YIELDS. */
void lt_gateway_close(lt_gateway *gateway) LT_YIELDS;

/* Makes a client of `user` known: its runs and their sessions are this user's, and it finds no others. Copies the name,
 * and `way`, which is where messages go that belong to none of the client's requests, and the
 * others where lt_gateway_take names no other way. Errors: LT_E_NOMEM. Owns: the caller, lt_gateway_peer_close. */
lt_status lt_gateway_peer_open(lt_gateway *gateway, const lt_gateway_way *way, lt_str user, lt_gateway_peer **ret_peer,
                               lt_err *err);
/* The connection has ended. Its ways are not used again, except for `end` of open requests without an answer, which
 * is called from their fibers. Requests stop to wait; runs go on, and continue_run finds them. Does not yield. NULL is
 * allowed. */
void lt_gateway_peer_close(lt_gateway_peer *peer);

/* Takes one message of a client: JSON text, copied. Requests are answered later, each on its own fiber; then `end` of
 * `way` is called once for each request (NULL: the client's own way). At most LT_GATEWAY_REQUESTS_MAX at once; a
 * further one is refused. What is no request calls `end` before this returns. Does not yield. */
void lt_gateway_take(lt_gateway_peer *peer, const lt_gateway_way *way, lt_str message);

#endif
