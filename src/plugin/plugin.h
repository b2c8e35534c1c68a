/* One plugin: its definition, its registrations, its thread.
 *
 * The host and the plugin's thread each hold a reference. The thread's lock protects the members that both use.
 */
#ifndef LT_PLUGIN_PLUGIN_H
#define LT_PLUGIN_PLUGIN_H

#include <stdatomic.h>

#include "json/schema.h"
#include "plugin/plugin_thread.h"
#include "plugin/plugin_tools.h"

typedef struct lt_plugin {
  atomic_uint refs;
  const lathe_host *functions; /* the host functions for the plugin */
  lt_host *host;               /* for the loop only: the thread may outlive the host */
  lt_arena arena;              /* texts */
  void *library;               /* of dlopen; NULL: linked in */
  lathe_plugin definition;     /* the struct in this Lathe's version; its texts are copies */
  lt_str id;
  lt_str config;
  lt_schema *config_schema; /* NULL: every value fits */
  lt_schema *state_schema;  /* likewise */
  lt_plugin_tools tools;
  lt_buf disabled_reason; /* why the plugin is disabled; empty: it is not */
  bool is_in_door;
  bool is_set_up;
  bool is_closing; /* new requests are refused */
  unsigned request_count;
  unsigned call_count;        /* number of calls with a waiting fiber */
  lt_cancel end_cancel;       /* ends these calls */
  uint64_t last_warning_hash; /* prevents the same prepare warning before each prompt */
  lt_plugin_thread thread;
} lt_plugin;

/* NULL: no memory. Owns: the caller, lt_plugin_unref. */
lt_plugin *lt_plugin_new(lt_host *host, const lathe_host *functions);
void lt_plugin_unref(lt_plugin *plugin); /* any thread */

static inline bool lt_plugin_on_loop(const lt_plugin *plugin) {
  return (plugin->definition.flags & LATHE_ON_LOOP) != 0;
}
static inline bool lt_plugin_is_disabled(const lt_plugin *plugin) {
  return plugin->disabled_reason.n > 0;
}
/* The plugin's permanent registrations; NULL when it is disabled. */
static inline lt_registry *lt_plugin_registered(const lt_plugin *plugin) {
  return lt_plugin_is_disabled(plugin) ? NULL : plugin->tools.registered;
}
/* The namespace of its tools' ids; empty: the ids are the names alone. */
static inline lt_str lt_plugin_namespace(const lt_plugin *plugin) {
  return (plugin->definition.flags & LATHE_NO_NAMESPACE) != 0 ? LT_STR("") : plugin->id;
}

#endif
