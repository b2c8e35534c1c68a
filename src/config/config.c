#include "config/config.h"

#include <stdlib.h>

#include "base/limits.h"
#include "config/config_foreign.h"
#include "config/config_keys.h"
#include "config/config_layer.h"
#include "config/config_secrets.h"
#include "config/config_take.h"

void lt_config_init(lt_config *config) {
  static const char *const no_warnings[] = {NULL};
  *config = (lt_config){.warnings = no_warnings};
  lt_arena_init(&config->arena, LT_CONFIG_MEMORY_BYTES);
  lt_config_key_set_standards(NULL, config);
}

void lt_config_release(lt_config *config) {
  lt_arena_release(&config->arena);
  lt_config_init(config);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

lt_status lt_config_parse_text(const lt_config_reading *reading, lt_str yaml) {
  lt_config_reading r = *reading;
  lt_yaml_node *root = NULL;
  r.name = lt_arena_dup(&r.config->arena, lt_str_of(r.name)).p;
  LT_TRY(r.name != NULL ? LT_OK : lt_config_no_memory(reading));
  LT_TRY(r.is_foreign ? lt_config_foreign_parse(&r.config->arena, yaml, r.name, &root, r.err)
                      : lt_yaml_parse(&r.config->arena, yaml, r.name, &root, r.err));
  return lt_config_take(&r, root);
}

static size_t config_count_texts(const char *const *texts) {
  size_t n = 0;
  while (texts[n] != NULL) {
    n++;
  }
  return n;
}

/* Adds the passed variables that are set. */
static lt_status config_pass_variables(const lt_config_reading *r) {
  lt_config_python *python = &r->config->python;
  if (!python->given) {
    return LT_OK;
  }
  size_t n = config_count_texts(python->env), passed = config_count_texts(python->passthrough.names);
  const char **env = lt_arena_zalloc(&r->config->arena, n + passed + 1, sizeof *env);
  if (env == NULL) {
    return lt_config_no_memory(r);
  }
  memcpy(env, python->env, n * sizeof *env);
  for (size_t i = 0; i < passed; i++) {
    const char *name = python->passthrough.names[i], *value = getenv(name);
    if (value == NULL) {
      continue;
    }
    LT_TRY(lt_config_secret_entry(r, lt_str_of(name), lt_str_of(value)));
    env[n] = lt_arena_printf(&r->config->arena, "%s=%s", name, value).p;
    if (env[n++] == NULL) {
      return lt_config_no_memory(r);
    }
  }
  python->env = env;
  return LT_OK;
}

/* Headers hold a key of the collector that their file names: an address in another file does not get them. */
static lt_status config_keep_headers(const lt_config_reading *r) {
  static const char *const nothing[] = {NULL};
  lt_config_telemetry *telemetry = &r->config->telemetry;
  const char *file = telemetry->headers_file;
  if (file == NULL || (telemetry->endpoint_file != NULL && strcmp(telemetry->endpoint_file, file) == 0)) {
    return LT_OK;
  }
  telemetry->headers = nothing;
  return lt_config_warn(
      r,
      "%s: telemetry.otlp.headers is ignored: headers are for the telemetry.otlp.endpoint of the same "
      "file",
      file);
}

lt_status lt_config_complete(lt_config *config, lt_err *err) {
  LT_TRY(config_keep_headers(&(lt_config_reading){.config = config, .name = "telemetry.otlp.headers", .err = err}));
  return config_pass_variables(&(lt_config_reading){.config = config, .name = "python.envPassthrough", .err = err});
}

lt_status lt_config_parse(lt_str yaml, const char *name, const char *folder, lt_config *ret_config, lt_err *err) {
  lt_config_init(ret_config);
  lt_config_reading r = {
      .config = ret_config, .name = name, .folder = folder, .layer = LT_CONFIG_LAYER_PROJECT, .err = err};
  LT_TRY(lt_config_parse_text(&r, yaml));
  return lt_config_complete(ret_config, err);
}

lt_status lt_config_parse_mcp(lt_str text, const char *name, const char *folder, lt_config *config, lt_err *err) {
  lt_config_reading r = {.config = config,
                         .name = name,
                         .folder = folder,
                         .layer = LT_CONFIG_LAYER_PROJECT,
                         .is_foreign = true,
                         .err = err};
  return lt_config_parse_text(&r, text);
}

bool lt_config_may_add_modes(const lt_config *config) {
  for (size_t i = 0; i < config->plugin_count; i++) {
    if (config->plugins[i].path != NULL && !config->plugins[i].disabled) {
      return true;
    }
  }
  return false;
}
