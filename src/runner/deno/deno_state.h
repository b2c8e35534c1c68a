/* The Deno runner's state: its settings, and the spare. The lt_deno owns all of it. Loop thread only. */
#ifndef LT_RUNNER_DENO_DENO_STATE_H
#define LT_RUNNER_DENO_DENO_STATE_H

#include "io/process.h"
#include "runner/deno/deno.h"

/* How Deno connects to the bridge. It depends on Deno's version what is possible, so the transports are tried once, in
 * this order. */
typedef enum lt_deno_transport {
  LT_DENO_UNIX,       /* --allow-net=unix:PATH: Deno 2.6 */
  LT_DENO_UNIX_PLAIN, /* the rights to the socket's file are enough: Deno 2.0 */
  LT_DENO_TCP,        /* a loopback port, and a secret in a header */
  LT_DENO_TRANSPORTS
} lt_deno_transport;

/* The limits that are fixed when Deno starts. */
typedef struct lt_deno_limits {
  uint64_t memory_bytes;
  unsigned long cpu_seconds;
} lt_deno_limits;

/* An instance of Deno: a private folder and a process, for one program. */
typedef struct lt_deno_instance {
  char folder[96]; /* empty: none yet */
  int lock;        /* the folder, open and locked as long as the instance lives; -1: none */
  char secret[40]; /* of the bridge */
  lt_deno_limits limits;
  lt_deno_transport transport;
  unsigned port;    /* of the bridge, over TCP */
  bool has_modules; /* the folder has imports.json, and the modules that it names */
  bool is_spare;    /* started ahead: no run waits for it */
  lt_process *process;
} lt_deno_instance;

struct lt_deno {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  char *path;            /* as configured; or NULL */
  char *typescript_path; /* likewise */
  char *helper;
  char *time_zone; /* or NULL: UTC */
  lt_deno_check check;
  bool without_walls;
  bool tcp;
  lt_deno_transport transport; /* the one that worked last, or is tried first */
  char *exe;                   /* Deno's program; NULL: not found yet */
  char *tsc;                   /* the compiler's program; NULL: not found yet */
  bool is_tsc_missing;         /* a search did not find it */
  bool has_removed_abandoned;  /* folders that killed processes of Lathe have left */

  /* The spare: deno_spare.c. */
  uint64_t spare_ms;           /* how long it waits for a program; 0: there is none */
  lt_deno_instance spare;      /* without a process: there is none */
  lt_deno_limits spare_limits; /* of the next one */
  bool is_spare_due;           /* a program has ended since the spare was last renewed */
  uint64_t last_run_ms;        /* when a program ended last */
  bool has_spare_fiber;
  lt_wait *spare_wait; /* of the spare's fiber */
  lt_wait *close_wait; /* of lt_deno_spare_close */
};

#endif
