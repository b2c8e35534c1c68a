/* The list of plugins: loading, ready, the end. */
#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "text/plain.h"
#include "plugin/hook.h"
#include "plugin/load.h"

/* --- The host ----------------------------------------------------------------------------------------------------- */
lt_status lt_host_new(const lt_host_options *options, lt_host **ret_host, lt_err *err) {
  lt_host *host = lt_mem_zalloc(1, sizeof *host);
  if (host == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for plugins");
  }
  host->options = *options;
  lt_wait_init(&host->ended, options->loop);
  *ret_host = host;
  return LT_OK;
}

const lt_run_module *lt_host_modules(const lt_host *host, size_t *ret_count) {
  *ret_count = host->module_count;
  return host->modules;
}

const lt_run_function *lt_host_functions(const lt_host *host, size_t *ret_count) {
  *ret_count = host->function_count;
  return host->functions;
}

void lt_host_warn(lt_host *host, const lt_plugin *plugin, lt_str text) {
  if (host->options.on_line == NULL) {
    return;
  }
  lt_buf line;
  lt_buf_init(&line, 4 * LT_PLUGIN_LINE_BYTES);
  lt_buf_printf(&line, "plugin %s: ", plugin->is.id);
  lt_host_add_words(host, text, &line);
  if (line.status == LT_OK) {
    host->options.on_line(host->options.arg, true, lt_buf_view(&line));
  }
  lt_buf_release(&line);
}

/* --- A plugin's end ----------------------------------------------------------------------------------------------- */
static void plugin_free(lt_plugin *plugin) {
  lt_plugin_thread *t = &plugin->thread;
  lt_registry_free(plugin->tools.registered);
  lt_schema_free(plugin->config_schema);
  lt_schema_free(plugin->state_schema);
  lt_buf_release(&plugin->why_out);
  lt_arena_release(&plugin->arena);
  pthread_mutex_destroy(&t->lock);
  pthread_cond_destroy(&t->changed);
  if (!t->started || t->ended) { /* else the thread may have been in its code until just now */
    lt_library_close(plugin->library);
  }
  lt_mem_free(plugin);
}

void lt_plugin_unref(lt_plugin *plugin) {
  if (atomic_fetch_sub(&plugin->refs, 1) == 1) {
    plugin_free(plugin);
  }
}

void lt_host_take_out(lt_plugin *plugin, lt_str why) {
  lt_buf_clear(&plugin->why_out);
  lt_buf_printf(&plugin->why_out, "plugin \"%s\" is not available: ", plugin->is.id);
  lt_plain_add_line(&plugin->why_out, why);
  if (plugin->why_out.status != LT_OK) {
    lt_buf_clear(&plugin->why_out);
    lt_buf_addc(&plugin->why_out, "this plugin is not available");
  }
  /* Without tools, but known: whoever calls one learns why. */
  if (lt_door_set_tools(plugin->host->options.door, &plugin->tools.base, NULL, 0, NULL) == LT_OK) {
    plugin->in_door = true;
  }
}

static void end_plugin(void *arg) LT_YIELDS {
  lt_plugin *plugin = arg;
  lt_host *host = plugin->host;
  uint64_t until_ms = lt_host_now_ms() + LT_PLUGIN_END_MS;
  if (plugin->is_set_up && plugin->is.teardown != NULL) {
    lt_host_hook(plugin, &(lt_hook){.kind = LT_CALL_TEARDOWN, .timeout_ms = LT_PLUGIN_END_MS}, NULL, NULL);
  }
  plugin->closing = true;
  lt_cancel_fire(&plugin->ending, LT_E_CANCELLED);
  uint64_t now = lt_host_now_ms();
  lt_thread_end(plugin, until_ms > now ? until_ms - now : 0);
  host->ending--;
  lt_wait_wake(&host->ended, LT_OK);
}

/* Side by side: several that are busy cost the time of one. */
static void end_plugins(lt_host *host) LT_YIELDS {
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin *plugin = host->plugins[host->plugin_count - 1 - i];
    if (plugin->in_door) {
      lt_door_remove(host->options.door, &plugin->tools.base);
    }
    host->ending++;
    if (lt_loop_spawn(host->options.loop, end_plugin, plugin, NULL) != LT_OK) {
      end_plugin(plugin);
    }
  }
  while (host->ending > 0) {
    lt_wait_on(&host->ended, UINT64_MAX);
  }
}

