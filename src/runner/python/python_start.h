/* Starts the interpreter's process behind its walls. */
#ifndef LT_RUNNER_PYTHON_PYTHON_START_H
#define LT_RUNNER_PYTHON_PYTHON_START_H

#include "runner/python/python_state.h"

/* Starts the interpreter's process behind its walls and sends it the Python sources. `ret_control` is our end of its
 * control socket. Owns: the caller, both. LT_YIELDS. */
lt_status lt_python_start(lt_python *python, lt_process **ret_process, int *ret_control, lt_err *err) LT_YIELDS;
/* Fails with the reason why an interpreter has ended before it was ready. */
lt_status lt_python_start_explain(const lt_python *python, lt_process *process, lt_err *err);

#endif
