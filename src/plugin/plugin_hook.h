/* Hooks of a plugin: setup, ready, prepare, teardown. */
#ifndef LT_PLUGIN_PLUGIN_HOOK_H
#define LT_PLUGIN_PLUGIN_HOOK_H

#include "plugin/plugin_call.h"

typedef struct lt_plugin_hook {
  lt_plugin_call_kind kind;
  lt_str in;
  const lt_caller *caller; /* may be NULL */
  uint64_t timeout_ms;
} lt_plugin_hook;

/* Runs a hook of the plugin. The caller owns the registrations (lt_registry_free) when `ret_registered` is not NULL,
 * else they are freed. Errors: lt_plugin_call_run's and lt_plugin_call_outcome's. LT_YIELDS. */
lt_status lt_plugin_hook_run(lt_plugin *plugin, const lt_plugin_hook *hook, lt_registry **ret_registered,
                             lt_err *err) LT_YIELDS;

#endif
