/* Requests of the program's process. */
#ifndef LT_RUNNER_DENO_DENO_BRIDGE_H
#define LT_RUNNER_DENO_DENO_BRIDGE_H

#include "runner/deno/deno_run.h"

lt_status lt_deno_open_bridge(lt_deno_run *run, lt_deno_way way, lt_err *err);

#endif
