/* The structs of a server. Private to the http_server*.c files. */
#ifndef LT_IO_HTTP_SERVER_IMPL_H
#define LT_IO_HTTP_SERVER_IMPL_H

#include "io/http_server.h"
#include "io/loop_handles.h"
#include "io/microhttpd_open.h"

typedef enum lt_http_server_state {
  CALL_HEAD,    /* only its first line is known */
  CALL_BODY,    /* its body is being received */
  CALL_REFUSED, /* it is refused, and its body is being received and forgotten */
  CALL_HANDLED, /* a fiber handles it, and the library has suspended the connection */
  CALL_READY,   /* the answer is complete */
  CALL_BEGUN,   /* its head is complete, its body comes in pieces; the fiber may still handle it */
  CALL_SENT     /* the library owns the answer */
} lt_http_server_state;

/* A request that is being handled. It is freed when the library, the fiber and libuv have all released it (users). The
 * connection is NULL when the library has released it: the client is gone. */
typedef struct lt_server_call {
  lt_http_call base; /* first */
  lt_http_server *server;
  struct lt_server_call *prev, *next;
  struct MHD_Connection *connection;
  struct lt_server_client *client; /* as long as the connection; may be NULL */
  lt_http_server_state state;
  unsigned users;
  char peer[48];
  lt_buf target; /* path and query */
  lt_buf method;
  lt_buf body;
  size_t forgotten; /* bytes of the body of a refused request */
  lt_http_answer answer;
  lt_cancel cancel;
  uv_poll_t gone; /* while a fiber handles it, from the loop's next poll on */
  struct lt_server_call *next_unwatched;
  bool is_watched; /* `gone` is in use */
  bool is_left;    /* not watched, or no longer */
  /* An answer in pieces: */
  lt_buf stream;    /* what the library has not taken */
  size_t taken;     /* of it, from its start */
  bool is_ended;    /* no further piece comes */
  bool is_parked;   /* the library waits for a piece: it has suspended the connection */
  lt_wait *drained; /* of the fiber that waits until pieces are taken, or NULL */
} lt_server_call;

/* A connection. It is the library's, which keeps this with it. */
typedef struct lt_server_client {
  struct lt_server_client *prev, *next;           /* of those that owe a request, newest first */
  struct lt_server_client *prev_peer, *next_peer; /* of those in the same bucket */
  int fd;
  uint64_t since_ms; /* when it was opened, had its last answer, or began its request */
  bool is_handled; /* it has sent a whole request, which is not answered yet: it is in no list of those that owe one */
  bool is_dropped; /* it was shut down: the library has not seen that yet */
  unsigned char key[16]; /* the peer's address, IPv4 as IPv6; of IPv6 the network of 64 bits; zeros: a unix socket */
  char peer[48];         /* as in lt_http_call.peer */
} lt_server_client;

#define LT_HTTP_SERVER_BUCKETS 1024 /* of clients by their address */

struct lt_http_server {
  lt_loop *loop;
  const lt_mhd *mhd;
  lt_http_server_options options;
  char *path; /* of the socket */
  unsigned port;
  struct MHD_Daemon *daemon;
  uv_poll_t poll; /* the library's epoll descriptor */
  uv_timer_t timer;
  uv_prepare_t before_poll;
  lt_post post;
  bool posted;
  bool closing;
  unsigned handles; /* libuv handles that are not closed: poll, timer, before_poll */
  lt_server_call *calls;
  lt_server_call *unwatched;              /* handled since the loop's last poll */
  lt_server_client *owing, *oldest_owing; /* clients that owe a request */
  lt_server_client *buckets[LT_HTTP_SERVER_BUCKETS];
  uint64_t looked_ms; /* for clients that are gone */
  unsigned client_count;
  unsigned handled; /* calls that a fiber handles */
  size_t bodies;    /* bytes of the bodies of all calls */
  size_t streams;   /* bytes of pieces that are not taken, of all calls */
  lt_wait *closer;
};

/* --- http_server.c ------------------------------------------------------------------------------------------------ */
/* Lets the library work at the loop's next turn. */
void lt_http_server_ask_for_turn(lt_http_server *server);
/* Copies content type and headers of an answer. */
void lt_http_server_add_headers(const lt_mhd *mhd, struct MHD_Response *response, const lt_http_answer *answer);

/* --- http_server_clients.c ---------------------------------------------------------------------------------------- */
/* Adds a connection that the library has accepted, and drops another one where there is no room for it. NULL: no
 * memory; it is served, and is never dropped. */
lt_server_client *lt_http_server_add_client(lt_http_server *server, struct MHD_Connection *connection);
/* NULL is allowed. */
void lt_http_server_remove_client(lt_http_server *server, lt_server_client *client);
/* What the library keeps with the connection, or NULL. */
lt_server_client *lt_http_server_client_of(const lt_http_server *server, struct MHD_Connection *connection);
/* It has begun a request (owes its rest), sent the whole of it, or had its answer. NULL is allowed. */
void lt_http_server_client_owes(lt_http_server *server, lt_server_client *client);
void lt_http_server_client_is_handled(lt_http_server *server, lt_server_client *client);
/* Drops the clients that have owed a request for longer than `idle_ms`, however many bytes of it they have sent. */
void lt_http_server_drop_slow_clients(lt_http_server *server);

/* Drops the clients that are gone and that the library has not noticed: it reads at the edges of epoll, and takes a
 * read of less than it asked for as the last one, also where the end of the connection came with the bytes. Asks the
 * kernel every LT_HTTP_SERVER_LOOK_MS. */
void lt_http_server_drop_gone_clients(lt_http_server *server);

/* --- http_server_framing.c ---------------------------------------------------------------------------------------- */
/* What makes a request's head ambiguous, as the text of an answer with status 400; NULL: nothing. `version` is that of
 * its first line. */
const char *lt_http_server_framing_fault(const lt_server_call *call, const char *version);

/* --- http_server_stream.c ----------------------------------------------------------------------------------------- */
/* Gives the library the head of an answer in pieces. Called by the library. MHD_NO: the connection ends. */
enum MHD_Result lt_http_server_stream_head(lt_server_call *call);
/* The handler has returned: the answer ends behind its pieces. */
void lt_http_server_stream_end(lt_server_call *call);
/* Frees the pieces that were not taken. */
void lt_http_server_stream_drop(lt_server_call *call);

#endif
