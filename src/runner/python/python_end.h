/* How a program ended, in words. */
#ifndef LT_RUNNER_PYTHON_PYTHON_END_H
#define LT_RUNNER_PYTHON_PYTHON_END_H

#include "runner/python/python_run.h"

/* How it ended, into the result. LT_YIELDS while a long result is looked at. */
lt_status lt_python_run_judge(lt_python_run *run, lt_err *err) LT_YIELDS;

#endif
