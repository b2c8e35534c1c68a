/* A program of somebody else's that answers lines with lines: a child process with two pipes. Blocking. */
#ifndef LT_BENCH_PEER_H
#define LT_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct lt_peer {
  pid_t pid;
  FILE *to;
  FILE *from;
} lt_peer;

/* Starts a program. False: it could not be; close the peer all the same. */
bool lt_peer_start(lt_peer *peer, const char *const *argv);
/* Starts bench/peers/<script> with node. False: it could not be. */
bool lt_peer_open(lt_peer *peer, const char *script);
void lt_peer_close(lt_peer *peer);

/* Sends a line and reads the answer, without its "\n". False: the peer is gone. */
bool lt_peer_ask(lt_peer *peer, const char *line, char *ret_answer, size_t room);

/* Runs a program with its output thrown away, and returns its exit code, or -1 when it could not be started or was
 * killed; `ret_ns` is the time from before its start to after its end. */
int lt_peer_run(const char *const *argv, double *ret_ns);

/* What to start for `node`, `python3`, `deno`: what the environment variable says, else `name` when it is in PATH, else
 * NULL. */
const char *lt_peer_find(const char *variable, const char *name);

/* A program beside this one. Borrows: static, until the next call. */
const char *lt_peer_find_beside(const char *name);

/* The lathe beside this program, or what LATHE in the environment says. Borrows: as above. */
const char *lt_peer_find_lathe(void);

#endif
