/* A plugin's tools as a provider at the door: permanent, or for one prompt. Loop thread only. */
#ifndef LT_PLUGIN_PLUGIN_TOOLS_H
#define LT_PLUGIN_PLUGIN_TOOLS_H

#include "plugin/registry.h"

struct lt_plugin;

typedef struct lt_plugin_tools {
  lt_provider base; /* first member: the door's pointer is cast to this struct */
  struct lt_plugin *plugin;
  lt_registry *registered;
} lt_plugin_tools;

/* `of_caller`: the tools belong to one prompt, whose caller has them in its catalog. */
void lt_plugin_tools_init(lt_plugin_tools *tools, struct lt_plugin *plugin, bool of_caller);
/* All specs in one array, which borrows from `tools`. Owns: the caller, lt_mem_free. NULL: no memory. */
lt_tool_spec *lt_plugin_tools_specs(const lt_plugin_tools *tools, size_t *ret_count);
/* Appends the id of a plugin's tool: "todo.add", or the name alone where the plugin has no namespace. */
void lt_plugin_tools_put_id(const struct lt_plugin *plugin, lt_str name, lt_buf *out);
/* Gives the plugin's permanent tools to the door. */
lt_status lt_plugin_tools_publish(struct lt_plugin *plugin, lt_err *err);

#endif
