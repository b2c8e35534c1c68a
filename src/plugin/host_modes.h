/* Execution modes of plugins inside the host: registration, the list, and host functions for modes only. */
#ifndef LT_PLUGIN_HOST_MODES_H
#define LT_PLUGIN_HOST_MODES_H

#include "plugin/plugin_call.h"

/* The host functions add_mode, ask_model and put_text: 0, or -1 with the call's error set. */
int lt_host_modes_add(lathe_call *call, const lathe_mode *mode) LT_YIELDS;
int lt_host_modes_ask_model(lathe_call *call, lathe_text messages, lathe_text tools, lathe_text *ret_reply) LT_YIELDS;
int lt_host_modes_put_text(lathe_call *call, lathe_text text) LT_YIELDS;
/* Rebuilds the list of all plugins' modes. */
lt_status lt_host_modes_collect(lt_host *host, lt_err *err);

#endif
