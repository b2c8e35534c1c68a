/* The timers of a program. The worker starts a timer, the loop waits for it, and the worker takes or drops its outcome.
 *
 * A program may use millions of timers one after another, so each is freed when the program has taken it. Until then it
 * is in the worker's list; while it ticks, it is also in the loop's list. */
#ifndef LT_RUNNER_QUICKJS_GUEST_TIMERS_H
#define LT_RUNNER_QUICKJS_GUEST_TIMERS_H

#include "runner/quickjs/run_opens.h"

typedef struct lt_guest_timer lt_guest_timer;

typedef struct lt_guest_timers {
  lt_guest_timer *first;   /* the worker's list: timers not taken */
  uint32_t count;          /* length of that list */
  lt_guest_timer *ticking; /* the loop's list */
  bool has_caught_up;      /* under the lock */
  lt_post catch_up_post;
} lt_guest_timers;

/* On the worker. Starts a timer and returns its id; 0: too many timers, or no memory. */
uint32_t lt_guest_timers_open(lt_run *run, uint64_t ms);
/* On the worker: the program drops the timer. Does nothing when it was taken. */
void lt_guest_timers_drop(lt_run *run, uint32_t id);
/* On the worker: the program has taken the timer's outcome. */
void lt_guest_timers_taken(lt_run *run, lt_run_open *open);
/* On the worker, under the lock: the program begins again. No timer is open; ticking timers continue. */
void lt_guest_timers_rewind(lt_run *run);
/* Under the lock, when a step has parked (lt_run_opens.on_parked). When an earlier process began the run and the
 * program only waits for timers, each timer goes off after its remaining time. */
void lt_guest_timers_catch_up(lt_run *run);
/* On the loop, after the program's end. */
void lt_guest_timers_release(lt_run *run);

#endif
