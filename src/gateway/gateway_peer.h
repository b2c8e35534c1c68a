/* One client: what it has said about itself, its requests that are open, and our requests that it has not answered.
 * Internal to gateway/.
 *
 * A client up to 2025-11-25 says with `initialize` who it is and what it can; one of 2026-07-28 with each request.
 * lt_gateway_request_capability and its neighbours (gateway_request.h) know the difference.
 */
#ifndef LT_GATEWAY_GATEWAY_PEER_H
#define LT_GATEWAY_GATEWAY_PEER_H

#include "gateway/gateway_message.h"
#include "gateway/gateway_state.h"

/* A request of ours that waits for the client's answer. In the frame or object of who waits. */
typedef struct lt_gateway_expected {
  struct lt_gateway_expected *prev, *next;
  int64_t id; /* set by lt_gateway_peer_expect */
  /* Called once, when it is no longer linked. NULL: no answer comes, the client is gone. Borrows: during the call. Must
   * not yield. */
  void (*on_response)(void *arg, const lt_mcp_message *response);
  void *arg;
} lt_gateway_expected;

struct lt_gateway_peer {
  lt_gateway *gateway;
  lt_gateway_peer *prev, *next; /* of the gateway */
  lt_gateway_way way;
  lt_str user;                  /* whose runs it has */
  lt_gateway_request *requests; /* that are open */
  lt_gateway_expected *expected;
  int64_t last_id; /* of our requests */
  size_t users;    /* requests, and whoever opened it: the last one frees it */
  bool is_closed;
  lt_arena arena;     /* the user's name, and what initialize has said */
  lt_json hello;      /* the params of initialize; NONE before it, and for clients of 2026-07-28 */
  lt_str version;     /* that was agreed on; empty before it */
  char log_level[16]; /* logging/setLevel; empty: not set */
};

/* Remembers what `initialize` says, and the version that was agreed on. Copies. Errors: LT_E_LIMIT (too often, or too
 * long: LT_GATEWAY_PEER_BYTES). */
lt_status lt_gateway_peer_greet(lt_gateway_peer *peer, lt_json params, lt_str version, lt_err *err);

/* Sends a notification that belongs to no request. `params`: as lt_gateway_message_put_notification. */
void lt_gateway_peer_notify(lt_gateway_peer *peer, const char *method, lt_str params);

/* Gives a request of ours its id, and waits for its answer. The client is not closed. */
void lt_gateway_peer_expect(lt_gateway_peer *peer, lt_gateway_expected *expected);
/* Does not wait any longer. Also allowed after the answer. */
void lt_gateway_peer_forget(lt_gateway_peer *peer, lt_gateway_expected *expected);

/* Takes a message that is read: as lt_gateway_take. Owns the message from here on. */
void lt_gateway_peer_take(lt_gateway_peer *peer, const lt_gateway_way *way, lt_gateway_message *message);

/* The last user frees the peer. Internal to gateway_peer.c and gateway_request.c. */
void lt_gateway_peer_drop(lt_gateway_peer *peer);

#endif
