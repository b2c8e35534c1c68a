/* What a program prints: lines of its log. */
#ifndef LT_RUNNER_PYTHON_PYTHON_OUTPUT_H
#define LT_RUNNER_PYTHON_PYTHON_OUTPUT_H

#include "runner/python/python_run.h"

/* How much of what it prints is kept. */
size_t lt_python_run_log_max(const lt_run_request *request);
/* Likewise what it printed. */
bool lt_python_run_read_output(lt_python_run *run);
/* A line without its end, at the end. */
void lt_python_run_end_text(lt_python_run *run);
/* A line of ours among what it prints. */
void lt_python_run_warn(lt_python_run *run, lt_str text);

#endif
