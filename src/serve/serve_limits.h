/* How much each of those who ask may use (server.limits). Internal to serve/.
 *
 * A guest is a user, or an address that no user is known of. Each has its own rate and its own counts, so that the
 * excess of one costs the others nothing. What a user sends never counts for an address: many users may have one. A
 * server without tokens has one user, its own person, who is not bounded unless the configuration says so.
 *
 * A request is charged once, when its head is there. Over a limit its answer is 429 with Retry-After; where the server
 * as a whole has no room, 503.
 */
#ifndef LT_SERVE_SERVE_LIMITS_H
#define LT_SERVE_SERVE_LIMITS_H

#include "serve/serve_request.h"

/* What a request holds at once. */
typedef enum lt_serve_seat {
  LT_SERVE_SEAT_REQUEST, /* from its handler's start to its end */
  LT_SERVE_SEAT_READER,  /* a stream of events */
  LT_SERVE_SEAT_QUEUED,  /* it waits for a conversation */
  LT_SERVE_SEAT_PROMPT,  /* it starts a prompt; those that the agent runs are counted, too */
  LT_SERVE_SEATS
} lt_serve_seat;

/* Errors: LT_E_NOMEM. Owns: the caller, lt_serve_limits_close. */
lt_status lt_serve_limits_open(lt_serve *serve, lt_err *err);
/* The configuration has changed: its bounds count from the next request on. */
void lt_serve_limits_reload(lt_serve *serve);
/* NULL is allowed. */
void lt_serve_limits_close(lt_serve_limits *limits);

/* The number of connections that the server can have: fewer than configured where too few files may be open, and then
 * a warning says so. */
unsigned lt_serve_limits_connections(lt_serve *serve);
/* For lt_http_server_options: `serve` is an lt_serve. */
unsigned lt_serve_limits_connections_of(void *serve, lt_str peer);

/* Counts a request against the rate of its user, or of its client's address while no user is known. False: too many,
 * and the answer says so. */
bool lt_serve_limits_charge(lt_serve_request *request);
/* Takes one seat. False: there is none, and the answer says so. A seat that the request holds already is not taken
 * twice. */
bool lt_serve_limits_take(lt_serve_request *request, lt_serve_seat seat);
/* Gives a seat back, if the request holds it. */
void lt_serve_limits_give(lt_serve_request *request, lt_serve_seat seat);
void lt_serve_limits_give_all(lt_serve_request *request);

#endif
