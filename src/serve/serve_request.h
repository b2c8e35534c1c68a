/* One request: who asks, what for, and the answer. Internal to serve/.
 *
 * A handler reads `user`, `id` and `body`, which have been checked against its row in the table of routes, and writes
 * one JSON value with `w`. A failure that it returns becomes {"error": {"code", "message"}} with the status' HTTP code;
 * lt_serve_request_refuse is for every other code. All texts live as long as the request.
 */
#ifndef LT_SERVE_SERVE_REQUEST_H
#define LT_SERVE_SERVE_REQUEST_H

#include "json/json.h"
#include "serve/serve_state.h"

struct lt_serve_route;

typedef struct lt_serve_request {
  lt_serve *serve;
  const lt_http_call *call;
  lt_http_answer *answer;
  const struct lt_serve_route *route;
  lt_arena *arena;
  lt_json_writer w;       /* on the answer's body */
  lt_trace_context trace; /* the request's span; may be not set */
  lt_str user;
  bool is_known;                /* `user` is who asks; false: a route that needs no user, or the request is refused */
  bool is_own;                  /* ... and is everybody who reaches a server without tokens */
  lt_str token;                 /* the hash of the token that it came with; empty: none */
  lt_str id;                    /* of the path, decoded; empty: it has none */
  lt_json body;                 /* NONE: there is none */
  struct lt_serve_guest *guest; /* whose limits count (serve_limits.h) */
  unsigned seats;               /* that it holds, a bit for each lt_serve_seat */
  struct lt_serve_request *prev, *next; /* while it is carried out: lt_serve.requests */
} lt_serve_request;

/* The decoded value of a query's parameter, or empty. */
lt_str lt_serve_request_query(const lt_serve_request *request, const char *name);
/* The same as a number from `min` to `max`, or `standard` when it is missing. LT_E_INVALID. */
lt_status lt_serve_request_number(const lt_serve_request *request, const char *name, int64_t min, int64_t max,
                                  int64_t standard, int64_t *ret_n, lt_err *err);
/* A member of the body that is a string; empty: it has none. */
lt_str lt_serve_request_text(const lt_serve_request *request, const char *name);

/* Decodes percent escapes into the arena. False: no memory, a bad escape, a NUL, or bytes that are no UTF-8. */
bool lt_serve_request_decode(lt_str text, lt_arena *arena, lt_str *ret);

/* Makes an error of the answer. `code`: one lower-case word for programs. Replaces what was written. Returns LT_OK, so
 * that a handler can end with it. */
lt_status lt_serve_request_refuse(lt_serve_request *request, int http_status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a failure. */
void lt_serve_request_fail(lt_serve_request *request, const lt_err *err);

#endif
