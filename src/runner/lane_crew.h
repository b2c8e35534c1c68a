/* The interface of threads that turn lanes of the loop (io/lane.h): the workers of a runner, and threads of a host that
 * would otherwise wait for them. */
#ifndef LT_RUNNER_LANE_CREW_H
#define LT_RUNNER_LANE_CREW_H

#include "io/lane.h"

typedef struct lt_lane_crew lt_lane_crew;
struct lt_lane_crew {
  /* Makes a lane for one run. What is posted to it begins a fiber on it, or nothing ever will. It is freed when its
   * last fiber has ended, or without one after the first post; nobody may have it in hand then. NULL: no memory. */
  lt_lane *(*new_lane)(lt_lane_crew *self);
  /* Frees a lane that nothing was posted to. */
  void (*free_lane)(lt_lane *lane);
  /* A thread that would wait is about to help, and may be wanted back from now on. */
  void (*begin_help)(lt_lane_crew *self);
  /* It runs what is next of a program, with what is said of lathe_run about its stack and signals. False: nothing is.
   * A thread that has helped is expected to come again soon, and nobody else is woken for a moment. */
  bool (*help)(lt_lane_crew *self);
  /* All threads that help shall come back, as soon as their programs can give way. */
  void (*end_help)(lt_lane_crew *self);
};

#endif
