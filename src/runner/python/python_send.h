/* Messages to a program on its connection. The format is in guest/bridge.py. */
#ifndef LT_RUNNER_PYTHON_PYTHON_SEND_H
#define LT_RUNNER_PYTHON_PYTHON_SEND_H

#include "runner/python/python_run.h"

enum { LT_PY_START = 1, LT_PY_VALUE = 2, LT_PY_FAILURE = 3 };                    /* to the program */
enum { LT_PY_CALL = 16, LT_PY_RESULT = 17, LT_PY_DONE = 18, LT_PY_FAILED = 19 }; /* from it */

#define LT_PYTHON_FRAME_MARK 0xa7 /* the last byte of each frame's head */

/* Sends a message, or keeps it until the program reads. Does not yield. Without memory to keep
 * it, `link.has_lost_message` is set, nothing more is sent, and the run is woken, which stops the program. */
void lt_python_send_message(lt_python_run *run, unsigned kind, uint32_t id, lt_str body);
/* Sends what is kept, as far as the program reads. */
void lt_python_send_flush(lt_python_run *run);

#endif
