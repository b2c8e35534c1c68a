/* How a Python program ended: the status and the error message of its result. */
#ifndef LT_RUNNER_PYTHON_PYTHON_END_H
#define LT_RUNNER_PYTHON_PYTHON_END_H

#include "runner/python/python_run.h"

/* Writes the outcome into the run's result. LT_YIELDS while a long result is checked. */
lt_status lt_python_end_describe(lt_python_run *run, lt_err *err) LT_YIELDS;
/* Adds the names that a program, which was only checked, defines nowhere to its request's faults. */
void lt_python_end_take_names(lt_python_run *run);

#endif
