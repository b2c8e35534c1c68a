/* The host's state: the list of plugins, and all their registrations. Loop thread only. */
#ifndef LT_PLUGIN_HOST_STATE_H
#define LT_PLUGIN_HOST_STATE_H

#include "plugin/plugin.h"

struct lt_host {
  lt_host_options options;
  lt_plugin **plugins;
  size_t plugin_count;
  lt_run_module *modules;
  size_t module_count;
  lt_run_function *functions;
  size_t function_count;
  lt_host_mode *modes;
  size_t mode_count;
  lathe_call *open_calls;     /* of plugins with a thread (deadlock.h) */
  uint64_t deadlock_searches; /* numbers the searches for a deadlock */
};

#endif
