/* Tool calls of a Python program. Each call has a fiber of its own and goes through the door. A call in progress lives
 * in the run's list until the result takes it over. Loop thread only. */
#ifndef LT_RUNNER_PYTHON_PYTHON_CALLS_H
#define LT_RUNNER_PYTHON_PYTHON_CALLS_H

#include "runner/python/python_run.h"

/* Begins the call that the program numbered `id`. Copies `name` and `input`. The answer, or the refusal, is sent to the
 * program. */
void lt_python_calls_begin(lt_python_run *run, uint32_t id, lt_str name, lt_str input);
/* Ends the calls that have not begun, with the reason of the run's cancel. */
void lt_python_calls_drop_queued(lt_python_run *run);

#endif
