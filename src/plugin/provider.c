/* Plugins' tools as providers at the door, their functions as functions of programs. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_impl.h"

/* --- Running a call to its end ------------------------------------------------------------------------------------ */
static lt_status run_to_end(lt_plugin *plugin, const lt_call_how *how, lt_buf *out, lt_err *err) LT_YIELDS {
  lathe_call *call = NULL;
  if (plugin->why_out.n > 0) {
    return lt_fail(err, LT_E_CLOSED, "%.*s", LT_STR_ARG(lt_buf_view(&plugin->why_out)));
  }
  LT_TRY(lt_call_new(plugin, how, &call, err));
  lt_status status = lt_call_run(call, err);
  if (status == LT_OK) {
    status = lt_call_outcome(call, out, err);
  }
  lt_call_unref(call);
  return status;
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
static lt_plugin_tools *self_of(lt_provider *base) {
  return (lt_plugin_tools *)(void *)base;
}

static const lt_plugin_tool *find_tool(const lt_plugin_tools *tools, lt_str name) {
  for (const lt_registry *r = tools->registered; r != NULL; r = r->next) {
    for (const lt_plugin_tool *tool = r->tools; tool != NULL; tool = tool->next) {
      if (lt_str_eq(tool->spec.name, name)) {
        return tool;
      }
    }
  }
  return NULL;
}

static lt_status call_tool(lt_plugin_tools *self, const lt_plugin_tool *tool, lathe_function_fn *fn, lt_str input,
                           const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  lt_buf id;
  lt_buf_init(&id, 2 * LT_PLUGIN_NAME_BYTES);
  lt_plugin_tool_id(self->plugin, tool->spec.name, &id);
  lt_call_how how = {.kind = LT_CALL_TOOL,
                     .name = lt_buf_view(&id),
                     .fn = fn,
                     .arg = tool->arg,
                     .in = input,
                     .caller = options->caller,
                     .options = options,
                     .asks = fn != tool->invoke,
                     .timeout_ms = LT_PLUGIN_CALL_MS};
  lt_status status = run_to_end(self->plugin, &how, out, err);
  lt_buf_release(&id);
  return status;
}

void lt_plugin_tool_id(const lt_plugin *plugin, lt_str name, lt_buf *out) {
  lt_str ns = lt_plugin_namespace(plugin);
  lt_buf_add(out, ns);
  lt_buf_addc(out, ns.n > 0 ? "." : "");
  lt_buf_add(out, name);
}

static lt_status invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                        lt_err *err) LT_YIELDS {
  lt_plugin_tools *self = self_of(base);
  const lt_plugin_tool *tool = find_tool(self, name);
  if (tool == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "plugin \"%s\" has no tool \"%.*s\" any more", self->plugin->is.id,
                   LT_STR_ARG(name));
  }
  return call_tool(self, tool, tool->invoke, input, options, out, err);
}

static lt_str down(lt_provider *base) {
  return lt_buf_view(&self_of(base)->plugin->why_out);
}

/* What the plugin said: null is no, a string is why. */
static bool read_decision(lt_str said, lt_buf *ret_reason) {
  lt_arena arena;
  lt_json_doc doc;
  lt_str reason;
  bool needed = false;
  if (said.n == 0) {
    return false;
  }
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, said, &doc, NULL) != LT_OK) {
    needed = true; /* there is no memory to read it in */
  } else if (lt_json_str(lt_json_root(&doc), &arena, &reason)) {
    needed = true;
    lt_buf_add(ret_reason, lt_str_sub(reason, 0, LT_PLUGIN_LINE_BYTES));
  } else {
    lt_json_type type = lt_json_typeof(lt_json_root(&doc));
    needed = type != LT_JSON_NULL && type != LT_JSON_FALSE;
  }
  lt_arena_release(&arena);
  return needed;
}

/* When the plugin cannot say, a person is asked: what is unknown is never let through. */
static bool needs_approval(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                           lt_buf *ret_reason) LT_YIELDS {
  lt_plugin_tools *self = self_of(base);
  const lt_plugin_tool *tool = find_tool(self, name);
  if (tool == NULL || tool->needs_approval == NULL) {
    return false;
  }
  lt_err err = LT_ERR_INIT;
  lt_buf said;
  lt_buf_init(&said, LT_JSON_MAX_BYTES);
  bool needed = true;
  if (call_tool(self, tool, tool->needs_approval, input, options, &said, &err) == LT_OK) {
    needed = read_decision(lt_buf_view(&said), ret_reason);
  } else {
    lt_buf_addc(ret_reason, "whether this needs approval could not be told: ");
    lt_buf_addc(ret_reason, lt_err_msg(&err));
  }
  lt_buf_release(&said);
  return needed;
}

void lt_plugin_tools_init(lt_plugin_tools *tools, lt_plugin *plugin, bool of_caller) {
  *tools = (lt_plugin_tools){.plugin = plugin};
  tools->base = (lt_provider){.name = lt_plugin_namespace(plugin),
                              .invoke = invoke,
                              .down = down,
                              .needs_approval = needs_approval,
                              .of_caller = of_caller};
}

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

lt_status lt_host_show_tools(lt_plugin *plugin, lt_err *err) {
  size_t count;
  lt_tool_spec *specs = lt_plugin_tools_specs(&plugin->tools, &count);
  if (specs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tools of plugin \"%s\"", plugin->is.id);
  }
  lt_status status = LT_OK;
  if (count > 0 || plugin->in_door) {
    status = lt_door_set_tools(plugin->host->options.door, &plugin->tools.base, specs, count, err);
    plugin->in_door = plugin->in_door || status == LT_OK;
  }
  lt_mem_free(specs);
  return status;
}

