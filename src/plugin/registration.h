/* The host functions for registration. They report a fault at once. They run on the plugin's thread. */
#ifndef LT_PLUGIN_REGISTRATION_H
#define LT_PLUGIN_REGISTRATION_H

#include "plugin/plugin_call.h"

/* The registry of a call; NULL with the call's error set when the call may not register. `for_good_only`: in setup and
 * ready only. */
lt_registry *lt_registration_begin(lathe_call *call, bool for_good_only);
/* Sets the call's error: `the WHAT "NAME" PROBLEM`. Always returns -1. */
int lt_registration_refuse(lathe_call *call, const char *what, lt_str name, const char *problem);
int lt_registration_no_memory(lathe_call *call);

int lt_registration_add_tool(lathe_call *call, const lathe_tool *tool);
int lt_registration_add_function(lathe_call *call, const lathe_function *function);
int lt_registration_add_module(lathe_call *call, const char *name, lathe_text source);
int lt_registration_add_context(lathe_call *call, lathe_text item);

#endif
