/* The registrations of one plugin call: copies of tools, functions, modules, modes and context items, in an arena.
 *
 * Belongs to the call and its thread until the call has returned. Then it belongs to the plugin (setup, ready) or to
 * the prompt (prepare); when the call failed, it is freed with the call.
 */
#ifndef LT_PLUGIN_REGISTRY_H
#define LT_PLUGIN_REGISTRY_H

#include "base/arena.h"
#include "plugin/host.h"

struct lt_plugin;

typedef struct lt_plugin_tool {
  struct lt_plugin_tool *next;
  lt_tool_spec spec;
  lathe_function_fn *invoke;
  void *arg;
  lathe_function_fn *needs_approval; /* may be NULL */
} lt_plugin_tool;

typedef struct lt_plugin_function {
  struct lt_plugin_function *next;
  struct lt_plugin *plugin;
  lt_str name, signature, description;
  lathe_function_fn *invoke;
  void *arg;
} lt_plugin_function;

typedef struct lt_plugin_module {
  struct lt_plugin_module *next;
  lt_str name, source;
} lt_plugin_module;

typedef struct lt_plugin_mode {
  struct lt_plugin_mode *next;
  lt_host_mode mode;
  lathe_function_fn *invoke;
  void *arg;
} lt_plugin_mode;

typedef struct lt_plugin_item {
  struct lt_plugin_item *next;
  lt_str json;
} lt_plugin_item;

typedef struct lt_registry {
  struct lt_registry *next; /* of the same plugin, registered later */
  lt_arena arena;
  lt_plugin_tool *tools, **last_tool;
  lt_plugin_function *functions, **last_function;
  lt_plugin_module *modules, **last_module;
  lt_plugin_item *items, **last_item;
  lt_plugin_mode *modes, **last_mode;
  size_t tool_count, function_count, module_count, mode_count;
  size_t item_bytes;
} lt_registry;

lt_registry *lt_registry_new(void);       /* NULL: no memory */
void lt_registry_free(lt_registry *list); /* with all registries after it; NULL is allowed */

/* Search a list of registries; NULL or false: no registry has that name. */
const lt_plugin_tool *lt_registry_find_tool(const lt_registry *list, lt_str name);
bool lt_registry_has_function(const lt_registry *list, lt_str name);
bool lt_registry_has_module(const lt_registry *list, lt_str name);
const lt_plugin_mode *lt_registry_find_mode(const lt_registry *list, lt_str id);

#endif
