/* The sections `models` and `defaults`. */
#include <stdlib.h>

#include "base/limits.h"
#include "config/config_parts.h"

typedef lt_config_reading reading;

/* NULL for a key that is not there; empty text is none, too: nobody means it. */
static lt_status take_text(const reading *r, const lt_yaml_node *map, const char *key, const char **ret) {
  const lt_yaml_node *node = lt_config_given(map, key);
  const char *text = NULL;
  if (node) {
    LT_TRY(lt_config_expand(r, node, &text));
    text = text[0] ? text : NULL;
  }
  *ret = text;
  return LT_OK;
}

static lt_status take_ref(const reading *r, const lt_yaml_node *item, const lt_config_model *models, size_t n,
                          const char **ret) {
  LT_TRY(take_text(r, item, "ref", ret));
  if (!*ret) {
    return lt_fail(r->err, LT_E_CONFIG,
                   "%s:%u: models[%zu].ref is empty: give the model a name of yours, as \"normal\"", r->name,
                   item->line, n);
  }
  for (size_t i = 0; i < n; i++) {
    if (strcmp(models[i].ref, *ret) == 0) {
      return lt_fail(r->err, LT_E_CONFIG, "%s:%u: models[%zu] has the same ref as models[%zu]", r->name, item->line, n,
                     i);
    }
  }
  return LT_OK;
}

static lt_status take_address(const reading *r, const lt_yaml_node *item, size_t n, const char **ret) {
  const lt_yaml_node *node = lt_config_given(item, "baseUrl");
  if (!node) {
    *ret = NULL;
    return LT_OK;
  }
  LT_TRY(lt_config_expand(r, node, ret));
  lt_str url = lt_str_of(*ret);
  if (!lt_str_starts(url, LT_STR("http://")) && !lt_str_starts(url, LT_STR("https://"))) {
    return lt_fail(r->err, LT_E_CONFIG,
                   "%s:%u: models[%zu].baseUrl is not an address that begins with http:// or https://", r->name,
                   node->line, n);
  }
  return LT_OK;
}

/* What somebody writes here may be the key itself: no message shows it. */
static lt_status take_key_name(const reading *r, const lt_yaml_node *item, size_t n, const char **ret) {
  LT_TRY(take_text(r, item, "apiKeyEnv", ret));
  const char *name = *ret;
  if (!name) {
    return LT_OK;
  }
  bool good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
  if (!good || (name[0] >= '0' && name[0] <= '9')) {
    return lt_fail(r->err, LT_E_CONFIG,
                   "%s:%u: models[%zu].apiKeyEnv is the name of an environment variable that holds the key, not the "
                   "key itself",
                   r->name, item->line, n);
  }
  const char *key = getenv(name);
  return key ? lt_config_secret_variable(r, lt_str_of(name), lt_str_of(key)) : LT_OK;
}

static lt_status take_model(const reading *r, const lt_yaml_node *item, lt_config_model *models, size_t n) {
  lt_config_model *model = &models[n];
  bool code_mode;
  LT_TRY(take_ref(r, item, models, n, &model->ref));
  LT_TRY(take_text(r, item, "model", &model->name));
  LT_TRY(take_address(r, item, n, &model->base_url));
  LT_TRY(take_key_name(r, item, n, &model->api_key_env));
  lt_yaml_int(lt_yaml_get(item, "maxTokens"), &model->max_tokens);
  model->code_mode = lt_yaml_bool(lt_yaml_get(item, "codeMode"), &code_mode) ? code_mode : -1;
  return LT_OK;
}

lt_status lt_config_take_models(const reading *r, const lt_yaml_node *list) {
  if (!list) {
    return LT_OK;
  }
  lt_config_model *models = lt_arena_zalloc(&r->config->arena, list->count + 1, sizeof *models);
  if (!models) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list->kids; item; item = item->next, n++) {
    LT_TRY(take_model(r, item, models, n));
  }
  r->config->models = models;
  r->config->model_count = n;
  return LT_OK;
}

/* --- defaults ----------------------------------------------------------------------------------------------------- */

static lt_status take_mode_rounds(const reading *r, const lt_yaml_node *value, lt_mode_rounds *ret) {
  int64_t rounds = 0;
  lt_str mode = value->key->text;
  lt_yaml_int(value, &rounds);
  if (rounds > LT_ROUNDS_MAX) {
    return lt_fail(r->err, LT_E_CONFIG, "%s:%u: defaults.maxRounds.%s is at most %d", r->name, value->line,
                   lt_yaml_clip(mode).text, LT_ROUNDS_MAX);
  }
  if (!lt_config_may_add_modes(r->config) && lt_agent_check_mode(NULL, mode, NULL) != LT_OK) {
    return lt_fail(r->err, LT_E_CONFIG,
                   "%s:%u: unknown mode \"%s\" in defaults.maxRounds (known here: classic, code, typescript)", r->name,
                   value->line, lt_yaml_clip(mode).text);
  }
  *ret = (lt_mode_rounds){.mode = lt_arena_dup(&r->config->arena, mode), .rounds = (uint32_t)rounds};
  return ret->mode.p != NULL ? LT_OK : lt_config_no_memory(r);
}

static lt_status take_rounds(const reading *r, const lt_yaml_node *map) {
  lt_mode_rounds *list = lt_arena_zalloc(&r->config->arena, map->count + 1, sizeof *list);
  size_t count = 0;
  if (!list) {
    return lt_config_no_memory(r);
  }
  for (const lt_yaml_node *value = map->kids; value; value = value->next) {
    LT_TRY(take_mode_rounds(r, value, &list[count++]));
  }
  r->config->defaults.rounds = list;
  r->config->defaults.rounds_count = count;
  return LT_OK;
}

lt_status lt_config_take_defaults(const reading *r, const lt_yaml_node *defaults) {
  lt_config_defaults *d = &r->config->defaults;
  const lt_yaml_node *rounds = lt_config_given(defaults, "maxRounds");
  LT_TRY(take_text(r, defaults, "model", &d->model));
  LT_TRY(take_text(r, defaults, "mode", &d->mode));
  lt_yaml_bool(lt_yaml_get(defaults, "codeMode"), &d->code_mode);
  return rounds ? take_rounds(r, rounds) : LT_OK;
}
