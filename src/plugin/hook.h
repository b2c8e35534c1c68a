/* Hooks of a plugin: setup, ready, prepare, teardown; internal to host/. */
#ifndef LT_PLUGIN_HOOK_H
#define LT_PLUGIN_HOOK_H

#include "plugin/host_impl.h"

typedef struct lt_hook {
  lt_call_kind kind;
  lt_str in;
  const lt_caller *caller; /* may be NULL */
  uint64_t timeout_ms;
} lt_hook;

/* Runs a hook that the plugin has. What it registered is the caller's (lt_registry_free) when `ret_registered` is not
 * NULL, else dropped. Errors: lt_call_run's and lt_call_outcome's. LT_YIELDS. */
lt_status lt_host_hook(lt_plugin *plugin, const lt_hook *hook, lt_registry **ret_registered, lt_err *err) LT_YIELDS;

/* told.c: the ids of a catalog, into an array; functions and modules, into an object. `more`: whose module_at counts,
 * too; may be NULL. */
void lt_told_tools(lt_json_writer *w, const lt_catalog *catalog, lt_str hidden);
void lt_told_world(lt_json_writer *w, const lt_run_request *world, const lt_host_options *more);
/* What plugins have registered for programs, where nobody says otherwise. */
lt_run_request lt_host_world(const lt_host *host);

/* api.c: appends what a plugin says as one line for a person: no secrets, nothing a terminal would obey. */
void lt_host_add_words(const lt_host *host, lt_str text, lt_buf *out);

#endif
