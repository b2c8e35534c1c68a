/* One plugin: what it says of itself, what it has registered, its thread.
 *
 * Two hold it: the host and the plugin's thread. Of what both touch, the thread's part is under the thread's lock.
 */
#ifndef LT_PLUGIN_PLUGIN_H
#define LT_PLUGIN_PLUGIN_H

#include <stdatomic.h>

#include "json/schema.h"
#include "plugin/plugin_thread.h"
#include "plugin/plugin_tools.h"

typedef struct lt_plugin {
  atomic_uint refs;
  const lathe_host *functions; /* the table that its functions are given */
  lt_host *host;               /* the loop's: the thread may outlive it */
  lt_arena arena;              /* texts */
  void *library;               /* of dlopen; NULL: linked in */
  lathe_plugin definition;     /* as this Lathe knows the struct; its texts are copies */
  lt_str id;
  lt_str config;
  lt_schema *config_schema; /* NULL: anything */
  lt_schema *state_schema;  /* likewise */
  lt_plugin_tools tools;
  lt_buf disabled_reason; /* why it has been taken out; empty: it has not */
  bool is_in_door;
  bool is_set_up;
  bool is_closing; /* its requests are refused */
  unsigned request_count;
  unsigned call_count;        /* calls that a fiber waits for */
  lt_cancel end_cancel;       /* ends all of them */
  uint64_t last_warning_hash; /* prepare fails in the same way before each prompt */
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
/* What the plugin has for good, or NULL when it is disabled. */
static inline lt_registry *lt_plugin_registered(const lt_plugin *plugin) {
  return lt_plugin_is_disabled(plugin) ? NULL : plugin->tools.registered;
}
/* What its tools' ids begin with; empty: the ids are the names alone. */
static inline lt_str lt_plugin_namespace(const lt_plugin *plugin) {
  return (plugin->definition.flags & LATHE_NO_NAMESPACE) != 0 ? LT_STR("") : plugin->id;
}

#endif
