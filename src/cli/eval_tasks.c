#include "cli/eval_tasks.h"

#include "base/limits.h"
#include "config/config_expand.h"
#include "config/config_json.h"
#include "cli/input_file.h"

typedef lt_config_reading reading;

static lt_status eval_tasks_check_keys(const reading *r, const lt_yaml_node *map, const char *where,
                                       const char *const *known) {
  if (map == NULL || map->type != LT_YAML_MAP) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: %s is a mapping, not %s", r->name, map != NULL ? map->line : 1, where,
                   map != NULL ? lt_yaml_describe(map) : "nothing");
  }
  for (const lt_yaml_node *value = map->kids; value != NULL; value = value->next) {
    size_t i = 0;
    while (known[i] != NULL && !lt_str_eqc(value->key->text, known[i])) {
      i++;
    }
    if (known[i] == NULL) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: unknown key \"%s\" in %s", r->name, value->key->line,
                     lt_yaml_clip(value->key->text).text, where);
    }
  }
  return LT_OK;
}

static lt_status eval_tasks_take_text(const reading *r, const lt_yaml_node *map, const char *key, const char **ret) {
  const lt_yaml_node *node = lt_yaml_given(map, key);
  if (node == NULL || node->type != LT_YAML_SCALAR || node->text.n == 0) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a task needs the key \"%s\", a text", r->name, map->line, key);
  }
  *ret = node->text.p;
  return LT_OK;
}

static lt_status eval_tasks_take_check(const reading *r, const lt_yaml_node *check, lt_eval_task *task) {
  static const char *const kinds[] = {"contains", "matches", "json", "js", NULL};
  LT_TRY(eval_tasks_check_keys(r, check, "check", kinds));
  const lt_yaml_node *value = check->kids;
  if (value == NULL || value->next != NULL) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: a check is one of contains, matches, json and js", r->name,
                   check->line);
  }
  for (int i = 0; kinds[i] != NULL; i++) {
    if (lt_str_eqc(value->key->text, kinds[i])) {
      task->kind = (lt_eval_kind)i;
    }
  }
  if (task->kind == LT_EVAL_JSON) {
    return lt_config_json(r, value, &task->wanted);
  }
  if (value->type != LT_YAML_SCALAR || value->text.n == 0) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: check.%s is a text", r->name, value->line, kinds[task->kind]);
  }
  task->wanted = value->text;
  return LT_OK;
}

static lt_status eval_tasks_take_tasks(const reading *r, const lt_yaml_node *list, lt_eval_tasks *tasks) {
  static const char *const keys[] = {"name", "prompt", "check", NULL};
  if (list == NULL || list->type != LT_YAML_LIST || list->count == 0) {
    return lt_fail(r->err, LT_E_CONFIG, "%s: there are no tasks: tasks: [{name, prompt, check}]", r->name);
  }
  lt_eval_task *all = lt_arena_zalloc(&r->config->arena, list->count, sizeof *all);
  if (all == NULL) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list->kids; item != NULL; item = item->next, n++) {
    LT_TRY(eval_tasks_check_keys(r, item, "a task", keys));
    LT_TRY(eval_tasks_take_text(r, item, "name", &all[n].name));
    LT_TRY(eval_tasks_take_text(r, item, "prompt", &all[n].prompt));
    LT_TRY(eval_tasks_take_check(r, lt_yaml_given(item, "check"), &all[n]));
  }
  tasks->list = all;
  tasks->count = n;
  return LT_OK;
}

static lt_status eval_tasks_read_text(const reading *r, lt_str text, lt_eval_tasks *tasks) {
  static const char *const keys[] = {"config", "tasks", NULL};
  lt_yaml_node *root = NULL;
  LT_TRY(lt_yaml_parse(&r->config->arena, text, r->name, &root, r->err));
  LT_TRY(eval_tasks_check_keys(r, root, "the file", keys));
  const lt_yaml_node *config = lt_yaml_given(root, "config");
  if (config != NULL) {
    LT_TRY(lt_config_expand(r, config, &tasks->config));
    tasks->config = lt_config_path(r, tasks->config);
  }
  return eval_tasks_take_tasks(r, lt_yaml_given(root, "tasks"), tasks);
}

static const char *eval_tasks_folder_of(lt_arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? "." : slash == path ? "/" : lt_arena_dup(arena, lt_str_from(path, (size_t)(slash - path))).p;
}

lt_status lt_eval_tasks_read(const char *path, lt_eval_tasks *ret_tasks, lt_err *err) {
  *ret_tasks = (lt_eval_tasks){0};
  LT_AUTO_BUF(text, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_config_init(&ret_tasks->scratch);
  reading r = {.config = &ret_tasks->scratch, .name = path, .err = err};
  r.folder = eval_tasks_folder_of(&ret_tasks->scratch.arena, path);
  lt_status status = r.folder != NULL ? lt_input_file_read(path, &text, err) : lt_config_no_memory(&r);
  if (status == LT_OK) {
    status = eval_tasks_read_text(&r, lt_buf_view(&text), ret_tasks);
  }
  return status;
}

void lt_eval_tasks_release(lt_eval_tasks *tasks) {
  lt_config_release(&tasks->scratch);
}
