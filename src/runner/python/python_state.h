/* The Python runner's state: its settings, its interpreters, and the runs that wait for a process. The lt_python owns
 * all of it. Loop thread only. */
#ifndef LT_RUNNER_PYTHON_PYTHON_STATE_H
#define LT_RUNNER_PYTHON_PYTHON_STATE_H

#include "io/process.h"
#include "runner/python/python.h"
#include "runner/python/python_waiters.h"

typedef struct lt_python_zygote lt_python_zygote; /* python_zygote.h */
typedef struct lt_python_names lt_python_names;   /* python_names.h */

struct lt_python {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  char *path;
  char *workspace; /* the user's folder that programs work in; NULL: each has a private one */
  char *helper;
  char **env; /* what the interpreter is started with */
  bool without_walls;
  char *base_folder;              /* contains the private folders; made when it is needed */
  int base_lock;                  /* keeps other processes of Lathe from removing it; -1: none */
  lt_python_zygote *zygote;       /* the one that programs are forked from; or NULL */
  unsigned zygote_count;          /* zygotes that have not ended */
  unsigned removal_count;         /* folders that are being removed */
  unsigned slots_taken;           /* programs with a process, at most LT_PYTHON_RUNS_MAX */
  lt_python_waiter *slot_waiters; /* runs that wait for a slot */
  lt_wait *close_wait;            /* of lt_python_free */
  lt_python_names *names;         /* of the catalog that was used last */
};

/* Lets lt_python_free look again at what is still running. */
static inline void lt_python_wake_close(lt_python *python) {
  if (python->close_wait != NULL) {
    lt_wait_wake(python->close_wait, LT_OK);
  }
}

#endif
