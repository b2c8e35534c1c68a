#include "app/models.h"

#include <stdlib.h>

#include "base/limits.h"

/* Empty counts as not set. */
static const char *models_model_variable(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool models_is_ordinary_ref(const char *ref) {
  return strcmp(ref, "normal") == 0 || strcmp(ref, "high") == 0;
}

static const char *models_model_name_of(const lt_config_model *m) {
  const char *name = models_model_variable("OPENAI_MODEL");
  return m->name != NULL ? m->name : !models_is_ordinary_ref(m->ref) ? m->ref : name != NULL ? name : LT_MODELS_NAME;
}

/* A key goes only to its own server: OPENAI_API_KEY to OPENAI_BASE_URL, and to no other address. */
static void models_fill_model(const lt_config *config, const lt_config_model *m, lt_models *models, size_t i) {
  const char *usual = models_model_variable("OPENAI_BASE_URL");
  usual = usual != NULL ? usual : LT_MODELS_URL;
  const char *url = m->base_url != NULL ? m->base_url : usual;
  const char *key_name = m->api_key_env != NULL ? m->api_key_env : strcmp(url, usual) == 0 ? "OPENAI_API_KEY" : NULL;
  const char *key = key_name != NULL ? models_model_variable(key_name) : NULL;
  bool needs_key = m->api_key_env != NULL || strcmp(url, LT_MODELS_URL) == 0;
  models->list[i] = (lt_model){
      .ref = lt_str_of(m->ref),
      .name = lt_str_of(models_model_name_of(m)),
      .base_url = lt_str_of(url),
      .api_key = lt_str_of(key != NULL ? key : ""),
      .max_tokens = m->max_tokens,
  };
  models->prices[i] = m->price;
  models->missing[i] = needs_key && key == NULL ? key_name : NULL;
  models->modes[i] = LT_STR_NULL;
  if (m->code_mode == 1) {
    models->modes[i] = LT_STR("typescript");
  } else if (m->code_mode == 0 && config->defaults.code_mode && config->defaults.mode == NULL) {
    models->modes[i] = LT_STR("classic");
  }
}

static bool models_has_model_ref(const lt_config *config, const char *ref) {
  for (size_t i = 0; i < config->model_count; i++) {
    if (strcmp(config->models[i].ref, ref) == 0) {
      return true;
    }
  }
  return false;
}

/* With models in the configuration and no variable of OpenAI, "normal" means the first model. */
static bool models_wants_usual_model(const lt_config *config) {
  return !models_has_model_ref(config, "normal") &&
         (config->model_count == 0 || models_model_variable("OPENAI_API_KEY") != NULL ||
          models_model_variable("OPENAI_MODEL") != NULL);
}

lt_status lt_models_fill(lt_config *config, lt_models *ret_models, lt_err *err) {
  size_t room = config->model_count + 1;
  lt_models models = {
      .list = lt_arena_zalloc(&config->arena, room, sizeof(lt_model)),
      .modes = lt_arena_zalloc(&config->arena, room, sizeof(lt_str)),
      .prices = lt_arena_zalloc(&config->arena, room, sizeof(lt_config_price)),
      .missing = lt_arena_zalloc(&config->arena, room, sizeof(char *)),
  };
  if (models.list == NULL || models.modes == NULL || models.prices == NULL || models.missing == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while reading the models");
  }
  for (size_t i = 0; i < config->model_count; i++) {
    models_fill_model(config, &config->models[i], &models, models.count++);
  }
  if (models_wants_usual_model(config)) {
    models_fill_model(config, &(lt_config_model){.ref = "normal", .code_mode = -1}, &models, models.count++);
  }
  const lt_config_defaults *d = &config->defaults;
  models.default_ref = lt_str_of(d->model != NULL ? d->model : "normal");
  models.default_mode = lt_str_of(d->mode != NULL ? d->mode : d->code_mode ? "typescript" : "");
  *ret_models = models;
  return LT_OK;
}

static size_t models_model_place_of(const lt_models *models, lt_str ref) {
  for (size_t i = 0; i < models->count; i++) {
    if (lt_str_eq(models->list[i].ref, ref)) {
      return i;
    }
  }
  return lt_str_eqc(ref, "high")     ? models_model_place_of(models, LT_STR("normal"))
         : lt_str_eqc(ref, "normal") ? 0
                                     : SIZE_MAX;
}

static lt_status models_fail_unknown_model(const lt_models *models, lt_str ref, lt_err *err) {
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  for (size_t i = 0; i < models->count; i++) {
    lt_buf_addc(&names, i > 0 ? ", " : "");
    lt_buf_add(&names, models->list[i].ref);
  }
  lt_fail(err, LT_E_NOTFOUND, "there is no model \"%.*s\"; there is: %.*s", LT_STR_ARG(lt_str_sub(ref, 0, 100)),
          LT_STR_ARG(lt_buf_view(&names)));
  return LT_E_NOTFOUND;
}

static lt_status models_fail_model_without_key(const lt_models *models, size_t at, lt_err *err) {
  const lt_model *m = &models->list[at];
  if (strcmp(models->missing[at], "OPENAI_API_KEY") == 0) {
    return lt_fail(err, LT_E_CONFIG,
                   "no model can be asked without a key: set OPENAI_API_KEY, or for a local server OPENAI_BASE_URL "
                   "(Ollama: http://localhost:11434/v1) and OPENAI_MODEL");
  }
  return lt_fail(err, LT_E_CONFIG,
                 "the model \"%.*s\" needs a key: set the environment variable %s (models[].apiKeyEnv names it)",
                 LT_STR_ARG(m->ref), models->missing[at]);
}

lt_status lt_models_find(const lt_models *models, lt_str ref, const lt_model **ret_model, lt_err *err) {
  size_t at = models_model_place_of(models, ref.n > 0 ? ref : models->default_ref);
  if (at == SIZE_MAX) {
    return models_fail_unknown_model(models, ref.n > 0 ? ref : models->default_ref, err);
  }
  if (models->missing[at] != NULL) {
    return models_fail_model_without_key(models, at, err);
  }
  *ret_model = &models->list[at];
  return LT_OK;
}

const lt_config_price *lt_models_find_price(const lt_models *models, lt_str ref) {
  for (size_t i = 0; i < models->count; i++) {
    if (lt_str_eq(models->list[i].ref, ref)) {
      return &models->prices[i];
    }
  }
  return NULL;
}
