/* The run's clock. */
#ifndef LT_RUNNER_DENO_DENO_CLOCK_H
#define LT_RUNNER_DENO_DENO_CLOCK_H

#include "runner/deno/deno_run.h"

void lt_deno_set_clock(lt_deno_run *run);
/* Until the deadline; UINT64_MAX while the clock stands still. */
uint64_t lt_deno_left_ms(const lt_deno_run *run);

#endif
