/* A run's clock: its deadline, and the time that does not count towards it (docs/internals/approvals.md). */
#ifndef LT_RUNNER_DENO_DENO_CLOCK_H
#define LT_RUNNER_DENO_DENO_CLOCK_H

#include "runner/deno/deno_run.h"

/* Stops the clock when every open call waits for approval, and lets it go on otherwise. */
void lt_deno_clock_update(lt_deno_run *run);
/* Milliseconds until the deadline; UINT64_MAX while the clock stands still. */
uint64_t lt_deno_clock_left_ms(const lt_deno_run *run);

#endif
