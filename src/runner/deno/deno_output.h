/* What Deno's process writes: the texts and the value of the run's result. */
#ifndef LT_RUNNER_DENO_DENO_OUTPUT_H
#define LT_RUNNER_DENO_DENO_OUTPUT_H

#include "runner/deno/deno_run.h"

/* The fiber that reads Deno's standard output until its end. `run`: lt_deno_run. */
void lt_deno_output_on_fiber(void *run);
/* Waits until a process whose output has ended has ended itself, which may be long after on a machine with much to do.
 * The run's time limit ends the process. LT_YIELDS. */
void lt_deno_output_await_exit(lt_deno_run *run, const lt_process *process) LT_YIELDS;
/* Adds a text to the result, as far as there is room for its kind. */
void lt_deno_output_add(lt_deno_run *run, lt_said kind, lt_str text);

#endif
