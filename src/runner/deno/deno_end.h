/* How a run ended, in words. */
#ifndef LT_RUNNER_DENO_DENO_END_H
#define LT_RUNNER_DENO_DENO_END_H

#include "runner/deno/deno_run.h"

/* Whether the compiler, which was not content, has found anything that keeps the program from being run. */
bool lt_deno_has_faults(const lt_deno_run *run);
/* How it ended, into the result. */
void lt_deno_judge(lt_deno_run *run);

#endif