/* --- Functions and modules for programs --------------------------------------------------------------------------- */
/* What a failure says has no secrets in it, as where a tool fails: the door is not on this way. */
static lt_status mask_failure(const lt_secrets *secrets, lt_status status, lt_buf *out, lt_err *err) {
  lt_secrets_mask_buf(secrets, out);
  if (err != NULL && lt_secrets_in(secrets, lt_str_of(lt_err_msg(err)))) {
    lt_buf text;
    lt_buf_init(&text, 2 * LT_ERR_MSG_MAX);
    lt_secrets_mask(secrets, lt_str_of(lt_err_msg(err)), &text);
    lt_fail(err, status, "%.*s", LT_STR_ARG(text.status == LT_OK ? lt_buf_view(&text) : LT_STR("***")));
    lt_buf_release(&text);
  }
  return status;
}

static lt_status call_function(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out,
                               lt_err *err) LT_YIELDS {
  const lt_plugin_function *f = arg;
  lt_call_how how = {.kind = LT_CALL_FUNCTION,
                     .name = f->name,
                     .fn = f->invoke,
                     .arg = f->arg,
                     .in = args,
                     .caller = options != NULL ? options->caller : NULL,
                     .options = options,
                     .timeout_ms = LT_PLUGIN_CALL_MS};
  const lt_secrets *secrets = f->plugin->host->options.secrets;
  lt_status status = run_to_end(f->plugin, &how, out, err);
  return status == LT_OK ? LT_OK : mask_failure(secrets, status, out, err);
}

static bool has_run_function(const lt_host *host, lt_str name) {
  for (size_t i = 0; i < host->function_count; i++) {
    if (lt_str_eq(host->functions[i].name, name)) {
      return true;
    }
  }
  return false;
}

static bool has_run_module(const lt_host *host, lt_str name) {
  for (size_t i = 0; i < host->module_count; i++) {
    if (lt_str_eq(host->modules[i].name, name)) {
      return true;
    }
  }
  return false;
}

static void warn_taken(lt_host *host, const lt_plugin *plugin, const char *what, lt_str name) {
  char text[2 * LT_PLUGIN_NAME_BYTES];
  int n = snprintf(text, sizeof text, "its %s \"%.*s\" is left out: an earlier plugin has one of that name", what,
                   LT_STR_ARG(name));
  lt_host_warn(host, plugin, lt_str_from(text, (size_t)n));
}

/* A model reads it. */
static void mask_text(const lt_secrets *secrets, lt_arena *arena, lt_str *text) {
  if (!lt_secrets_in(secrets, *text)) {
    return;
  }
  lt_buf masked;
  lt_buf_init(&masked, 4 * LT_PLUGIN_LINE_BYTES);
  lt_secrets_mask(secrets, *text, &masked);
  *text = masked.status == LT_OK ? lt_arena_dup(arena, lt_buf_view(&masked)) : LT_STR_NULL;
  lt_buf_release(&masked);
}

static void add_functions(lt_host *host, lt_plugin *plugin, lt_registry *r) {
  for (lt_plugin_function *f = r->functions; f != NULL; f = f->next) {
    if (has_run_function(host, f->name)) {
      warn_taken(host, plugin, "function", f->name);
      continue;
    }
    mask_text(host->options.secrets, &r->arena, &f->signature);
    mask_text(host->options.secrets, &r->arena, &f->description);
    host->functions[host->function_count++] = (lt_run_function){
        .name = f->name, .signature = f->signature, .description = f->description, .call = call_function, .arg = f};
  }
}

static void add_modules(lt_host *host, const lt_plugin *plugin, const lt_plugin_module *first) {
  for (const lt_plugin_module *m = first; m != NULL; m = m->next) {
    if (has_run_module(host, m->name)) {
      warn_taken(host, plugin, "module", m->name);
    } else {
      host->modules[host->module_count++] = (lt_run_module){.name = m->name, .source = m->source};
    }
  }
}

static void count_all(const lt_host *host, size_t *ret_functions, size_t *ret_modules) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    for (const lt_registry *r = host->plugins[i]->tools.registered; r != NULL; r = r->next) {
      *ret_functions += r->function_count;
      *ret_modules += r->module_count;
    }
  }
}

lt_status lt_host_collect(lt_host *host, lt_err *err) {
  size_t function_count = 0, module_count = 0;
  count_all(host, &function_count, &module_count);
  lt_run_function *functions = lt_mem_zalloc(function_count, sizeof *functions);
  lt_run_module *modules = lt_mem_zalloc(module_count, sizeof *modules);
  if (functions == NULL || modules == NULL) {
    lt_mem_free(functions);
    lt_mem_free(modules);
    return lt_fail(err, LT_E_NOMEM, "no memory for the functions of plugins");
  }
  lt_mem_free(host->functions);
  lt_mem_free(host->modules);
  host->functions = functions;
  host->modules = modules;
  host->function_count = host->module_count = 0;
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin *plugin = host->plugins[i];
    for (lt_registry *r = plugin->why_out.n == 0 ? plugin->tools.registered : NULL; r != NULL; r = r->next) {
      add_functions(host, plugin, r);
      add_modules(host, plugin, r->modules);
    }
  }
  return LT_OK;
}
