#include "app/plugins.h"

#include "json/json.h"
#include "plugin/builtin/builtin_plugins.h"

/* --- Built-in plugins --------------------------------------------------------------------------------------------- */
static bool plugins_has_python(const lt_config *config) {
  return config->python.given;
}

static bool plugins_has_plan(const lt_config *config) {
  return config->plan.given;
}

/* The section `plan` of the configuration. */
static void plugins_put_plan_config(const lt_config *config, lt_json_writer *w) {
  lt_json_begin_object(w);
  lt_json_key(w, "maxSteps");
  lt_json_put_int(w, config->plan.max_steps);
  lt_json_key(w, "concurrency");
  lt_json_put_int(w, config->plan.concurrency);
  lt_json_end_object(w);
}

typedef struct builtin_plugin {
  const char *name;
  lathe_plugin_entry_fn *entry;
  bool (*is_wanted)(const lt_config *config); /* for plugins that `plugins` does not name; NULL: always */
  void (*put_config)(const lt_config *config, lt_json_writer *json); /* the default config; may be NULL */
} builtin_plugin;

static const builtin_plugin builtin_plugins[] = {
    {"artifact", lt_builtin_artifact, NULL, NULL},
    {"interpreter", lt_builtin_interpreter, NULL, NULL},
    {"python", lt_builtin_python, plugins_has_python, NULL},
    {"plan", lt_builtin_plan, plugins_has_plan, plugins_put_plan_config},
};

#define BUILTIN_PLUGINS (sizeof builtin_plugins / sizeof builtin_plugins[0])

/* The namespaces of built-in plugins' tools. */
static const char *const builtin_namespaces[] = {"artifact", "interpreter"};

bool lt_plugins_has_namespace(lt_str name) {
  for (size_t i = 0; i < sizeof builtin_namespaces / sizeof builtin_namespaces[0]; i++) {
    if (lt_str_eq_fold(name, lt_str_of(builtin_namespaces[i]))) {
      return true;
    }
  }
  return false;
}

static const builtin_plugin *plugins_find_builtin_plugin(const char *name) {
  for (size_t i = 0; i < BUILTIN_PLUGINS; i++) {
    if (strcmp(builtin_plugins[i].name, name) == 0) {
      return &builtin_plugins[i];
    }
  }
  return NULL;
}

static bool plugins_is_configured_plugin(const lt_config *config, const char *name) {
  for (size_t i = 0; i < config->plugin_count; i++) {
    if (config->plugins[i].name != NULL && strcmp(config->plugins[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */
typedef struct plugin_loader {
  lt_host *host;
  const lt_config *config;
  const lt_report *report;
  const lt_cancel *cancel;
} plugin_loader;

static lt_status plugins_load_builtin_plugin(const plugin_loader *loader, const lt_config_plugin *plugin,
                                             lt_err *err) LT_YIELDS {
  const builtin_plugin *builtin = plugins_find_builtin_plugin(plugin->name);
  LT_AUTO_BUF(json, LT_KIB);
  lt_buf_addc(&json, plugin->config);
  if (json.n == 0 && builtin->put_config != NULL) {
    lt_json_writer w = lt_json_writer_on(&json);
    builtin->put_config(loader->config, &w);
  }
  LT_TRY(lt_buf_check(&json, err, "out of memory"));
  return lt_host_add(loader->host, builtin->entry, lt_buf_view(&json), err);
}

static void plugins_load_plugin(const plugin_loader *loader, const lt_config_plugin *plugin) LT_YIELDS {
  LT_ERR_VAR(err);
  if (plugin->disabled || loader->cancel->why != LT_OK) {
    return;
  }
  lt_status status = plugin->path != NULL ? lt_host_load(loader->host, plugin->path, lt_str_of(plugin->config), &err)
                                          : plugins_load_builtin_plugin(loader, plugin, &err);
  if (status != LT_OK) {
    lt_report_line(loader->report, LT_REPORT_WARNING, lt_str_of(lt_err_msg(&err)));
  }
}

/* Built-in plugins come first, so that others find their tools; plugins of the configuration follow in its order.
 */
void lt_plugins_load(lt_host *host, const lt_config *config, const lt_report *report, const lt_cancel *cancel) {
  const plugin_loader loader = {.host = host, .config = config, .report = report, .cancel = cancel};
  for (size_t i = 0; i < BUILTIN_PLUGINS; i++) {
    const builtin_plugin *builtin = &builtin_plugins[i];
    bool is_wanted = builtin->is_wanted == NULL || builtin->is_wanted(config);
    if (is_wanted && !plugins_is_configured_plugin(config, builtin->name)) {
      plugins_load_plugin(&loader, &(lt_config_plugin){.name = builtin->name, .config = ""});
    }
  }
  for (size_t i = 0; i < config->plugin_count; i++) {
    plugins_load_plugin(&loader, &config->plugins[i]);
  }
}
