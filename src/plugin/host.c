/* The list of plugins: loading, ready, closing. */
#include "plugin/host.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/fan_out.h"
#include "json/json.h"
#include "plugin/hook_input.h"
#include "plugin/host_line.h"
#include "plugin/host_modes.h"
#include "plugin/host_programs.h"
#include "plugin/host_state.h"
#include "plugin/plugin_hook.h"
#include "plugin/plugin_load.h"
#include "plugin/shared_object.h"
#include "text/plain.h"

lt_status lt_host_new(const lt_host_options *options, lt_host **ret_host, lt_err *err) {
  lt_host *host = lt_mem_zalloc(1, sizeof *host);
  if (host == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for plugins");
  }
  host->options = *options;
  *ret_host = host;
  return LT_OK;
}

/* --- Registered tools and functions ------------------------------------------------------------------------------- */
/* Takes the registrations of setup or ready: they are permanent. */
static lt_status host_adopt(lt_plugin *plugin, lt_registry *registered, lt_err *err) {
  lt_registry **last = &plugin->tools.registered;
  while (*last != NULL) {
    last = &(*last)->next;
  }
  *last = registered;
  LT_TRY(lt_plugin_tools_publish(plugin, err));
  LT_TRY(lt_host_modes_collect(plugin->host, err));
  return lt_host_programs_collect(plugin->host, err);
}

/* Disables a plugin: its functions are not called any more. It stays in the list without tools, so that calls of its
 * tools fail with the reason. */
static void host_disable_plugin(lt_plugin *plugin, const lt_err *err) {
  lt_buf *reason = &plugin->disabled_reason;
  lt_buf_clear(reason);
  lt_buf_printf(reason, "plugin \"%s\" is not available: ", plugin->definition.id);
  lt_plain_add_line(reason, lt_str_of(lt_err_msg(err)));
  if (reason->status != LT_OK) {
    lt_buf_clear(reason);
    lt_buf_addc(reason, "this plugin is not available");
  }
  if (lt_door_set_tools(plugin->host->options.door, &plugin->tools.base, NULL, 0, NULL) == LT_OK) {
    plugin->is_in_door = true;
  }
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */
static lt_status host_append(lt_host *host, lt_plugin *plugin, lt_err *err) {
  lt_plugin **plugins = lt_mem_realloc(host->plugins, (host->plugin_count + 1) * sizeof(lt_plugin *));
  if (plugins == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another plugin");
  }
  host->plugins = plugins;
  plugins[host->plugin_count++] = plugin;
  return LT_OK;
}

static lt_status host_set_up(lt_plugin *plugin, lt_err *err) LT_YIELDS {
  lt_registry *registered = NULL;
  LT_TRY(lt_plugin_load_check_config(plugin, err));
  if (plugin->definition.setup != NULL) {
    lt_plugin_hook hook = {.kind = LT_CALL_SETUP, .in = plugin->config, .timeout_ms = LT_PLUGIN_SETUP_MS};
    LT_TRY(lt_plugin_hook_run(plugin, &hook, &registered, err));
    LT_TRY(host_adopt(plugin, registered, err));
  }
  plugin->is_set_up = true;
  return LT_OK;
}

/* From `ret_added` on the plugin is in the list, also when its setup fails: then calls of its tools say why. */
static lt_status host_add_plugin(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config,
                                 bool *ret_added, lt_err *err) LT_YIELDS {
  lt_plugin *plugin = NULL;
  LT_TRY(lt_plugin_load_entry(host, entry, library, config, &plugin, err));
  lt_status status = host_append(host, plugin, err);
  *ret_added = true;
  if (status != LT_OK) {
    lt_plugin_thread_end(plugin, LT_PLUGIN_END_MS);
    lt_plugin_unref(plugin);
    return status;
  }
  LT_ERR_VAR(why);
  status = host_set_up(plugin, &why);
  if (status != LT_OK) {
    host_disable_plugin(plugin, &why);
    lt_err_copy(err, &why);
  }
  return status;
}

/* Puts the plugin's name before the message, and removes control characters, because the plugin may have written the
 * message.
 */
static lt_status host_name_failure(lt_err *err, const char *name, lt_status status) {
  LT_AUTO_BUF(text, 2 * LT_ERR_MSG_MAX);
  lt_err_prefix(err, "plugin %s", name);
  if (err != NULL) {
    lt_plain_add_line(&text, lt_str_of(lt_err_msg(err)));
    lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(&text)));
  }
  return status;
}

lt_status lt_host_load(lt_host *host, const char *path, lt_str config, lt_err *err) {
  void *library = NULL;
  lathe_plugin_entry_fn *entry = NULL;
  bool is_added = false;
  lt_status status = lt_shared_object_open(path, &library, &entry, err);
  if (status == LT_OK) {
    status = host_add_plugin(host, entry, library, config, &is_added, err);
    if (!is_added) {
      lt_shared_object_close(library);
    }
  }
  if (status != LT_OK) {
    return host_name_failure(err, path, status);
  }
  return LT_OK;
}

