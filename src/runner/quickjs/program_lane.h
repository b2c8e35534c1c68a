/* Lanes that workers turn (runner/lane_crew.h): each has one program, and no thread waits with it.
 *
 * What comes for such a lane makes it a task of the workers. The worker that takes it does all there is to do: the
 * run's fibers, and the steps of its program. So a program goes from one wait to the next without waking anybody.
 */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_LANE_H
#define LT_RUNNER_QUICKJS_PROGRAM_LANE_H

#include "runner/lane_crew.h"
#include "sandbox/workers.h"

typedef struct lt_program_lanes {
  lt_lane_crew crew; /* first */
  lt_loop *loop;
  lt_workers *workers;
} lt_program_lanes;

/* Borrows both. Lanes are made only while the loop is shared. */
void lt_program_lanes_init(lt_program_lanes *lanes, lt_loop *loop, lt_workers *workers);

#endif
