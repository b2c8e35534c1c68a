/* From what was written to what is run. */
#ifndef LT_RUNNER_DENO_DENO_PROGRAM_TEXT_H
#define LT_RUNNER_DENO_DENO_PROGRAM_TEXT_H

#include "runner/deno/deno_run.h"

/* What was written, made ready. False: `result` says why it cannot be run. */
bool lt_deno_prepare(lt_deno_run *run);

#endif
