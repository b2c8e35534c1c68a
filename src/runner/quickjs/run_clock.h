/* The run's clock: its deadline, and the time that does not count towards it (docs/internals/approvals.md). */
#ifndef LT_RUNNER_QUICKJS_RUN_CLOCK_H
#define LT_RUNNER_QUICKJS_RUN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "io/loop.h"

typedef struct lt_run lt_run;

typedef struct lt_run_clock {
  /* Under the lock. */
  uint32_t asking;                  /* open calls that wait for approval */
  _Atomic uint64_t stands_since_ns; /* when the clock stopped; 0: it runs. The loop reads it without the lock */
  bool is_posted;                   /* standing_post is on its way to the loop */
  /* The loop's. */
  lt_post standing_post;
  bool is_reported_standing; /* the last value that on_standing got */
  lt_timer *deadline;        /* while the run's own fiber is busy with a call */
  void (*on_deadline)(lt_run *run);
} lt_run_clock;

/* Under the lock, after each change of what the program waits for: stops or continues the clock. True: the deadline has
 * moved, and the caller calls lt_run_clock_follow without the lock. The clock may stop on any thread; it continues only
 * on the loop. */
bool lt_run_clock_update(lt_run *run);
/* On the loop: restarts the waits for the deadline with the new one, and calls on_standing. */
void lt_run_clock_follow(lt_run *run);
/* On the loop: time until the deadline; UINT64_MAX while the clock stands still. */
uint64_t lt_run_clock_left_ms(lt_run *run);
/* On the loop: calls `on_deadline` at the deadline, while the run's own fiber is busy with a call. False: no memory. */
bool lt_run_clock_watch(lt_run *run, void (*on_deadline)(lt_run *run));
void lt_run_clock_unwatch(lt_run *run);
/* On the loop: a call begins or stops to wait for approval. */
void lt_run_clock_ask(lt_run *run, bool waits);

#endif
