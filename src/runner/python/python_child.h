/* Processes forked for programs: from the request for a fork to the removal of the process's folder.
 *
 * A child belongs to its zygote's list. A run that takes a child owns it until lt_python_child_release; a child without
 * an owner is freed when its process has ended. Loop thread only. */
#ifndef LT_RUNNER_PYTHON_PYTHON_CHILD_H
#define LT_RUNNER_PYTHON_PYTHON_CHILD_H

#include <sys/types.h>

#include "runner/python/python_state.h"

typedef struct lt_python_child {
  struct lt_python_child *next;
  lt_python_zygote *zygote;
  uint32_t id;
  int connection;        /* our end of the program's connection */
  int output;            /* the read end of its output pipe */
  bool is_owned;         /* by a run; otherwise it is freed at the process's end */
  bool is_spare;         /* forked ahead, for a program that comes */
  bool has_slot;         /* it counts in lt_python.slots_taken */
  bool should_kill;      /* the zygote was too busy to take the request */
  unsigned linger_ticks; /* periods of LT_PYTHON_LINGER_MS that it has outlived its program */
  bool has_exited;
  int exit_status;    /* as waitpid has it; -1: not known */
  lt_wait *exit_wait; /* woken at the process's end; NULL: no run waits */
  char *workspace;    /* its private folder; NULL: the user's workspace is used */
  char reason[128];   /* why no process could be forked; or empty */
  pid_t pid;          /* 0: not known yet */
} lt_python_child;

/* Asks the zygote for a new process, which the caller owns. LT_YIELDS while the zygote is busy. */
lt_status lt_python_child_new(lt_python_zygote *zygote, lt_python_child **ret_child, lt_err *err) LT_YIELDS;
/* Borrows: the child with that id; NULL: none. */
lt_python_child *lt_python_child_find(const lt_python_zygote *zygote, uint32_t id);
/* Asks the zygote to kill the process; `has_exited` says when that is done. */
void lt_python_child_kill(lt_python_child *child);
/* Kills the zygote, and with it all its children: this one was killed and did not end. */
void lt_python_child_kill_zygote(lt_python_child *child);
/* The run does not need the child any more. `ends`: the process is about to end by itself, and is killed only when it
 * does not. LT_YIELDS while the folder of a process that has exited is removed. */
void lt_python_child_release(lt_python_child *child, bool ends) LT_YIELDS;
/* Gives up ownership: the child is freed when it has exited. LT_YIELDS. */
void lt_python_child_disown(lt_python_child *child) LT_YIELDS;
/* Frees a child that has exited, and removes its folder. LT_YIELDS. */
void lt_python_child_drop(lt_python_child *child) LT_YIELDS;
/* Notes the process's end and wakes the run that waits for it. */
void lt_python_child_exited(lt_python_child *child, int status);
/* Gives a program's slot to the run that waits first, or frees it. */
void lt_python_child_release_slot(lt_python *python);
/* Fails with the reason why there is no process (any more): the fork failed, or the zygote has ended. */
lt_status lt_python_child_explain_loss(const lt_python_child *child, lt_err *err);

#endif
