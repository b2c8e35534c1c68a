/* A plugin's tools as a provider at the door. */
#include "plugin/plugin_tools.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_state.h"
#include "plugin/plugin_call.h"

void lt_plugin_tools_put_id(const lt_plugin *plugin, lt_str name, lt_buf *out) {
  lt_str ns = lt_plugin_namespace(plugin);
  lt_buf_add(out, ns);
  lt_buf_addc(out, ns.n > 0 ? "." : "");
  lt_buf_add(out, name);
}

/* --- The provider ------------------------------------------------------------------------------------------------- */
static lt_plugin_tools *plugin_tools_self(lt_provider *base) {
  return (lt_plugin_tools *)(void *)base;
}

/* `fn` is invoke or needs_approval of the tool. */
static lt_status plugin_tools_call(lt_plugin_tools *self, const lt_plugin_tool *tool, lathe_function_fn *fn,
                                   lt_str input, const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(id, 2 * LT_PLUGIN_NAME_BYTES);
  if (lt_plugin_is_disabled(self->plugin)) {
    return lt_fail(err, LT_E_CLOSED, "%.*s", LT_STR_ARG(lt_buf_view(&self->plugin->disabled_reason)));
  }
  lt_plugin_tools_put_id(self->plugin, tool->spec.name, &id);
  const lt_plugin_call_spec spec = {.kind = LT_CALL_TOOL,
                                    .name = lt_buf_view(&id),
                                    .fn = fn,
                                    .arg = tool->arg,
                                    .in = input,
                                    .caller = options->caller,
                                    .options = options,
                                    .is_approval_check = fn != tool->invoke,
                                    .timeout_ms = LT_PLUGIN_CALL_MS};
  return lt_plugin_call_make(self->plugin, &spec, out, err);
}

static lt_status plugin_tools_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                     lt_buf *out, lt_err *err) LT_YIELDS {
  lt_plugin_tools *self = plugin_tools_self(base);
  const lt_plugin_tool *tool = lt_registry_find_tool(self->registered, name);
  if (tool == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "plugin \"%s\" has no tool \"%.*s\" any more", self->plugin->definition.id,
                   LT_STR_ARG(name));
  }
  return plugin_tools_call(self, tool, tool->invoke, input, options, out, err);
}

static lt_str plugin_tools_down(lt_provider *base) {
  return lt_buf_view(&plugin_tools_self(base)->plugin->disabled_reason);
}

/* Reads the answer of needs_approval: nothing, null and false mean no; a string is the reason; everything else means
 * yes. */
static bool plugin_tools_read_decision(lt_str answer, lt_buf *ret_reason) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  lt_str reason;
  if (answer.n == 0) {
    return false;
  }
  if (lt_json_parse(&arena, answer, &doc, NULL) != LT_OK) {
    return true; /* no memory to read the answer */
  }
  if (lt_json_str(lt_json_root(&doc), &arena, &reason)) {
    lt_buf_add(ret_reason, lt_str_sub(reason, 0, LT_PLUGIN_LINE_BYTES));
    return true;
  }
  lt_json_type type = lt_json_typeof(lt_json_root(&doc));
  return type != LT_JSON_NULL && type != LT_JSON_FALSE;
}

/* When the plugin cannot answer, a person is asked: no call is made without a decision. */
static bool plugin_tools_needs_approval(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                        lt_buf *ret_reason) LT_YIELDS {
  lt_plugin_tools *self = plugin_tools_self(base);
  const lt_plugin_tool *tool = lt_registry_find_tool(self->registered, name);
  if (tool == NULL || tool->needs_approval == NULL) {
    return false;
  }
  LT_ERR_VAR(err);
  LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES);
  if (plugin_tools_call(self, tool, tool->needs_approval, input, options, &answer, &err) != LT_OK) {
    lt_buf_addc(ret_reason, "the plugin could not decide whether this needs approval: ");
    lt_buf_addc(ret_reason, lt_err_msg(&err));
    return true;
  }
  return plugin_tools_read_decision(lt_buf_view(&answer), ret_reason);
}

void lt_plugin_tools_init(lt_plugin_tools *tools, lt_plugin *plugin, bool of_caller) {
  *tools = (lt_plugin_tools){.plugin = plugin};
  tools->base = (lt_provider){.name = lt_plugin_namespace(plugin),
                              .invoke = plugin_tools_invoke,
                              .down = plugin_tools_down,
                              .needs_approval = plugin_tools_needs_approval,
                              .of_caller = of_caller};
}

/* --- Tools at the door -------------------------------------------------------------------------------------------- */
lt_tool_spec *lt_plugin_tools_specs(const lt_plugin_tools *tools, size_t *ret_count) {
  size_t count = 0;
  for (const lt_registry *r = tools->registered; r != NULL; r = r->next) {
    count += r->tool_count;
  }
  lt_tool_spec *specs = lt_mem_zalloc(count, sizeof *specs);
  if (specs == NULL) {
    return NULL;
  }
  size_t n = 0;
  for (const lt_registry *r = tools->registered; r != NULL; r = r->next) {
    for (const lt_plugin_tool *tool = r->tools; tool != NULL; tool = tool->next) {
      specs[n++] = tool->spec;
    }
  }
  *ret_count = n;
  return specs;
}

lt_status lt_plugin_tools_publish(lt_plugin *plugin, lt_err *err) {
  size_t count;
  lt_tool_spec *specs = lt_plugin_tools_specs(&plugin->tools, &count);
  if (specs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools of plugin \"%s\"", plugin->definition.id);
  }
  lt_status status = LT_OK;
  if (count > 0 || plugin->is_in_door) {
    status = lt_door_set_tools(plugin->host->options.door, &plugin->tools.base, specs, count, err);
    plugin->is_in_door = plugin->is_in_door || status == LT_OK;
  }
  lt_mem_free(specs);
  return status;
}
