/* HTTP requests answered on the loop, by libmicrohttpd, which is loaded when the first server is opened.
 *
 * A server listens on a unix socket or on a loopback port. Every request whose body has come is handed to a function on
 * a fiber of its own, in straight-line code that may wait for as long as it likes; the answer is sent when it returns.
 * Requests on one connection are answered one after the other. What is no HTTP, too long or too slow never reaches the
 * function. HTTP/1.1, connections are kept. Loop thread only; no threads.
 */
#ifndef LT_IO_HTTP_SERVER_H
#define LT_IO_HTTP_SERVER_H

#include "base/buf.h"
#include "base/str.h"
#include "io/loop.h"

typedef struct lt_http_server lt_http_server;
typedef struct lt_http_call lt_http_call;

/* A request. Borrows: until the answer was given. */
struct lt_http_call {
  lt_str method;
  lt_str path;       /* as it came, percent signs and all */
  lt_str query;      /* what is after the "?", likewise */
  lt_str body;       /* empty while it is being admitted */
  lt_cancel *cancel; /* fired when the client has gone (LT_E_CLOSED) and when the server is closed (LT_E_CANCELLED) */
};

/* The header's value, empty when there is none; of several the first. Names in any case. Borrows as the call does. */
lt_str lt_http_call_header(const lt_http_call *call, const char *name);

/* What is answered: 200 and nothing unless it is changed. */
typedef struct lt_http_answer {
  int status;
  const char *content_type; /* lives as long as the server; NULL: none is said */
  lt_buf body;
  lt_buf headers; /* lt_http_answer_header */
} lt_http_answer;

/* Adds a header; without line breaks in either, else it is left out. Copies both. */
void lt_http_answer_header(lt_http_answer *answer, const char *name, lt_str value);

typedef struct lt_http_server_options {
  const char *unix_path; /* to be made, with mode 0600, and removed at the end; NULL: a port */
  unsigned port;         /* on 127.0.0.1; 0: any that is free */
  size_t body_max;       /* bytes of a request's body; 413 for a longer one. 0: LT_HTTP_BODY_MAX_BYTES */
  size_t bodies_max;     /* of all that there are at once: connections over that are ended. 0: LT_GIB */
  uint64_t idle_ms;      /* between pieces of a request, and between requests; in whole seconds. 0: LT_HTTP_IDLE_MS */
  unsigned connections_max; /* at once, further ones have to wait; 0: LT_HTTP_SERVER_CONNECTIONS_MAX */
  /* Looks at a request's head, before its body is read. False: the answer is given at once, and the connection ends
   * when there would be a body. NULL: everything is admitted. Must not yield. */
  bool (*admit)(void *arg, const lt_http_call *call, lt_http_answer *answer);
  void (*handle)(void *arg, const lt_http_call *call, lt_http_answer *answer) LT_YIELDS;
  void *arg;
} lt_http_server_options;

/* Listens, and keeps the loop turning. Copies the options. Errors: LT_E_UNSUPPORTED (no libmicrohttpd: what to
 * install), LT_E_INVALID (a path that is too long), LT_E_IO (the address cannot be had), LT_E_NOMEM. Owns: the caller,
 * lt_http_server_close. */
lt_status lt_http_server_open(lt_loop *loop, const lt_http_server_options *options, lt_http_server **ret_server,
                              lt_err *err);
/* Cancels what is being handled and waits for it, then ends all connections. LT_YIELDS. NULL is allowed. */
void lt_http_server_close(lt_http_server *server) LT_YIELDS;

/* The port it listens on; 0: a unix socket. */
unsigned lt_http_server_port(const lt_http_server *server);

#endif
