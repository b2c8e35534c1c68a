/* The interpreter that Python programs are forked from, as python_zygote.c (its life) and python_child.c (its
 * processes) share it. */
#ifndef LT_RUNNER_PYTHON_PYTHON_ZYGOTE_H
#define LT_RUNNER_PYTHON_PYTHON_ZYGOTE_H

#include "runner/python/python_child.h"
#include "io/watch.h"

struct lt_zygote {
  lt_python *python;
  lt_process *process;
  int control;
  lt_watch *watch;
  lt_wait wait;
  bool ready;
  bool closing;
  bool deaf; /* its control socket is closed */
  bool over; /* nothing comes from it any more */
  bool making_spare;
  unsigned users;            /* its children, and fibers in the middle of something */
  lt_err why;                /* why it is over */
  lt_python_child *children; /* all of them, the spare too, until they are released */
  lt_python_child *spare;
  uint32_t last_id;
  lt_python_waiter *starters; /* those that wait for it to be ready */
};

/* It is freed when it is over and nobody uses it. */
void lt_zygote_unuse(lt_zygote *zygote);

/* --- Waiting in turn ---------------------------------------------------------------------------------------------- */
/* Until somebody wakes it, or the cancel does. Afterwards it is in no list. LT_YIELDS. */
lt_status lt_python_wait_in(lt_python_waiter **list, lt_loop *loop, lt_cancel *cancel) LT_YIELDS;
void lt_python_wait_wake_first(lt_python_waiter **list);
void lt_python_wait_wake_all(lt_python_waiter **list);
/* A program has ended: whoever waits has its place. */
void lt_python_give_place(lt_python *python);
/* Whoever waits for the runner's end looks again. */
void lt_python_wake_closer(lt_python *python);

/* --- Its processes ------------------------------------------------------------------------------------------------ */
/* Asks for another one, which is the caller's (`owned`). LT_YIELDS while the interpreter is busy. */
lt_status lt_python_child_new(lt_zygote *zygote, lt_python_child **ret_child, lt_err *err) LT_YIELDS;
lt_python_child *lt_python_child_find(const lt_zygote *zygote, uint32_t id);
/* It has ended so; whoever waits is told. */
void lt_python_child_exited(lt_python_child *child, int status);
/* Nobody has it any more: it goes when it ends. LT_YIELDS. */
void lt_python_child_disown(lt_python_child *child) LT_YIELDS;
/* It has ended and goes, and its folder with it. LT_YIELDS. */
void lt_python_child_drop(lt_python_child *child) LT_YIELDS;

/* Ends the interpreter. LT_YIELDS until it is gone. */
void lt_python_end_zygote(lt_python *python) LT_YIELDS;

#endif
