/* What the processes write. */
#ifndef LT_RUNNER_DENO_DENO_OUTPUT_H
#define LT_RUNNER_DENO_DENO_OUTPUT_H

#include "runner/deno/deno_run.h"

/* Fibers that read what the two processes write, and end with them. */
void lt_deno_read(void *run);
void lt_deno_read_checker(void *run);
/* Text that was not said to us, such as what Deno itself writes to its standard error. */
void lt_deno_say(lt_deno_run *run, lt_said said, lt_str text);

#endif
