/* The host's functions that register something: what is wrong with it is said at once. The plugin's thread. */
#ifndef LT_PLUGIN_REGISTRATION_H
#define LT_PLUGIN_REGISTRATION_H

#include "plugin/plugin_call.h"

/* Where a call registers; NULL with the call's error set when it may not. `for_good_only`: in setup and ready only. */
lt_registry *lt_registration_begin(lathe_call *call, bool for_good_only);
/* Sets the call's error: `the WHAT "NAME" PROBLEM`. Always -1. */
int lt_registration_refuse(lathe_call *call, const char *what, lt_str name, const char *problem);
int lt_registration_no_memory(lathe_call *call);

int lt_registration_add_tool(lathe_call *call, const lathe_tool *tool);
int lt_registration_add_function(lathe_call *call, const lathe_function *function);
int lt_registration_add_module(lathe_call *call, const char *name, lathe_text source);
int lt_registration_add_context(lathe_call *call, lathe_text item);

#endif
