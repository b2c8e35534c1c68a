/* Loads a plugin from its entry function: reads its struct and config. It does not run setup. */
#ifndef LT_PLUGIN_PLUGIN_LOAD_H
#define LT_PLUGIN_PLUGIN_LOAD_H

#include "plugin/plugin.h"

/* Reads the plugin's struct and starts its thread. On success the plugin owns `library`.
 * Owns: the caller, lt_plugin_unref. */
lt_status lt_plugin_load_entry(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config,
                               lt_plugin **ret_plugin, lt_err *err);
/* Checks the plugin's config against its schema. */
lt_status lt_plugin_load_check_config(const lt_plugin *plugin, lt_err *err);

#endif
