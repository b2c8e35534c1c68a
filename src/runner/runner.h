/* The interface of runners, which carry out programs. One implementation per engine (quickjs/, deno/, python/).
 *
 * A runner takes a program's text, runs it in its sandbox with the tools of a door, and returns how it ended.
 */
#ifndef LT_RUNNER_RUNNER_H
#define LT_RUNNER_RUNNER_H

#include "runner/lane_crew.h"
#include "runner/run_request.h"
#include "runner/run_result.h"
#include "tool/monitor.h"

/* Sandboxes of a runner: now, and so far. */
typedef struct lt_runner_boxes {
  uint64_t used;   /* with a program inside, or being cleaned */
  uint64_t pooled; /* clean, for the next program */
  uint64_t taken, cleaned;
} lt_runner_boxes;

/* The program's language and the configuration choose the runner, not the caller. */
typedef struct lt_runner lt_runner;
struct lt_runner {
  const char *id;               /* "quickjs" */
  lt_monitor *monitor;          /* set by who hands the runner out; NULL: nobody is told of programs */
  bool keeps_lane;              /* its `run` may be called on any lane of the loop (io/lane.h) */
  lt_lane_crew *crew;           /* whose lanes its runs may be on; NULL: none */
  bool (*speaks)(lt_lang lang); /* whether it runs programs in that language */
  /* Runs a program to its end. LT_YIELDS. `result` (initialised) gets the program's end, also a failure. The returned
   * status is LT_OK, or why the run could not begin (LT_E_NOMEM, LT_E_NOTFOUND: an interpreter is missing,
   * LT_E_UNSUPPORTED: a wall is not available; the message says what to do). Borrows the request until it returns.
   * After a success it waits for the program's open calls; after a failure or a stop it cancels them. */
  lt_status (*run)(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) LT_YIELDS;
  /* Starts in advance what the first program needs; NULL: nothing. LT_YIELDS. */
  lt_status (*warm)(lt_runner *self, lt_err *err) LT_YIELDS;
  /* Adds the runner's sandboxes to `boxes`; NULL: it has none that are used again. */
  void (*count_boxes)(lt_runner *self, lt_runner_boxes *boxes);
  /* Frees the runner. Every run must have ended. LT_YIELDS. */
  void (*free)(lt_runner *self) LT_YIELDS;
};

/* Runs a program, as `run` says, and tells the monitor. LT_YIELDS. */
lt_status lt_runner_run(lt_runner *runner, const lt_run_request *request, lt_run_result *result, lt_err *err) LT_YIELDS;

#endif
