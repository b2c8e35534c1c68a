/* What a program prints: the lines of its log, in the run's result. */
#ifndef LT_RUNNER_PYTHON_PYTHON_OUTPUT_H
#define LT_RUNNER_PYTHON_PYTHON_OUTPUT_H

#include "runner/python/python_run.h"

/* Bytes of the log that are kept. */
size_t lt_python_output_max_bytes(const lt_run_request *request);
/* Reads from the output pipe, at most LT_PYTHON_TURN_BYTES. True: there may be more. */
bool lt_python_output_read(lt_python_run *run);
/* Adds the last line to the log when it has no line end. */
void lt_python_output_flush(lt_python_run *run);
/* Adds a warning of Lathe's to the log. */
void lt_python_output_warn(lt_python_run *run, lt_str text);

#endif
