/* The host functions for storage: state, tables, artifacts. They return 0, or -1 with the call's error set. */
#ifndef LT_PLUGIN_PLUGIN_STORAGE_H
#define LT_PLUGIN_PLUGIN_STORAGE_H

#include "plugin/plugin_call.h"

int lt_plugin_storage_state(lathe_call *call, lathe_text *ret_json) LT_YIELDS;
int lt_plugin_storage_set_state(lathe_call *call, lathe_text json) LT_YIELDS;
int lt_plugin_storage_migrate(lathe_call *call, const char *const *scripts, size_t count) LT_YIELDS;
int lt_plugin_storage_sql(lathe_call *call, lathe_text statement, lathe_text params, lathe_text *ret_rows) LT_YIELDS;
int lt_plugin_storage_put_artifact(lathe_call *call, const char *type, lathe_text description, lathe_text json,
                                   lathe_text *ret_id) LT_YIELDS;
int lt_plugin_storage_get_artifact(lathe_call *call, lathe_text id, lathe_text *ret_json) LT_YIELDS;
int lt_plugin_storage_list_artifacts(lathe_call *call, lathe_text *ret_json) LT_YIELDS;

#endif
