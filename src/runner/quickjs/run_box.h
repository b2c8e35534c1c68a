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
  lt_box *box; /* NULL: the program was dropped or has ended */
  lt_pool *pool;
  lt_workers_step step;
  void (*body)(lt_run *run) LT_YIELDS; /* what the fiber runs */
  bool is_dropping;                    /* the waiting program is being dropped: it ends at its next poll */
} lt_run_box;

/* Takes a box from the run's pool. */
lt_status lt_run_box_enter(lt_run *run, lt_err *err);
/* Ends the step of a dropped program. The program waits without a box, and gets a new one when its answer is ready. */
void lt_run_box_drop(lt_run *run);
/* Continues the program. Any thread. */
void lt_run_box_submit(lt_run *run);

#endif
