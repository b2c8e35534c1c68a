/* Loading a plugin: its struct, its schemas, its config, its thread. */
#include "plugin/plugin_load.h"

#include "base/limits.h"
#include "json/json.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"
#include "plugin/host_table.h"

/* --- The plugin's struct ------------------------------------------------------------------------------------------ */
static lt_status plugin_load_read_struct(lt_plugin *plugin, const lathe_plugin *given, lt_err *err) {
  lathe_plugin *definition = &plugin->definition;
  if (!lt_abi_read_struct(definition, sizeof *definition, offsetof(lathe_plugin, ready), given)) {
    return lt_fail(err, LT_E_INVALID,
                   "its lathe_plugin says a size that makes no sense: .size has to be sizeof(lathe_plugin)");
  }
  plugin->id = lt_abi_view_text(definition->id, LT_PLUGIN_ID_BYTES);
  if (!lt_abi_is_id(plugin->id)) {
    return lt_fail(err, LT_E_INVALID, "its id \"%.*s\" cannot be used: 1 to %d of a-z, 0-9 and \"-\"",
                   LT_STR_ARG(lt_abi_view_text(definition->id, LT_PLUGIN_NAME_BYTES)), LT_PLUGIN_ID_BYTES);
  }
  if ((definition->flags & ~(unsigned)(LATHE_ON_LOOP | LATHE_NO_NAMESPACE)) != 0) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "it asks for things that this Lathe (%s) does not know (flags 0x%x): it needs a newer one",
                   LT_VERSION, definition->flags);
  }
  return LT_OK;
}

static const char *plugin_load_copy(lt_arena *arena, const char *text, size_t max) {
  return text != NULL ? lt_arena_dup(arena, lt_abi_view_text(text, max)).p : NULL;
}

static lt_status plugin_load_copy_texts(lt_plugin *plugin, lt_str config, lt_err *err) {
  lathe_plugin *definition = &plugin->definition;
  lt_arena *arena = &plugin->arena;
  definition->id = plugin_load_copy(arena, definition->id, LT_PLUGIN_ID_BYTES);
  plugin->id.p = definition->id;
  definition->name = plugin_load_copy(arena, definition->name, LT_PLUGIN_LINE_BYTES);
  definition->description = plugin_load_copy(arena, definition->description, LT_PLUGIN_LINE_BYTES);
  plugin->config = lt_arena_dup(arena, lt_str_trim(config).n > 0 ? config : LT_STR("{}"));
  if (definition->id == NULL || plugin->config.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another plugin");
  }
  return LT_OK;
}

static lt_status plugin_load_read_schema(const char *text, const char *what, lt_schema **ret_schema, lt_err *err) {
  lt_str schema = lt_abi_view_text(text, LT_SCHEMA_MAX_BYTES);
  if (text == NULL) {
    return LT_OK;
  }
  if (lt_schema_new(schema, ret_schema, err) != LT_OK) {
    return lt_err_prefix(err, "its %s cannot be used", what);
  }
  return LT_OK;
}

/* --- The plugin's configuration ----------------------------------------------------------------------------------- */
lt_status lt_plugin_load_check_config(const lt_plugin *plugin, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(faults, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_json_doc doc;
  if (lt_json_parse(&arena, plugin->config, &doc, err) != LT_OK) {
    return lt_err_prefix(err, "its config is not JSON");
  }
  if (plugin->config_schema == NULL) {
    return LT_OK;
  }
  lt_status status = lt_schema_check(plugin->config_schema, lt_json_root(&doc), LT_STR("config"), &faults, err);
  return status != LT_E_INVALID ? status : lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(&faults)));
}

/* --- Loading one plugin ------------------------------------------------------------------------------------------- */
static lt_status plugin_load_check_room(const lt_host *host, const lt_plugin *plugin, lt_err *err) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    if (lt_str_eq(host->plugins[i]->id, plugin->id)) {
      return lt_fail(err, LT_E_INVALID, "there is a plugin \"%s\" already: name each only once", plugin->definition.id);
    }
  }
  LT_TRY(lt_door_check_namespace(host->options.door, lt_plugin_namespace(plugin), err));
  return host->plugin_count < LT_PLUGINS_MAX
             ? LT_OK
             : lt_fail(err, LT_E_LIMIT, "there are more than %d plugins", LT_PLUGINS_MAX);
}

static lt_status plugin_load_read(lt_plugin *plugin, const lathe_plugin *given, lt_str config, lt_err *err) {
  LT_TRY(plugin_load_read_struct(plugin, given, err));
  LT_TRY(plugin_load_check_room(plugin->host, plugin, err));
  LT_TRY(plugin_load_copy_texts(plugin, config, err));
  LT_TRY(plugin_load_read_schema(plugin->definition.config_schema, "config_schema", &plugin->config_schema, err));
  LT_TRY(plugin_load_read_schema(plugin->definition.state_schema, "state_schema", &plugin->state_schema, err));
  lt_plugin_tools_init(&plugin->tools, plugin, false);
  return lt_plugin_on_loop(plugin) ? LT_OK : lt_plugin_thread_start(plugin, err);
}

lt_status lt_plugin_load_entry(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config,
                               lt_plugin **ret_plugin, lt_err *err) {
  const lathe_plugin *given = entry();
  if (given == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "it says that it cannot work here (lathe_plugin_entry gave NULL)");
  }
  lt_plugin *plugin = lt_plugin_new(host, &lt_host_table);
  if (plugin == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another plugin");
  }
  lt_status status = plugin_load_read(plugin, given, config, err);
  if (status != LT_OK) {
    lt_plugin_unref(plugin);
    return status;
  }
  plugin->library = library;
  *ret_plugin = plugin;
  return LT_OK;
}
