#include "config/config_outline.h"

#include "base/buf.h"
#include "base/limits.h"
#include "config/config_foreign.h"
#include "config/config_read.h"
#include "config/yaml.h"

#define OUTLINE_VARIABLES_MAX 200

static bool config_outline_is_common(lt_str name) {
  static const char *const names[] = {"HOME", "PATH", "LANG", "TERM", "USER", "PWD", NULL};
  for (size_t i = 0; names[i] != NULL; i++) {
    if (lt_str_eqc(name, names[i])) {
      return true;
    }
  }
  return false;
}

static lt_status config_outline_add_variable(lt_arena *arena, lt_str name, lt_config_outline *outline, lt_err *err) {
  for (size_t i = 0; i < outline->variable_count; i++) {
    if (lt_str_eqc(name, outline->variables[i])) {
      return LT_OK;
    }
  }
  if (name.n == 0 || config_outline_is_common(name)) {
    return LT_OK;
  }
  if (outline->variable_count == OUTLINE_VARIABLES_MAX) {
    return lt_fail(err, LT_E_LIMIT, "the configuration refers to more than %d variables", OUTLINE_VARIABLES_MAX);
  }
  const char *kept = lt_arena_dup(arena, name).p;
  outline->variables[outline->variable_count++] = kept;
  return kept != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

static size_t config_outline_name_end(lt_str text, size_t at) {
  while (at < text.n && (text.p[at] == '_' || (text.p[at] >= '0' && text.p[at] <= '9') ||
                         ((text.p[at] | 0x20) >= 'a' && (text.p[at] | 0x20) <= 'z'))) {
    at++;
  }
  return at;
}

static lt_status config_outline_read_text(lt_arena *arena, lt_str text, lt_config_outline *outline, lt_err *err) {
  for (size_t at = 0; (at = lt_str_find(text, LT_STR("${"), at)) != SIZE_MAX; at += 2) {
    bool is_escaped = at > 0 && text.p[at - 1] == '$';
    lt_str name = lt_str_sub(text, at + 2, config_outline_name_end(text, at + 2));
    LT_TRY(is_escaped ? LT_OK : config_outline_add_variable(arena, name, outline, err));
  }
  return LT_OK;
}

/* At most LT_CONFIG_DEPTH_MAX deep. `is_name`: texts are names of variables themselves. */
static lt_status config_outline_walk(lt_arena *arena, const lt_yaml_node *node, bool is_name,
                                     lt_config_outline *outline, lt_err *err) {
  if (node->type == LT_YAML_SCALAR) {
    return is_name && node->text.n == config_outline_name_end(node->text, 0)
               ? config_outline_add_variable(arena, node->text, outline, err)
               : config_outline_read_text(arena, node->text, outline, err);
  }
  for (const lt_yaml_node *kid = node->kids; kid != NULL; kid = kid->next) {
    bool names =
        node->type == LT_YAML_MAP && (lt_str_eqc(kid->key->text, "apiKeyEnv") ||
                                      (lt_str_eqc(kid->key->text, "envPassthrough") && kid->type == LT_YAML_LIST));
    LT_TRY(config_outline_walk(arena, kid, names || (is_name && node->type == LT_YAML_LIST), outline, err));
  }
  return LT_OK;
}

lt_status lt_config_outline_add(lt_arena *arena, const char *path, bool is_foreign, lt_config_outline *outline,
                                lt_err *err) {
  LT_AUTO_BUF(text, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_config_identity identity;
  lt_yaml_node *root;
  if (outline->variables == NULL) {
    outline->variables = lt_arena_zalloc(arena, OUTLINE_VARIABLES_MAX + 1, sizeof *outline->variables);
  }
  if (outline->variables == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  LT_TRY(lt_config_read(path, true, &text, &identity, err));
  LT_TRY(is_foreign ? lt_config_foreign_parse(arena, lt_buf_view(&text), path, &root, err)
                    : lt_yaml_parse(arena, lt_buf_view(&text), path, &root, err));
  const lt_yaml_node *store = lt_yaml_given(root, "store");
  outline->has_store = outline->has_store || (store != NULL && store->type == LT_YAML_SCALAR) ||
                       (store != NULL && lt_yaml_given(store, "url") != NULL);
  return config_outline_walk(arena, root, false, outline, err);
}
