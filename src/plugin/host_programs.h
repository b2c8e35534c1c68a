/* The functions and modules of plugins, for programs. Loop thread only. */
#ifndef LT_PLUGIN_HOST_PROGRAMS_H
#define LT_PLUGIN_HOST_PROGRAMS_H

#include "plugin/host_state.h"

/* Rebuilds both lists of the host. */
lt_status lt_host_programs_collect(lt_host *host, lt_err *err);
/* A request for a program, with both lists and nothing else set. */
lt_run_request lt_host_programs_defaults(const lt_host *host);

#endif
