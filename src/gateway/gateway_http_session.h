/* Sessions over HTTP of clients up to 2025-11-25: a client, its streams, and how long they are kept. Internal to
 * gateway/. */
#ifndef LT_GATEWAY_GATEWAY_HTTP_SESSION_H
#define LT_GATEWAY_GATEWAY_HTTP_SESSION_H

#include "gateway/gateway_http.h"
#include "gateway/gateway_peer.h"
#include "gateway/gateway_stream.h"

#define LT_GATEWAY_SESSION_DIGITS 32

typedef struct lt_gateway_http_session {
  struct lt_gateway_http_session *prev, *next; /* the one that was used last comes first */
  lt_gateway_http *http;
  char id[LT_GATEWAY_SESSION_DIGITS + 1];
  lt_buf user;                /* whose it is */
  lt_gateway_peer *peer;      /* NULL: the session is closed */
  lt_gateway_stream *own;     /* messages that belong to no request; number 0 */
  lt_gateway_stream *streams; /* of requests, for clients that come back; the newest first */
  uint32_t last_number;
  uint64_t used_ms;
  unsigned calls; /* handlers that are inside: the session is not freed */
  bool is_closed;
} lt_gateway_http_session;

struct lt_gateway_http {
  lt_gateway *gateway;
  lt_loop *loop;
  lt_gateway_http_session *sessions;
  size_t count;
};

/* Errors: LT_E_LIMIT (LT_GATEWAY_SESSIONS_MAX are in use), LT_E_NOMEM. The caller is inside. */
lt_status lt_gateway_http_session_open(lt_gateway_http *http, lt_str user, lt_gateway_http_session **ret_session,
                                       lt_err *err);
/* Finds a user's session and enters it; NULL: there is none. */
lt_gateway_http_session *lt_gateway_http_session_enter(lt_gateway_http *http, lt_str id, lt_str user);
void lt_gateway_http_session_leave(lt_gateway_http_session *session);
/* Ends it: its requests are cancelled, its streams end, its id is unknown from now on. */
void lt_gateway_http_session_close(lt_gateway_http_session *session);

/* A stream for a request, kept with the session. Owns: the caller is a user, lt_gateway_stream_drop. */
lt_status lt_gateway_http_session_stream(lt_gateway_http_session *session, lt_gateway_stream **ret_stream, lt_err *err);
/* The stream of this number, or NULL. Borrows: the session. */
lt_gateway_stream *lt_gateway_http_session_find(lt_gateway_http_session *session, uint32_t number);
/* The stream is not resumed: it was never more than one answer. */
void lt_gateway_http_session_forget(lt_gateway_http_session *session, lt_gateway_stream *stream);
/* Whether the client understands an event without data that names an id to come back with (2025-11-25). */
bool lt_gateway_http_session_primes(const lt_gateway_http_session *session);

#endif
