/* Starts the two processes behind their walls. */
#ifndef LT_RUNNER_DENO_DENO_START_H
#define LT_RUNNER_DENO_DENO_START_H

#include "runner/deno/deno_run.h"

/* The limits of the request's processes. */
lt_deno_limits lt_deno_start_limits_of(const lt_run_request *request);
/* Starts Deno: instance->process. */
lt_status lt_deno_start(lt_deno *deno, lt_deno_instance *instance, lt_err *err);
/* Starts the compiler: run->checker.process. */
lt_status lt_deno_start_checker(lt_deno_run *run, lt_err *err);

#endif
