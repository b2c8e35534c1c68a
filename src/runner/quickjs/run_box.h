/* The box that a program runs in: entered, left, and handed to the workers step by step. */
#ifndef LT_RUNNER_QUICKJS_RUN_BOX_H
#define LT_RUNNER_QUICKJS_RUN_BOX_H

#include "base/err.h"
#include "base/fiber.h"
#include "io/loop.h"
#include "sandbox/box.h"
#include "sandbox/box_rest.h"
#include "sandbox/pool.h"
#include "sandbox/workers.h"

typedef struct lt_run lt_run;

typedef struct lt_run_box {
  lt_fiber fiber;
  lt_box *box; /* NULL: the program has not begun, was dropped or has ended */
  lt_pool *pool;
  lt_pool_waiter waiter; /* for a box */
  lt_workers_step step;
  void (*body)(lt_run *run) LT_YIELDS; /* what the fiber runs */
  bool is_dropping;                    /* the waiting program is being dropped: it ends at its next poll */
  bool needs_box;                      /* it waits for a box: every one is in use, or its own is */
  bool gives_way;                      /* it leaves its box to another program, and continues after it */
  bool never_rests;                    /* its memory is too large */
  bool should_rest;                    /* the step shall only take it out of its box */
  bool is_resting;                     /* under the run's lock: it waits outside of its box */
  lt_box_rest rest;
  lt_box *home;        /* that it continues in after its rest */
  bool has_begun;      /* it has had a box */
  lt_status status;    /* why it could not begin */
  lt_err *err;         /* of the run's fiber, which waits meanwhile */
  lt_post post;        /* brings a box to a run on a lane */
  bool is_due;         /* the run's own fiber runs the next step, on its lane */
  bool has_begun_here; /* ... and has run the one with which the program began */
} lt_run_box;

/* The program shall run `body` in a box of that pool, which the first step takes. `err` tells why it could not begin,
 * with the status in lt_run_box. */
void lt_run_box_init(lt_run *run, lt_pool *pool, void (*body)(lt_run *run) LT_YIELDS, lt_err *err);
/* In a step: whether the program has a box, or was given one. */
bool lt_run_box_has(const lt_run *run);
/* In a step: takes a box, unless the program is in one. False: the step ends. */
bool lt_run_box_enter(lt_run *run);
/* After the step: waits for a box. The program continues when it gets one, or when it is stopped. */
void lt_run_box_wait(lt_run *run);
/* After the step of a program that gave way to another one: it continues when it has its box again. */
void lt_run_box_continue(lt_run *run);
/* On the loop, under the run's lock: ends that wait. True: the program must be submitted. */
bool lt_run_box_forget(lt_run *run);
/* After the step: a program that waits leaves its box. It stays there when there is no memory, or it is too large. */
void lt_run_box_rest(lt_run *run);
/* Ends a program at rest that was stopped. Its frames never run again, so they own nothing. */
void lt_run_box_abandon(lt_run *run);
/* After the step of a dropped program. It waits without a box, and takes a new one when its answer is ready. */
void lt_run_box_drop(lt_run *run);
/* Queues the first step, and the next one of a program that waited. Any thread; of a run on a lane: who holds the
 * loop. */
void lt_run_box_begin(lt_run *run);
void lt_run_box_resume(lt_run *run);
/* Has a worker give a used box back to its pool, where one has time, if its memory has grown: to unmap that takes long.
 * False: give it back yourself. Its pages are in this processor's caches, and this thread knows which they are. */
bool lt_run_box_give_later(lt_workers *workers, lt_pool *pool, lt_box *box);

#endif