void lt_host_free(lt_host *host) {
  if (host == NULL) {
    return;
  }
  end_plugins(host);
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin_unref(host->plugins[i]);
  }
  lt_mem_free(host->plugins);
  lt_mem_free(host->modules);
  lt_mem_free(host->functions);
  lt_mem_free(host->modes);
  lt_mem_free(host);
}

/* --- Hooks -------------------------------------------------------------------------------------------------------- */
static const char *hook_name(lt_call_kind kind) {
  switch (kind) {
    case LT_CALL_SETUP:
      return "setup";
    case LT_CALL_READY:
      return "ready";
    case LT_CALL_PREPARE:
      return "prepare";
    case LT_CALL_TEARDOWN:
      return "teardown";
    case LT_CALL_TOOL:
    case LT_CALL_FUNCTION:
    case LT_CALL_MODE:
      break;
  }
  return "";
}

static lathe_function_fn *hook_fn(const lathe_plugin *is, lt_call_kind kind) {
  switch (kind) {
    case LT_CALL_SETUP:
      return is->setup;
    case LT_CALL_READY:
      return is->ready;
    case LT_CALL_PREPARE:
      return is->prepare;
    case LT_CALL_TEARDOWN:
      return is->teardown;
    case LT_CALL_TOOL:
    case LT_CALL_FUNCTION:
    case LT_CALL_MODE:
      break;
  }
  return NULL;
}

static lt_status judge_hook(const lathe_call *call, lt_err *err) {
  lt_buf said;
  lt_buf_init(&said, LT_JSON_MAX_BYTES);
  lt_status status = lt_call_outcome(call, &said, err);
  lt_buf_release(&said);
  return status;
}

lt_status lt_host_hook(lt_plugin *plugin, const lt_hook *hook, lt_registry **ret_registered, lt_err *err) {
  lathe_call *call = NULL;
  lt_call_how how = {.kind = hook->kind,
                     .name = lt_str_of(hook_name(hook->kind)),
                     .fn = hook_fn(&plugin->is, hook->kind),
                     .arg = plugin->is.arg,
                     .in = hook->in,
                     .caller = hook->caller,
                     .timeout_ms = hook->timeout_ms};
  LT_TRY(lt_call_new(plugin, &how, &call, err));
  lt_status status = lt_call_run(call, err);
  if (status == LT_OK) {
    status = judge_hook(call, err);
  }
  if (status == LT_OK && ret_registered != NULL) {
    *ret_registered = call->registered;
    call->registered = NULL;
  }
  lt_call_unref(call);
  return status;
}

/* What setup or ready registered is there for good. */
static lt_status adopt(lt_plugin *plugin, lt_registry *registered, lt_err *err) {
  lt_registry **last = &plugin->tools.registered;
  while (*last != NULL) {
    last = &(*last)->next;
  }
  *last = registered;
  LT_TRY(lt_host_show_tools(plugin, err));
  LT_TRY(lt_host_collect_modes(plugin->host, err));
  return lt_host_collect(plugin->host, err);
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */
static lt_status add_to_list(lt_host *host, lt_plugin *plugin, lt_err *err) {
  lt_plugin **plugins = lt_mem_realloc(host->plugins, (host->plugin_count + 1) * sizeof(lt_plugin *));
  if (plugins == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another plugin");
  }
  host->plugins = plugins;
  plugins[host->plugin_count++] = plugin;
  return LT_OK;
}

static lt_status set_up(lt_plugin *plugin, lt_err *err) LT_YIELDS {
  lt_registry *registered = NULL;
  LT_TRY(lt_plugin_check_config(plugin, err));
  if (plugin->is.setup != NULL) {
    lt_hook hook = {.kind = LT_CALL_SETUP, .in = plugin->config, .timeout_ms = LT_PLUGIN_SETUP_MS};
    LT_TRY(lt_host_hook(plugin, &hook, &registered, err));
    LT_TRY(adopt(plugin, registered, err));
  }
  plugin->is_set_up = true;
  return LT_OK;
}

/* From here on the plugin is in the list, whether its setup works or not: its tools say why they do not. */
static lt_status add_plugin(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config, bool *ret_added,
                            lt_err *err) LT_YIELDS {
  lt_plugin *plugin = NULL;
  LT_TRY(lt_plugin_read(host, entry, library, config, &plugin, err));
  lt_status status = add_to_list(host, plugin, err);
  *ret_added = true;
  if (status != LT_OK) {
    lt_thread_end(plugin, LT_PLUGIN_END_MS);
    lt_plugin_unref(plugin);
    return status;
  }
  lt_err why = LT_ERR_INIT;
  status = set_up(plugin, &why);
  if (status != LT_OK) {
    lt_host_take_out(plugin, lt_str_of(lt_err_msg(&why)));
    return lt_fail(err, status, "%s", lt_err_msg(&why));
  }
  return LT_OK;
}

/* Whose failure it was, and without what a terminal would act on: some of it are the plugin's own words. */
static lt_status say_whose(lt_err *err, const char *whose, lt_status status) {
  lt_buf text;
  lt_buf_init(&text, 2 * LT_ERR_MSG_MAX);
  lt_err_prefix(err, "plugin %s", whose);
  if (err != NULL) {
    lt_plain_add_line(&text, lt_str_of(lt_err_msg(err)));
    lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(&text)));
  }
  lt_buf_release(&text);
  return status;
}

