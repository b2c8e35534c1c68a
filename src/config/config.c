#include "config/config.h"

#include "base/limits.h"
#include "config/config_keys.h"
#include "config/config_layer.h"
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

static lt_status config_parse_text(const lt_config_reading *r, lt_str yaml) {
  lt_yaml_node *root = NULL;
  LT_TRY(lt_yaml_parse(&r->config->arena, yaml, r->name, &root, r->err));
  return lt_config_take(r, root);
}

lt_status lt_config_parse_layer(lt_str yaml, const char *name, const char *folder, lt_config_layer layer,
                                lt_config *config, lt_err *err) {
  lt_config_reading r = {.config = config, .name = name, .folder = folder, .layer = layer, .err = err};
  return config_parse_text(&r, yaml);
}

lt_status lt_config_parse(lt_str yaml, const char *name, const char *folder, lt_config *ret_config, lt_err *err) {
  lt_config_init(ret_config);
  return lt_config_parse_layer(yaml, name, folder, LT_CONFIG_LAYER_PROJECT, ret_config, err);
}

lt_status lt_config_parse_mcp(lt_str text, const char *name, const char *folder, lt_config *config, lt_err *err) {
  lt_config_reading r = {.config = config, .name = name, .folder = folder, .is_foreign = true, .err = err};
  return config_parse_text(&r, text);
}

bool lt_config_may_add_modes(const lt_config *config) {
  for (size_t i = 0; i < config->plugin_count; i++) {
    if (config->plugins[i].path != NULL && !config->plugins[i].disabled) {
      return true;
    }
  }
  return false;
}
