/* From a plugin's entry function to a plugin whose struct and config have been read, but which is not set up yet. */
#ifndef LT_PLUGIN_PLUGIN_LOAD_H
#define LT_PLUGIN_PLUGIN_LOAD_H

#include "plugin/plugin.h"

/* Reads the plugin's struct and starts its thread. On success `library` is the plugin's.
 * Owns: the caller, lt_plugin_unref. */
lt_status lt_plugin_load_entry(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config,
                               lt_plugin **ret_plugin, lt_err *err);
/* Whether its config fits its schema. */
lt_status lt_plugin_load_check_config(const lt_plugin *plugin, lt_err *err);

#endif
