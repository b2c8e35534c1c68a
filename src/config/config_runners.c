/* The sections `python`, `deno`, `typescript` and `plan`: what runs programs beside the embedded engine. */
#include <stdlib.h>

#include "config/config_parts.h"

typedef lt_config_reading reading;

/* Absolute where it has a slash; a name is looked up in PATH when it is needed. NULL for a key that is not there. */
static lt_status take_path(const reading *r, const lt_yaml_node *map, const char *section, const char **ret) {
  const lt_yaml_node *node = lt_config_given(map, "path");
  const char *path = NULL;
  if (!node) {
    return LT_OK;
  }
  LT_TRY(lt_config_expand(r, node, &path));
  if (!path[0]) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s.path is empty: write where it is, or leave it out", r->name,
                   node->line, section);
  }
  *ret = strchr(path, '/') ? lt_config_path(r, path) : path;
  return *ret ? LT_OK : lt_config_no_memory(r);
}

/* --- python ------------------------------------------------------------------------------------------------------- */

/* Variables of ours, those of them that are set, as NAME=value. */
static lt_status pass_through(const reading *r, const lt_yaml_node *list, const char **env) {
  while (*env) {
    env++;
  }
  for (const lt_yaml_node *item = list->kids; item; item = item->next) {
    const char *value = getenv(item->text.p);
    if (!value) {
      continue;
    }
    LT_TRY(lt_config_secret_entry(r, item->text, lt_str_of(value)));
    *env = lt_arena_printf(&r->config->arena, "%s=%s", item->text.p, value).p;
    if (!*env++) {
      return lt_config_no_memory(r);
    }
  }
  return LT_OK;
}

static lt_status take_env(const reading *r, const lt_yaml_node *map) {
  lt_config_python *python = &r->config->python;
  const lt_yaml_node *through = lt_config_given(map, "envPassthrough");
  const lt_yaml_node *list = through && through->type == LT_YAML_LIST ? through : NULL;
  const char **env = NULL;
  LT_TRY(lt_config_env(r, lt_config_given(map, "env"), list ? list->count : 0, &env));
  python->env = env;
  lt_yaml_bool(through, &python->env_passthrough);
  return list ? pass_through(r, list, env) : LT_OK;
}

lt_status lt_config_take_python(const reading *r, const lt_yaml_node *map) {
  lt_config_python *python = &r->config->python;
  const lt_yaml_node *workspace = lt_config_given(map, "workspace");
  if (!map) {
    return LT_OK;
  }
  python->given = true;
  LT_TRY(take_path(r, map, "python", &python->path));
  LT_TRY(take_env(r, map));
  if (workspace) {
    LT_TRY(lt_config_expand(r, workspace, &python->workspace));
    python->workspace = lt_config_path(r, python->workspace);
  }
  return !workspace || python->workspace ? LT_OK : lt_config_no_memory(r);
}

/* --- The others --------------------------------------------------------------------------------------------------- */

lt_status lt_config_take_deno(const reading *r, const lt_yaml_node *map) {
  return take_path(r, map, "deno", &r->config->deno_path);
}

lt_status lt_config_take_typescript(const reading *r, const lt_yaml_node *map) {
  lt_config_typescript *typescript = &r->config->typescript;
  const lt_yaml_node *runner = lt_config_given(map, "runner");
  bool check;
  LT_TRY(take_path(r, map, "typescript", &typescript->path));
  typescript->check = lt_yaml_bool(lt_yaml_get(map, "check"), &check) ? check : -1;
  typescript->runner = runner && lt_str_eqc(runner->text, "deno") ? LT_CONFIG_DENO : LT_CONFIG_QUICKJS;
  if (typescript->check == 1 && typescript->runner != LT_CONFIG_DENO) { /* who asks for it counts on it */
    return lt_config_warn(r,
                          "%s:%u: typescript.check: types are checked of programs that run on Deno only: say "
                          "typescript.runner: deno, too",
                          r->name, map->line);
  }
  return LT_OK;
}

void lt_config_take_plan(const reading *r, const lt_yaml_node *map) {
  lt_config_plan *plan = &r->config->plan;
  plan->given = map != NULL;
  lt_yaml_int(lt_yaml_get(map, "maxSteps"), &plan->max_steps);
  lt_yaml_int(lt_yaml_get(map, "concurrency"), &plan->concurrency);
}
