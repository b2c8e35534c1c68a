/* Messages from a program on its connection. guest/bridge.py has the other end and describes the format. */
#ifndef LT_RUNNER_PYTHON_PYTHON_LINK_H
#define LT_RUNNER_PYTHON_PYTHON_LINK_H

#include "runner/python/python_run.h"

/* Reads and handles the messages that have arrived, at most LT_PYTHON_TURN_BYTES. True: there may be more. */
bool lt_python_link_read(lt_python_run *run);
/* Sets the events that the run's watches wait for. */
void lt_python_link_watch(lt_python_run *run);

#endif
