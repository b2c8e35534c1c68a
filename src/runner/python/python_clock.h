/* A run's clock: its deadline, and the time that does not count towards it (docs/internals/approvals.md). */
#ifndef LT_RUNNER_PYTHON_PYTHON_CLOCK_H
#define LT_RUNNER_PYTHON_PYTHON_CLOCK_H

#include "runner/python/python_run.h"

/* Starts the clock with the request's timeout. */
void lt_python_clock_start(lt_python_run *run);
/* Stops the clock when every open call waits for approval, and lets it go on otherwise. */
void lt_python_clock_update(lt_python_run *run);
/* Milliseconds until the deadline; UINT64_MAX while the clock stands still. */
uint64_t lt_python_clock_left_ms(const lt_python_run *run);

#endif
