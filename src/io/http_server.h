/* An HTTP server on the loop. It uses libmicrohttpd, which it loads when the first server is opened.
 *
 * A server listens on a unix socket or on a port, of loopback unless told otherwise. Each complete request is handed to
 * the `handle` function on its own fiber. `handle` may suspend for any time; the answer is sent when it returns, or in
 * pieces while it runs. Requests on one connection are answered one after the other. Malformed, too long and too slow
 * requests never reach `handle`. The protocol is HTTP/1.1; connections are kept. Loop thread only; the server starts no
 * threads.
 */
#ifndef LT_IO_HTTP_SERVER_H
#define LT_IO_HTTP_SERVER_H

#include "base/buf.h"
#include "base/str.h"
#include "io/loop.h"

typedef struct lt_http_server lt_http_server;
typedef struct lt_http_call lt_http_call;

/* A request. Borrows: until its answer is sent. */
struct lt_http_call {
  lt_str method;
  lt_str path;       /* as received, percent escapes included */
  lt_str query;      /* the part after the "?", likewise */
  lt_str body;       /* empty while `admit` runs */
  lt_str peer;       /* the numeric address that the connection comes from; "unix": over a unix socket */
  lt_cancel *cancel; /* fired when the client disconnects (LT_E_CLOSED) and when the server closes (LT_E_CANCELLED) */
};

/* The value of the first header of this name, or empty. Case is ignored. Borrows: as long as the call. */
lt_str lt_http_call_header(const lt_http_call *call, const char *name);
/* How many headers of this name there are. */
unsigned lt_http_call_header_count(const lt_http_call *call, const char *name);

/* The answer to a request. It starts as status 200 with an empty body. */
typedef struct lt_http_answer {
  int status;
  const char *content_type; /* must live as long as the server; NULL: no such header */
  lt_buf body;
  lt_buf headers; /* lt_http_answer_header */
} lt_http_answer;

/* Adds a header. A name or value with a line break is ignored. Copies both. */
void lt_http_answer_header(lt_http_answer *answer, const char *name, lt_str value);

/* An answer in pieces, such as an event stream: the handler begins it, sends pieces as they come, and returns at its
 * end.
 *
 * Sends status, content type and headers of the answer; its body is the first piece. Once in each call. Does not yield.
 * Errors: LT_E_CLOSED (the client is gone, or the server closes). */
lt_status lt_http_call_begin(const lt_http_call *call, lt_err *err);
/* Sends a piece. Copies; does not yield. Errors: LT_E_CLOSED (the client is gone), LT_E_LIMIT (the client does not
 * read: too much waits already), LT_E_NOMEM. After an error the answer is not complete: return. */
lt_status lt_http_call_send(const lt_http_call *call, lt_str piece, lt_err *err);
/* The bytes that were sent and that the connection has not taken yet. */
size_t lt_http_call_unsent(const lt_http_call *call);
/* LT_YIELDS until at most `most` bytes are unsent. Errors: LT_E_CLOSED, LT_E_TIMEOUT; what `call->cancel` says. */
lt_status lt_http_call_drain(const lt_http_call *call, size_t most, uint64_t timeout_ms) LT_YIELDS;

typedef struct lt_http_server_options {
  const char *unix_path;  /* the socket's path: made with mode 0600, removed at the end; NULL: use `port` */
  const char *unix_group; /* the name or number of a group whose members may connect, too (0660); NULL: none */
  const char *address;    /* of IPv4 or IPv6, numeric; NULL: 127.0.0.1 */
  unsigned port;          /* 0: any that is free */
  size_t body_max;        /* bytes of a request's body; 413 for a longer one. 0: LT_HTTP_BODY_MAX_BYTES */
  size_t bodies_max;      /* of all bodies at once: connections above it are ended. 0: LT_GIB */
  size_t stream_max;      /* unsent bytes of one answer in pieces. 0: LT_HTTP_STREAM_MAX_BYTES */
  size_t head_max;        /* bytes of a request's head; 431 for a longer one. 0: LT_HTTP_SERVER_HEAD_BYTES */
  uint64_t idle_ms; /* from the connection or the last answer to a request's first line, from there to its end, and
                       between the bytes of an answer; in whole seconds. 0: LT_HTTP_IDLE_MS */
  unsigned connections_max; /* at once: a further one takes the place of one that owes a request, or has to wait. 0:
                               LT_HTTP_SERVER_CONNECTIONS_MAX. Never more than half of the files that the process may
                               have open */
  /* How many connections a peer may have; a further one takes the place of another one of the same peer. An IPv6
   * address stands for its network of 64 bits. NULL: each as many as there are. Must not yield. */
  unsigned (*connections_of)(void *arg, lt_str peer);
  /* Decides on a request's head, before its body is read. False: the answer is sent, at once and the connection
   * ends if the request has a long body, else behind a short one, which is forgotten. NULL: every request is admitted.
   * Must not yield. */
  bool (*admit)(void *arg, const lt_http_call *call, lt_http_answer *answer);
  void (*handle)(void *arg, const lt_http_call *call, lt_http_answer *answer) LT_YIELDS;
  void *arg;
} lt_http_server_options;

/* Starts to listen, and keeps the loop running. Copies the options. Errors: LT_E_UNSUPPORTED (libmicrohttpd is not
 * installed), LT_E_INVALID (the path is too long, the address or the group is none), LT_E_IO (the address cannot be
 * used), LT_E_NOMEM. Owns: the caller, lt_http_server_close. */
lt_status lt_http_server_open(lt_loop *loop, const lt_http_server_options *options, lt_http_server **ret_server,
                              lt_err *err);
/* Cancels the running handlers, waits for them, then ends all connections. LT_YIELDS. NULL is allowed. */
void lt_http_server_close(lt_http_server *server) LT_YIELDS;

/* Connections that are open now. */
unsigned lt_http_server_connections(const lt_http_server *server);
/* The port it listens on; 0: a unix socket. */
unsigned lt_http_server_port(const lt_http_server *server);

#endif
