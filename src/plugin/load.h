/* From a file, or a function that is linked in, to a plugin that is known but not set up; internal to host/. */
#ifndef LT_PLUGIN_LOAD_H
#define LT_PLUGIN_LOAD_H

#include "plugin/host_impl.h"

/* Opens a shared object. The errors are lt_host_load's, without the path. Owns: the caller, lt_library_close. */
lt_status lt_library_open(const char *path, void **ret_library, lathe_plugin_entry_fn **ret_entry, lt_err *err);
void lt_library_close(void *library); /* NULL is allowed */

/* Reads what the plugin says of itself, starts its thread. On success `library` is the plugin's.
 * Owns: the caller, lt_plugin_unref. */
lt_status lt_plugin_read(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config,
                         lt_plugin **ret_plugin, lt_err *err);
/* Whether its config fits. */
lt_status lt_plugin_check_config(const lt_plugin *plugin, lt_err *err);

#endif
