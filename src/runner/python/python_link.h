/* The connection to a program: messages as bridge.py has them. */
#ifndef LT_RUNNER_PYTHON_PYTHON_LINK_H
#define LT_RUNNER_PYTHON_PYTHON_LINK_H

#include "runner/python/python_run.h"

enum { LT_PY_START = 1, LT_PY_VALUE = 2, LT_PY_FAILURE = 3 };                    /* to the program */
enum { LT_PY_CALL = 16, LT_PY_RESULT = 17, LT_PY_DONE = 18, LT_PY_FAILED = 19 }; /* from it */

/* Reads what has come, as much as one turn allows: true, there may be more. */
bool lt_python_run_read(lt_python_run *run);
void lt_python_run_send(lt_python_run *run, unsigned kind, uint32_t id, lt_str body);
/* Sends what had to wait. */
void lt_python_run_flush(lt_python_run *run);
/* What the watch is to look for. */
void lt_python_run_watch(lt_python_run *run);

#endif