lt_status lt_host_add(lt_host *host, lathe_plugin_entry_fn *entry, lt_str config, lt_err *err) {
  bool is_added = false;
  lt_status status = host_add_plugin(host, entry, NULL, config, &is_added, err);
  if (status == LT_OK) {
    return LT_OK;
  }
  const lathe_plugin *definition = entry();
  bool has_name = definition != NULL && definition->id != NULL;
  return host_name_failure(err, has_name ? definition->id : "without a name", status);
}

/* --- Ready -------------------------------------------------------------------------------------------------------- */
static lt_status host_put_ready_input(const lt_host *host, lt_buf *out, lt_err *err) {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_door_catalog(host->options.door, &catalog, err));
  lt_run_request defaults = lt_host_programs_defaults(host);
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "tools");
  lt_json_begin_array(&w);
  lt_hook_input_put_tools(&w, catalog, LT_STR(""));
  lt_json_end_array(&w);
  lt_hook_input_put_programs(&w, &defaults, &host->options);
  lt_json_end_object(&w);
  lt_catalog_unref(catalog);
  return lt_buf_check(out, err, "no memory for the list of tools");
}

static lt_status host_call_ready(lt_plugin *plugin, lt_err *err) LT_YIELDS {
  lt_registry *registered = NULL;
  LT_AUTO_BUF(in, LT_JSON_MAX_BYTES);
  LT_TRY(host_put_ready_input(plugin->host, &in, err));
  lt_plugin_hook hook = {.kind = LT_CALL_READY, .in = lt_buf_view(&in), .timeout_ms = LT_PLUGIN_SETUP_MS};
  LT_TRY(lt_plugin_hook_run(plugin, &hook, &registered, err));
  return host_adopt(plugin, registered, err);
}

void lt_host_ready(lt_host *host) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin *plugin = host->plugins[i];
    LT_ERR_VAR(err);
    if (lt_plugin_is_disabled(plugin) || plugin->definition.ready == NULL || host_call_ready(plugin, &err) == LT_OK) {
      continue;
    }
    host_disable_plugin(plugin, &err);
    lt_host_programs_collect(host, NULL);
    lt_host_modes_collect(host, NULL);
    (void)lt_host_line_show(plugin, true, lt_buf_view(&plugin->disabled_reason));
  }
}

bool lt_host_open_namespace(const lt_host *host, size_t i, lt_str *ret_ns) {
  if (i >= host->plugin_count) {
    return false;
  }
  const lt_plugin *plugin = host->plugins[i];
  bool is_open = lt_plugin_is_disabled(plugin) || plugin->definition.prepare != NULL;
  *ret_ns = is_open ? lt_plugin_namespace(plugin) : LT_STR_NULL;
  return true;
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
static void host_end_plugin(void *arg) LT_YIELDS {
  lt_plugin *plugin = arg;
  uint64_t until_ms = lt_clock_monotonic_ms() + LT_PLUGIN_END_MS;
  if (plugin->is_set_up && plugin->definition.teardown != NULL) {
    lt_plugin_hook hook = {.kind = LT_CALL_TEARDOWN, .timeout_ms = LT_PLUGIN_END_MS};
    lt_plugin_hook_run(plugin, &hook, NULL, NULL);
  }
  plugin->is_closing = true;
  lt_cancel_fire(&plugin->end_cancel, LT_E_CANCELLED);
  uint64_t now = lt_clock_monotonic_ms();
  lt_plugin_thread_end(plugin, until_ms > now ? until_ms - now : 0);
}

/* Nothing of it has to be waited for. */
static bool host_is_idle(const lt_plugin *plugin) {
  return plugin->definition.teardown == NULL && !plugin->thread.has_started && plugin->request_count == 0 &&
         plugin->call_count == 0;
}

/* Plugins run in parallel: several busy ones take as long as one. */
static void host_end_plugins(lt_host *host) LT_YIELDS {
  lt_fan_out ends;
  lt_fan_out_init(&ends, host->options.loop);
  for (size_t i = host->plugin_count; i > 0; i--) {
    lt_plugin *plugin = host->plugins[i - 1];
    if (plugin->is_in_door) {
      lt_door_remove(host->options.door, &plugin->tools.base);
    }
    if (host_is_idle(plugin)) {
      host_end_plugin(plugin);
    } else {
      lt_fan_out_add(&ends, host_end_plugin, plugin);
    }
  }
  lt_fan_out_wait(&ends, NULL, UINT64_MAX);
}

void lt_host_free(lt_host *host) {
  if (host == NULL) {
    return;
  }
  host_end_plugins(host);
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin_unref(host->plugins[i]);
  }
  lt_mem_free(host->plugins);
  lt_mem_free(host->modules);
  lt_mem_free(host->functions);
  lt_mem_free(host->modes);
  lt_mem_free(host);
}
