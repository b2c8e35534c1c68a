/* Timers of a program: started on the worker, ticking on the loop, their outcome taken or dropped on the worker.
 *
 * A program may use millions of them one after another, so each is freed when it has been taken. Until then it is in
 * the worker's list; while it ticks also in the loop's. */
#ifndef LT_RUNNER_QUICKJS_GUEST_TIMERS_H
#define LT_RUNNER_QUICKJS_GUEST_TIMERS_H

#include "runner/quickjs/run_opens.h"

typedef struct lt_guest_timer lt_guest_timer;

typedef struct lt_guest_timers {
  lt_guest_timer *first;   /* the worker's: those not taken */
  uint32_t count;          /* of these */
  lt_guest_timer *ticking; /* the loop's */
  bool has_caught_up;      /* under the lock */
  lt_post catch_up_post;
} lt_guest_timers;

/* On the worker. The timer's id; 0: there are too many, or there is no memory. */
uint32_t lt_guest_timers_open(lt_run *run, uint64_t ms);
/* On the worker: the program does not want it any more; nothing happens when it has been taken. */
void lt_guest_timers_drop(lt_run *run, uint32_t id);
/* On the worker: the program has its outcome. */
void lt_guest_timers_taken(lt_run *run, lt_run_open *open);
/* On the worker, under the lock: none is open any more; those that tick go on, for a program that is begun again. */
void lt_guest_timers_rewind(lt_run *run);
/* Under the lock, when a step has parked (lt_run_opens.on_parked): where the run was begun by an earlier process and
 * waits for nothing but timers, those go off after what remained of them when that process ended. */
void lt_guest_timers_catch_up(lt_run *run);
/* On the loop, after the program's end. */
void lt_guest_timers_release(lt_run *run);

#endif
