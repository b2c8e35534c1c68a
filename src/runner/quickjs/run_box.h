/* The box that a program runs in: entered, left, and handed to the workers step by step. */
#ifndef LT_RUNNER_QUICKJS_RUN_BOX_H
#define LT_RUNNER_QUICKJS_RUN_BOX_H

#include "base/err.h"
#include "base/fiber.h"
#include "sandbox/box.h"
#include "sandbox/pool.h"
#include "sandbox/workers.h"

typedef struct lt_run lt_run;

typedef struct lt_run_box {
  lt_fiber fiber;
  lt_box *box; /* NULL: the program was dropped, or runs no more */
  lt_pool *pool;
  lt_workers_step step;
  void (*body)(lt_run *run) LT_YIELDS; /* what the fiber runs */
  bool is_dropping;                    /* the program waits and is to be dropped: it ends at its next poll */
} lt_run_box;

/* Takes a box out of the run's pool. */
lt_status lt_run_box_enter(lt_run *run, lt_err *err);
/* After a step of a program that is dropped: it waits without a box, and gets a new one when it can go on. */
void lt_run_box_drop(lt_run *run);
/* The program goes on; any thread. */
void lt_run_box_submit(lt_run *run);

#endif
