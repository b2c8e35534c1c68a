/* Tool calls of a program: each on a fiber of its own, through the door. */
#ifndef LT_RUNNER_PYTHON_PYTHON_CALLS_H
#define LT_RUNNER_PYTHON_PYTHON_CALLS_H

#include "runner/python/python_run.h"

void lt_python_run_call(lt_python_run *run, uint32_t id, lt_str name, lt_str input);
void lt_python_run_drop_queued(lt_python_run *run);

#endif
