/* How a Deno run ended: the status, the error message and its place in the result. */
#ifndef LT_RUNNER_DENO_DENO_END_H
#define LT_RUNNER_DENO_DENO_END_H

#include "runner/deno/deno_run.h"

/* Whether the compiler, which has failed, reports an error that keeps the program from being run. */
bool lt_deno_end_has_type_errors(const lt_deno_run *run);
/* Writes the outcome into the run's result. */
void lt_deno_end_describe(lt_deno_run *run);

#endif
