/* The processes, behind their walls. */
#ifndef LT_RUNNER_DENO_DENO_START_H
#define LT_RUNNER_DENO_DENO_START_H

#include "runner/deno/deno_run.h"

lt_deno_limits lt_deno_limits_of(const lt_run_request *request);
lt_status lt_deno_start(lt_deno *deno, lt_deno_room *room, lt_err *err);
lt_status lt_deno_start_checker(lt_deno_run *run, lt_err *err);

#endif
