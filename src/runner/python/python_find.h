/* Finds the interpreter that runs the programs. */
#ifndef LT_RUNNER_PYTHON_PYTHON_FIND_H
#define LT_RUNNER_PYTHON_PYTHON_FIND_H

#include "runner/python/python_state.h"

/* Appends the interpreter's full path. Errors: LT_E_NOTFOUND. LT_YIELDS while a version manager's script is asked. */
lt_status lt_python_find(const lt_python *python, lt_buf *ret_file, lt_err *err) LT_YIELDS;

#endif
