/* The interpreter's process: started behind its walls. */
#ifndef LT_RUNNER_PYTHON_PYTHON_START_H
#define LT_RUNNER_PYTHON_PYTHON_START_H

#include "runner/python/python_state.h"

/* Starts the interpreter's process behind its walls and sends it what it runs; `ret_control` is our end
 * of its control socket. Owns: the caller, both. */
lt_status lt_python_start(lt_python *python, lt_process **ret_process, int *ret_control, lt_err *err) LT_YIELDS;
/* Why an interpreter that did not become ready has ended. */
lt_status lt_python_explain(const lt_python *python, lt_process *process, lt_err *err);

/* The embedded Python sources. */
lt_str lt_python_source(void);

#endif
