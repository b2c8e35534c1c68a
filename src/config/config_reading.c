#include "config/config_reading.h"

#include <stdio.h>

#include "base/limits.h"

static void config_write_place(const lt_config_place *place, lt_config_place_text *out) {
  if (place->up == NULL) {
    return;
  }
  config_write_place(place->up, out);
  size_t n = strlen(out->text);
  char *end = out->text + n;
  size_t room = sizeof out->text - n;
  if (place->key.p != NULL) {
    snprintf(end, room, "%s%s", n > 0 ? "." : "", lt_yaml_clip(place->key).text);
  } else {
    snprintf(end, room, "[%zu]", place->index);
  }
}

lt_config_place_text lt_config_place_of(const lt_config_place *place) {
  lt_config_place_text out = {{0}};
  config_write_place(place, &out);
  if (out.text[0] == '\0') {
    snprintf(out.text, sizeof out.text, "the configuration");
  }
  return out;
}

lt_status lt_config_wrong(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                          const char *expected) {
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s must be %s, not %s", r->name, node->line,
                 lt_config_place_of(place).text, expected, lt_yaml_describe(node));
}

lt_status lt_config_wrong_text(const lt_config_reading *r, const lt_yaml_node *node, const lt_config_place *place,
                               const char *expected) {
  if (node->type != LT_YAML_SCALAR) {
    return lt_config_wrong(r, node, place, expected);
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s must be %s, not \"%s\"", r->name, node->line,
                 lt_config_place_of(place).text, expected, lt_yaml_clip(node->text).text);
}

lt_status lt_config_no_memory(const lt_config_reading *r) {
  return lt_fail(r->err, LT_E_NOMEM, "%s: out of memory while reading it", r->name);
}

lt_status lt_config_warn(const lt_config_reading *r, const char *fmt, ...) {
  lt_config *config = r->config;
  size_t n = 0;
  while (config->warnings[n] != NULL) {
    n++;
  }
  if (n == LT_CONFIG_WARNINGS_MAX) {
    return LT_OK;
  }
  char message[LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  const char **warnings = lt_arena_zalloc(&config->arena, n + 2, sizeof *warnings);
  lt_str kept = lt_arena_dup(&config->arena, lt_str_of(message));
  if (warnings == NULL || kept.p == NULL) {
    return lt_config_no_memory(r);
  }
  memcpy(warnings, config->warnings, n * sizeof *warnings);
  warnings[n] = kept.p;
  config->warnings = warnings;
  return LT_OK;
}

const char *lt_config_path(const lt_config_reading *r, const char *path) {
  if (path[0] == '/') {
    return path;
  }
  if (strcmp(path, ".") == 0) {
    path = "";
  }
  bool is_root = strcmp(r->folder, "/") == 0;
  return lt_arena_printf(&r->config->arena, "%s%s%s", r->folder, is_root || path[0] == '\0' ? "" : "/", path).p;
}
