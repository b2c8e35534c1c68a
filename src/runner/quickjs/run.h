/* One program in the QuickJS runner: the shared state, and one struct for each part.
 *
 * Two threads use it: the worker that runs the program's step, and the loop. `lock` protects the members that both use.
 * All other members belong to the worker while a step runs, and to the loop before the first step and after the last.
 */
#ifndef LT_RUNNER_QUICKJS_RUN_H
#define LT_RUNNER_QUICKJS_RUN_H

#include <pthread.h>

#include "io/lane.h"
#include "replay/tape.h"
#include "runner/call_warnings.h"
#include "runner/exec_pragma.h"
#include "runner/quickjs/call_queue.h"
#include "runner/quickjs/guest_timers.h"
#include "runner/quickjs/program_call.h"
#include "runner/quickjs/program_text.h"
#include "runner/quickjs/quickjs.h"
#include "runner/quickjs/run_box.h"
#include "runner/quickjs/run_clock.h"
#include "runner/quickjs/run_memory.h"
#include "runner/quickjs/run_opens.h"
#include "runner/quickjs/run_rest.h"
#include "runner/quickjs/run_values.h"
#include "runner/quickjs/said_texts.h"
#include "sandbox/engine.h"
#include "sandbox/workers.h"
#include "tool/catalog.h"

/* Whether the one that asks is the only run. Any thread. */
bool lt_quickjs_is_alone(const lt_quickjs *quickjs);

struct lt_run {
  lt_workers_task task; /* first: the workers hand it back as this */
  lt_quickjs *quickjs;
  lt_loop *loop;
  lt_lane *lane; /* of the run's fiber: its posts go there */
  lt_door *door;
  lt_workers *workers;
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_exec_pragma pragma;   /* `request` is its, when the program has one */
  lt_engine_result engine; /* how the engine ended */
  lt_run_memory memory;    /* what the program leaves for the next one of its session */

  lt_tape tape;
  lt_run_box box;
  lt_workers_visit visit; /* of the thread that turns its lane */
  lt_program_text text;

  /* The worker's. */
  lt_buf reply; /* the text of the last answer that the worker composed */
  lt_said_texts said;
  lt_program_calls calls;
  lt_guest_timers timers;
  lt_run_values values;
  lt_call_warnings warnings;

  pthread_mutex_t lock;
  lt_run_opens opens;
  lt_run_clock clock;

  /* The loop's. */
  lt_wait wait;
  lt_cancel cancel;
  lt_post done_post;
  bool is_finished;
  lt_call_queue queue;
  lt_run_rest_link rest;
};

#endif
