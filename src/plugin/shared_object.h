/* A plugin's file: opened with dlopen, after a check that the file is complete. */
#ifndef LT_PLUGIN_SHARED_OBJECT_H
#define LT_PLUGIN_SHARED_OBJECT_H

#include "base/err.h"
#include "lathe_plugin.h"

/* The errors are lt_host_load's, without the path. Owns: the caller, lt_shared_object_close. */
lt_status lt_shared_object_open(const char *path, void **ret_library, lathe_plugin_entry_fn **ret_entry, lt_err *err);
void lt_shared_object_close(void *library); /* NULL is allowed */

#endif
