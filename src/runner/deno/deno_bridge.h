/* The bridge: an HTTP server for the requests of a program's process. */
#ifndef LT_RUNNER_DENO_DENO_BRIDGE_H
#define LT_RUNNER_DENO_DENO_BRIDGE_H

#include "runner/deno/deno_run.h"

/* Opens the run's server. Requests are handled on fibers of their own. Owns: the run, lt_http_server_close. */
lt_status lt_deno_bridge_open(lt_deno_run *run, lt_deno_transport transport, lt_err *err);

#endif
