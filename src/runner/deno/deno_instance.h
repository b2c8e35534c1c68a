/* An instance of Deno: its start from a folder to a process that waits, and its end. */
#ifndef LT_RUNNER_DENO_DENO_INSTANCE_H
#define LT_RUNNER_DENO_DENO_INSTANCE_H

#include "runner/deno/deno_state.h"

/* Starts Deno in the instance's folder, for its transport. It waits until lt_deno_program_begin. */
lt_status lt_deno_instance_start(lt_deno *deno, lt_deno_instance *instance, lt_err *err);
/* Kills the process, if there is one, and removes the folder. LT_YIELDS. */
void lt_deno_instance_release(lt_deno *deno, lt_deno_instance *instance) LT_YIELDS;

#endif
