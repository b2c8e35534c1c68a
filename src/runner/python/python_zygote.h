/* The zygote: the interpreter that Python programs are forked from.
 *
 * A fiber of its own starts the zygote, reads its control socket and frees it. Others that use a zygote across a yield
 * hold a reference. Loop thread only. */
#ifndef LT_RUNNER_PYTHON_PYTHON_ZYGOTE_H
#define LT_RUNNER_PYTHON_PYTHON_ZYGOTE_H

#include "base/mem.h"
#include "io/watch.h"
#include "runner/python/python_child.h"

struct lt_python_zygote {
  lt_python *python;
  lt_process *process;
  int control; /* our end of the control socket */
  lt_watch *watch;
  lt_wait wait; /* of the zygote's fiber */
  bool is_ready;
  bool is_closing;
  bool is_control_closed;
  bool has_ended;
  bool is_making_spare;
  unsigned reference_count;   /* its children, its fiber, and fibers that wait for it */
  lt_err end_reason;          /* why it has ended */
  lt_python_child *children;  /* all that are not freed, the spares, too; the newest first */
  unsigned spare_count;       /* processes forked ahead */
  unsigned spares_wanted;     /* one, or more while programs follow each other */
  uint64_t last_program_ms;   /* when a program took a process */
  uint32_t last_id;           /* of a child */
  lt_python_waiter *starters; /* fibers that wait until it is ready */
};

/* Gives up a reference. A zygote that has ended is freed with the last one. */
static inline void lt_python_zygote_unref(lt_python_zygote *zygote) {
  zygote->reference_count--;
  if (zygote->has_ended && zygote->reference_count == 0) {
    lt_mem_free(zygote);
  }
}

/* Takes a process that waits for its program, and a slot for it. Starts the interpreter unless it runs. `wait` is woken
 * at the process's end. Owns: the caller, lt_python_child_release. LT_YIELDS; `cancel` ends the waiting. */
lt_status lt_python_zygote_take_child(lt_python *python, lt_wait *wait, lt_cancel *cancel, lt_python_child **ret_child,
                                      lt_err *err) LT_YIELDS;
/* Forks processes for the next programs, unless there are enough. LT_YIELDS. */
void lt_python_zygote_prepare_spares(lt_python *python) LT_YIELDS;
/* Ends the interpreter. LT_YIELDS until it is gone. */
void lt_python_zygote_close(lt_python *python) LT_YIELDS;

#endif
