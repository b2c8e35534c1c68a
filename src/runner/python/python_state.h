/* What the Python runner keeps: the interpreter's settings, its processes, who waits for one. The loop's thread. */
#ifndef LT_RUNNER_PYTHON_PYTHON_STATE_H
#define LT_RUNNER_PYTHON_PYTHON_STATE_H

#include "io/process.h"
#include "runner/python/python.h"

typedef struct lt_zygote lt_zygote;             /* zygote.h */
typedef struct lt_python_names lt_python_names; /* python_names.h */

typedef struct lt_python_waiter {
  struct lt_python_waiter *next;
  lt_wait wait;
  bool woken;
} lt_python_waiter;

struct lt_python {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  char *path;
  char *workspace; /* fixed; or NULL */
  char *helper;
  char *base;    /* the folder with the private workspaces; made when it is needed */
  int base_lock; /* keeps others from removing it; -1: none */
  char **env;    /* what the interpreter is started with */
  bool without_walls;
  lt_zygote *zygote;       /* the one that programs come from; or NULL */
  unsigned zygotes;        /* that have not ended */
  unsigned removals;       /* of folders, that go on */
  unsigned running;        /* programs with a process */
  lt_python_waiter *queue; /* those that wait for others to end */
  lt_wait *closer;
  lt_python_names *names; /* of the catalog seen last */
};

#endif
