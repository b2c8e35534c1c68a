/* What the Deno runner keeps: its settings, and rooms, which are folders with a Deno in them. The loop's thread. */
#ifndef LT_RUNNER_DENO_DENO_STATE_H
#define LT_RUNNER_DENO_DENO_STATE_H

#include "io/process.h"
#include "runner/deno/deno.h"

/* How Deno is asked to allow the bridge: what it understands depends on its version, so that one after the other is
 * tried, once. */
typedef enum lt_deno_way {
  LT_DENO_UNIX,       /* --allow-net=unix:PATH: Deno 2.6 */
  LT_DENO_UNIX_PLAIN, /* the rights to the socket's file are enough: Deno 2.0 */
  LT_DENO_TCP,        /* a loopback port, and a secret in a header */
  LT_DENO_WAYS
} lt_deno_way;

/* What is fixed when Deno starts. */
typedef struct lt_deno_limits {
  uint64_t memory_bytes;
  unsigned long cpu_seconds;
} lt_deno_limits;

/* A private folder, and a Deno in it that waits for the word that its program is there. One program is all it runs. */
typedef struct lt_deno_room {
  char folder[96]; /* empty: none yet */
  int lock;        /* the folder, open: whoever holds it is alive; -1 */
  char secret[40]; /* of the bridge */
  lt_deno_limits limits;
  lt_deno_way way;
  unsigned port;    /* of the bridge, over TCP */
  bool has_modules; /* imports.json is there, and what it names */
  bool ahead;       /* nobody waits for it yet */
  lt_process *process;
} lt_deno_room;

struct lt_deno {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  char *path;            /* as configured; or NULL */
  char *typescript_path; /* likewise */
  char *helper;
  lt_deno_check check;
  bool without_walls;
  bool tcp;
  lt_deno_way way; /* that worked last, or is to be tried first */
  char *exe;       /* Deno itself, when it has been found */
  char *tsc;       /* TypeScript's compiler, likewise */
  bool no_tsc;     /* it was looked for in vain */
  bool swept;

  /* What is kept for the next program (deno_spare.c). */
  uint64_t ahead_ms;     /* 0: nothing */
  lt_deno_room spare;    /* without a process: there is none */
  lt_deno_limits wanted; /* of the next one */
  bool due;              /* a program has ended since it was looked at */
  uint64_t used_ms;      /* when one did last */
  bool keeping;          /* a fiber looks after it ... */
  lt_wait *keeper;       /* ... and waits here */
  lt_wait *closer;       /* who waits for the end of that */
};

#endif
