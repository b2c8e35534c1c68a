/* The Deno runner: TypeScript and JavaScript in a Deno process of their own, one per run. One may be started ahead.
 *
 * Tool calls come over a bridge, HTTP on a unix socket in the run's private folder, and go through the door
 * (docs/internals/deno.md). TypeScript's own compiler checks types first, unless that is turned off; Deno starts
 * meanwhile. Deno's only permission is the socket. Loop thread only.
 */
#ifndef LT_RUNNER_DENO_DENO_H
#define LT_RUNNER_DENO_DENO_H

#include "io/loop.h"
#include "runner/runner.h"
#include "tool/door.h"

typedef struct lt_deno lt_deno;

typedef enum lt_deno_check {
  LT_DENO_CHECK_IF_FOUND, /* typescript.check is not set: types are checked where there is a compiler */
  LT_DENO_CHECK_ALWAYS,   /* true: without a compiler no TypeScript runs */
  LT_DENO_CHECK_NEVER     /* false */
} lt_deno_check;

typedef struct lt_deno_options {
  lt_loop *loop;
  lt_door *door;
  const char *path;            /* deno.path; NULL: `deno` in PATH, then in node_modules/.bin beside build/ */
  const char *typescript_path; /* typescript.path, a `tsc`; NULL: likewise */
  const char *time_zone;       /* of programs' local time; NULL: UTC */
  lt_deno_check check;
  const char *helper; /* the full path of a program that knows `__jail` (jail/jail.h); NULL: "/proc/self/exe" */
  bool without_walls; /* programs run although a wall cannot be had */
  bool tcp;           /* the bridge on a loopback port with a secret, as where unix sockets cannot be had */
  uint64_t ahead_ms;  /* once a program has run, a Deno is started ahead and waits so long for the next; 0: none is */
} lt_deno_options;

/* Starts nothing yet. Copies the paths. Borrows: loop and door. Errors: LT_E_NOMEM. Owns: the caller, lt_deno_free. */
lt_status lt_deno_new(const lt_deno_options *options, lt_deno **ret_deno, lt_err *err);
/* Every run must have ended. NULL is allowed. LT_YIELDS until the spare is gone. */
void lt_deno_free(lt_deno *deno) LT_YIELDS;

/* As one runner among others, "deno": TypeScript and JavaScript. Borrows: lives as long as `deno`. Where Deno is
 * missing or too old, run says LT_E_NOTFOUND and names the embedded engine. */
lt_runner *lt_deno_runner(lt_deno *deno);

#endif
