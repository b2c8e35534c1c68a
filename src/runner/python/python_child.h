/* Processes forked for programs: from the fork that is asked for to the folder that is removed. */
#ifndef LT_RUNNER_PYTHON_PYTHON_CHILD_H
#define LT_RUNNER_PYTHON_PYTHON_CHILD_H

#include <sys/types.h>

#include "runner/python/python_state.h"

/* A process forked for a program. */
typedef struct lt_python_child {
  struct lt_python_child *next;
  lt_zygote *zygote;
  uint32_t id;
  int connection; /* our end */
  int output;     /* what it prints */
  bool owned;     /* by a run; otherwise it goes when it ends */
  bool counted;   /* in lt_python.running */
  bool to_kill;   /* could not be told to */
  unsigned ticks; /* of waiting for its end */
  bool exited;
  int status;       /* as waitpid has it; -1: not known */
  lt_wait *wait;    /* woken when it has exited; NULL: nobody has it yet */
  char *workspace;  /* a folder of its own, or NULL */
  char reason[128]; /* why there was no process; or empty */
  pid_t pid;        /* 0: not told yet */
} lt_python_child;

/* A process that waits for its program. Starts the interpreter when it does not run. LT_YIELDS; `cancel` ends the
 * waiting. Owns: the caller, lt_python_child_release. */
lt_status lt_python_child_take(lt_python *python, lt_wait *wait, lt_cancel *cancel, lt_python_child **ret_child,
                               lt_err *err) LT_YIELDS;
/* Asks for its end; `exited` says when it has come. */
void lt_python_child_kill(lt_python_child *child);
/* It was killed and is still there: the interpreter, and all that came from it, is given up. */
void lt_python_child_give_up(lt_python_child *child);
/* It is not needed any more. What has to be tidied up is done without anybody waiting. `ends`: it is about to end by
 * itself, and is killed only when it does not. LT_YIELDS while its folder is removed, when it has exited already. */
void lt_python_child_release(lt_python_child *child, bool ends) LT_YIELDS;
/* Has one forked for the next program, unless there is one. LT_YIELDS. */
void lt_python_child_prepare(lt_python *python) LT_YIELDS;
/* How the interpreter that it came from has ended. */
lt_status lt_python_child_lost(const lt_python_child *child, lt_err *err);

#endif
