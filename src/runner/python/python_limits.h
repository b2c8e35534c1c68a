/* The limits of one program, as its process sets them (guest/walls.py). */
#ifndef LT_RUNNER_PYTHON_PYTHON_LIMITS_H
#define LT_RUNNER_PYTHON_PYTHON_LIMITS_H

#include "json/json.h"
#include "runner/runner.h"

/* The memory that the request asks for, within what is allowed, or the default. */
uint64_t lt_python_limits_memory_bytes(const lt_run_request *request);
/* Writes the limits as a JSON object. */
void lt_python_limits_write(const lt_run_request *request, lt_json_writer *w);

#endif
