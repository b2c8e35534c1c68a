/* Detects plugins that would wait for each other for ever, when the last of them begins to wait. Loop thread only. */
#ifndef LT_PLUGIN_DEADLOCK_H
#define LT_PLUGIN_DEADLOCK_H

#include "plugin/plugin_call.h"

/* Fails when running the call would block its plugin's thread for ever. */
lt_status lt_deadlock_check(const lathe_call *call, lt_err *err);
/* Adds and removes an open call of a plugin with a thread: from its queueing until no fiber waits for it. */
void lt_deadlock_add_call(lathe_call *call);
void lt_deadlock_remove_call(lathe_call *call);

#endif