lt_status lt_host_load(lt_host *host, const char *path, lt_str config, lt_err *err) {
  void *library = NULL;
  lathe_plugin_entry_fn *entry = NULL;
  bool added = false;
  lt_status status = lt_library_open(path, &library, &entry, err);
  if (status == LT_OK) {
    status = add_plugin(host, entry, library, config, &added, err);
    if (!added) {
      lt_library_close(library);
    }
  }
  return status == LT_OK ? LT_OK : say_whose(err, path, status);
}

lt_status lt_host_add(lt_host *host, lathe_plugin_entry_fn *entry, lt_str config, lt_err *err) {
  bool added = false;
  lt_status status = add_plugin(host, entry, NULL, config, &added, err);
  const lathe_plugin *is = status == LT_OK ? NULL : entry();
  return status == LT_OK ? LT_OK : say_whose(err, is != NULL && is->id != NULL ? is->id : "without a name", status);
}

/* --- Ready -------------------------------------------------------------------------------------------------------- */
static lt_status tell_all(const lt_host *host, lt_buf *out, lt_err *err) {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_door_catalog(host->options.door, &catalog, err));
  lt_run_request world = lt_host_world(host);
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "tools");
  lt_json_begin_array(&w);
  lt_told_tools(&w, catalog, LT_STR(""));
  lt_json_end_array(&w);
  lt_told_world(&w, &world, &host->options);
  lt_json_end_object(&w);
  lt_catalog_unref(catalog);
  return out->status == LT_OK ? LT_OK : lt_fail(err, out->status, "no memory for the list of tools");
}

static lt_status call_ready(lt_plugin *plugin, lt_err *err) LT_YIELDS {
  lt_registry *registered = NULL;
  lt_buf in;
  lt_buf_init(&in, LT_JSON_MAX_BYTES);
  lt_status status = tell_all(plugin->host, &in, err);
  if (status == LT_OK) {
    lt_hook hook = {.kind = LT_CALL_READY, .in = lt_buf_view(&in), .timeout_ms = LT_PLUGIN_SETUP_MS};
    status = lt_host_hook(plugin, &hook, &registered, err);
  }
  lt_buf_release(&in);
  return status == LT_OK ? adopt(plugin, registered, err) : status;
}

void lt_host_ready(lt_host *host) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    lt_plugin *plugin = host->plugins[i];
    lt_err err = LT_ERR_INIT;
    if (plugin->why_out.n > 0 || plugin->is.ready == NULL || call_ready(plugin, &err) == LT_OK) {
      continue;
    }
    lt_host_take_out(plugin, lt_str_of(lt_err_msg(&err)));
    lt_host_collect(host, NULL);
    lt_host_collect_modes(host, NULL);
    lt_host_warn(host, plugin, lt_buf_view(&plugin->why_out));
  }
}
