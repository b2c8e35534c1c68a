/* Servers under load: a child process that says at which port it listens, and wrk, which asks it again and again from
 * many connections. Everything is on this machine, so the load's own time is in every figure. Blocking. */
#ifndef LT_BENCH_LOAD_H
#define LT_BENCH_LOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "bench/measure.h"

typedef struct lt_load_server {
  pid_t pid;
  int said; /* what it says: kept open, or it could not say more */
  unsigned port;
} lt_load_server;

/* Starts a program, and waits until it says "http://127.0.0.1:PORT". It ends with this process, too. False: it did not
 * start. */
bool lt_load_server_start(lt_load_server *server, const char *const *argv);
/* Ends it by SIGTERM, and by SIGKILL where that does not help. A server that did not start is allowed. */
void lt_load_server_stop(lt_load_server *server);

typedef struct lt_load {
  const char *path;
  const char *body;     /* of each POST, JSON */
  const char *expected; /* each answer has this text */
  const char *accept;   /* NULL: anything */
  unsigned connections; /* that ask all the time */
  unsigned seconds;
} lt_load;

/* What one turn of a load has shown. */
typedef struct lt_load_seen {
  double rate;   /* answers in a second */
  double failed; /* answers that were not as expected, and requests without an answer */
} lt_load_seen;

/* Puts a load on a server. The latencies' thousandths are added to `latency`. False: wrk could not be started. */
bool lt_load_run(const lt_load_server *server, const lt_load *load, lt_measure *latency, lt_load_seen *ret_seen);

/* Opens a connection, whose reads end after half a minute. `receive_bytes`: of the kernel's buffer; 0: as usual.
 * Errors: -1. Owns: the caller, close. */
int lt_load_connect(const lt_load_server *server, int receive_bytes);
/* Opens a connection and sends a GET. `receive_bytes`: of the kernel's buffer; 0: as usual. Errors: -1. Owns: the
 * caller, close. */
int lt_load_open_get(const lt_load_server *server, const char *path, int receive_bytes);
/* Sends a request and reads the whole answer, head and body, on a connection that stays open. False: none has come, it
 * does not say its Content-Length, or it is longer than `room`. */
bool lt_load_ask(int fd, const char *request, char *ret_answer, size_t room);

#endif
