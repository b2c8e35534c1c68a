/* Lists of fibers that wait in turn: for a slot among LT_PYTHON_RUNS_MAX, for an interpreter that starts. */
#ifndef LT_RUNNER_PYTHON_PYTHON_WAITERS_H
#define LT_RUNNER_PYTHON_PYTHON_WAITERS_H

#include "io/loop.h"

/* A fiber that waits; it lives in the frame of lt_python_waiters_wait. */
typedef struct lt_python_waiter {
  struct lt_python_waiter *next;
  lt_wait wait;
  bool is_woken;
} lt_python_waiter;

/* Waits at the list's end until the fiber is woken, or until `cancel` fires, whose reason is returned then. Afterwards
 * the fiber is in no list. LT_YIELDS. */
lt_status lt_python_waiters_wait(lt_python_waiter **list, lt_loop *loop, lt_cancel *cancel) LT_YIELDS;
void lt_python_waiters_wake_first(lt_python_waiter **list);
void lt_python_waiters_wake_all(lt_python_waiter **list);

#endif
