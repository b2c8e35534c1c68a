#include "app/models.h"

#include <stdlib.h>

#include "base/limits.h"
#include "config/model_provider.h"
#include "json/json.h"

/* Empty counts as not set. */
static const char *models_model_variable(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool models_is_ordinary_ref(const char *ref) {
  return strcmp(ref, "normal") == 0 || strcmp(ref, "high") == 0;
}

/* Where nothing says whose model it is. OpenAI's variables may also be those of a server that does as OpenAI does. */
static const lt_model_provider *models_usual_provider(void) {
  bool has_openai = models_model_variable("OPENAI_API_KEY") != NULL ||
                    models_model_variable("OPENAI_BASE_URL") != NULL || models_model_variable("OPENAI_MODEL") != NULL;
  bool is_anthropic = !has_openai && models_model_variable("ANTHROPIC_API_KEY") != NULL;
  return lt_model_provider_find(is_anthropic ? LT_STR("anthropic") : LT_STR("openai"));
}

/* The provider's address, or the one that its variable names. */
static const char *models_url_of(const lt_model_provider *provider) {
  const char *other = provider->url_variable != NULL ? models_model_variable(provider->url_variable) : NULL;
  return other != NULL ? other : provider->base_url;
}

/* NULL: nobody knows who is at that address. */
static const lt_model_provider *models_provider_of(const lt_config_model *m) {
  const lt_model_provider *usual = models_usual_provider();
  if (m->provider != NULL) {
    return lt_model_provider_find(lt_str_of(m->provider));
  }
  bool is_usual = m->base_url == NULL || strcmp(m->base_url, models_url_of(usual)) == 0;
  return is_usual ? usual : lt_model_provider_at(lt_str_of(m->base_url));
}

static const char *models_model_name_of(const lt_config_model *m, const lt_model_provider *provider) {
  const lt_model_provider *usual = provider != NULL && provider->model != NULL ? provider : models_usual_provider();
  const char *name = models_model_variable(usual->model_variable);
  return m->name != NULL ? m->name : !models_is_ordinary_ref(m->ref) ? m->ref : name != NULL ? name : usual->model;
}

/* Whether the model is where its provider is, and so may have the provider's key. */
static bool models_is_at(const lt_config_model *m, const lt_model_provider *provider) {
  return provider != NULL && (m->base_url == NULL || strcmp(m->base_url, models_url_of(provider)) == 0 ||
                              lt_model_provider_at(lt_str_of(m->base_url)) == provider);
}

/* Whether the model takes images and documents. The configuration decides; without a word of it, the table of names and
 * providers does. */
static void models_fill_input(const lt_config_model *m, const lt_model_provider *at, lt_model *model) {
  bool is_text_only = lt_model_provider_is_text_only(model->name);
  model->no_images = m->images >= 0 ? m->images == 0 : is_text_only || (at != NULL && at->no_images);
  model->no_files = m->files >= 0 ? m->files == 0 : is_text_only || (at != NULL && at->no_files);
}

static void models_fill_key(const lt_config_model *m, const lt_model_provider *provider, lt_models *models, size_t i) {
  bool is_at = models_is_at(m, provider);
  const char *url = models->list[i].base_url.p;
  const char *key_name = m->api_key_env != NULL ? m->api_key_env : is_at ? provider->key_variable : NULL;
  const char *key = key_name != NULL ? models_model_variable(key_name) : NULL;
  bool needs_key = m->api_key_env != NULL || (is_at && lt_model_provider_at(lt_str_of(url)) == provider);
  models->list[i].api_key = lt_str_of(key != NULL ? key : "");
  models->list[i].key_name = lt_str_of(key_name != NULL ? key_name : "");
  models->missing[i] = needs_key && key == NULL ? key_name : NULL;
}

static double models_price_of(const char *number, double otherwise) {
  lt_json_doc doc;
  double price = otherwise;
  LT_AUTO_ARENA(arena, LT_KIB);
  if (number != NULL && lt_json_parse(&arena, lt_str_of(number), &doc, NULL) == LT_OK) {
    (void)lt_json_double(lt_json_root(&doc), &price);
  }
  return price;
}

static lt_price models_read_price(const lt_config_price *price) {
  double input = models_price_of(price->input, 0);
  return (lt_price){.input = input,
                    .output = models_price_of(price->output, 0),
                    .cached_input = models_price_of(price->cached_input, input),
                    .cache_write = models_price_of(price->cache_write, input),
                    .is_known = price->input != NULL || price->output != NULL};
}

static void models_fill_model(const lt_config_model *m, lt_models *models) {
  const lt_config *config = models->config;
  size_t i = models->count++;
  const lt_model_provider *provider = models_provider_of(m);
  bool is_elsewhere = m->base_url == NULL && provider->api != NULL; /* then its address does not say what it speaks */
  lt_str url = lt_str_of(m->base_url != NULL ? m->base_url : models_url_of(provider));
  const lt_model_provider *at = lt_model_provider_at(url);
  models->list[i] = (lt_model){
      .ref = lt_str_of(m->ref),
      .name = lt_str_of(models_model_name_of(m, provider)),
      .base_url = url,
      .api = lt_str_of(m->api != NULL ? m->api
                       : is_elsewhere ? provider->api
                                      : ""),
      .start = lt_str_of(at != NULL && at->start != NULL ? at->start : ""),
      .temperature = lt_str_of(m->temperature != NULL ? m->temperature : ""),
      .effort = lt_str_of(m->effort != NULL ? m->effort : ""),
      .headers = m->headers,
      .body = lt_str_of(m->body != NULL ? m->body : ""),
      .max_tokens = m->max_tokens,
      .context_tokens = m->context_tokens,
      .price = models_read_price(&m->price),
      .answer_ms = (uint64_t)m->answer_ms,
      .idle_ms = (uint64_t)m->idle_ms,
  };
  models_fill_input(m, at, &models->list[i]);
  models_fill_key(m, provider, models, i);
  models->prices[i] = m->price;
  models->modes[i] = LT_STR_NULL;
  if (m->code_mode == 1) {
    models->modes[i] = LT_STR("typescript");
  } else if (m->code_mode == 0 && config->defaults.mode == NULL) {
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

/* Adds the model "provider/name". LT_E_NOTFOUND: the ref is no such name, or of a provider that nobody knows. */
static lt_status models_add_named(lt_models *models, lt_str ref, lt_err *err) {
  size_t slash = lt_str_find(ref, LT_STR("/"), 0);
  const lt_model_provider *provider = slash != SIZE_MAX ? lt_model_provider_find(lt_str_sub(ref, 0, slash)) : NULL;
  if (provider == NULL || slash + 1 >= ref.n) {
    return LT_E_NOTFOUND;
  } else if (models->count == models->room) {
    return lt_fail(err, LT_E_LIMIT, "more than %d models that no configuration has: name them in models[]",
                   LT_MODELS_NAMED_MAX);
  }
  const char *copy = lt_arena_dup(&models->config->arena, ref).p;
  if (copy == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while reading the models");
  }
  models_fill_model(&(lt_config_model){.ref = copy,
                                       .name = copy + slash + 1,
                                       .provider = provider->name,
                                       .code_mode = -1,
                                       .images = -1,
                                       .files = -1},
                    models);
  return LT_OK;
}

static lt_status models_take_named(lt_models *models, lt_str ref, lt_err *err) {
  return models_model_place_of(models, ref) != SIZE_MAX ? LT_OK : models_add_named(models, ref, err);
}

static lt_status models_check_headers(const lt_config_model *m, lt_err *err) {
  size_t count = 0;
  while (m->headers[count] != NULL) {
    count++;
  }
  return count <= LT_MODEL_HEADERS_MAX
             ? LT_OK
             : lt_fail(err, LT_E_CONFIG, "the model \"%s\" has more than %d headers", m->ref, LT_MODEL_HEADERS_MAX);
}

lt_status lt_models_fill(lt_config *config, lt_models *ret_models, lt_err *err) {
  size_t room = config->model_count + 1 + LT_MODELS_NAMED_MAX;
  lt_models models = {
      .config = config,
      .room = room,
      .list = lt_arena_zalloc(&config->arena, room, sizeof(lt_model)),
      .modes = lt_arena_zalloc(&config->arena, room, sizeof(lt_str)),
      .prices = lt_arena_zalloc(&config->arena, room, sizeof(lt_config_price)),
      .missing = lt_arena_zalloc(&config->arena, room, sizeof(char *)),
  };
  if (models.list == NULL || models.modes == NULL || models.prices == NULL || models.missing == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while reading the models");
  }
  for (size_t i = 0; i < config->model_count; i++) {
    LT_TRY(models_check_headers(&config->models[i], err));
    models_fill_model(&config->models[i], &models);
  }
  if (models_wants_usual_model(config)) {
    models_fill_model(&(lt_config_model){.ref = "normal", .code_mode = -1, .images = -1, .files = -1}, &models);
  }
  const lt_config_defaults *d = &config->defaults;
  models.default_ref = lt_str_of(d->model != NULL ? d->model : "normal");
  models.default_mode = lt_str_of(d->mode != NULL ? d->mode : d->code_mode ? "typescript" : "");
  lt_status status = models_take_named(&models, models.default_ref, err);
  *ret_models = models;
  return status == LT_E_NOTFOUND ? LT_OK : status; /* whoever asks that model is told so */
}

static lt_status models_fail_unknown_model(const lt_models *models, lt_str ref, lt_err *err) {
  LT_AUTO_BUF(names, LT_ERR_MSG_MAX);
  for (size_t i = 0; i < models->count; i++) {
    lt_buf_addc(&names, i > 0 ? ", " : "");
    lt_buf_add(&names, models->list[i].ref);
  }
  if (lt_str_find(ref, LT_STR("/"), 0) != SIZE_MAX) {
    lt_buf_addc(&names, ", or PROVIDER/NAME of");
    for (size_t i = 0; lt_model_provider_names[i] != NULL; i++) {
      lt_buf_printf(&names, "%s %s", i > 0 ? "," : "", lt_model_provider_names[i]);
    }
  }
  lt_fail(err, LT_E_NOTFOUND, "there is no model \"%.*s\"; there is: %.*s", LT_STR_ARG(lt_str_sub(ref, 0, 100)),
          LT_STR_ARG(lt_buf_view(&names)));
  return LT_E_NOTFOUND;
}

static lt_status models_fail_model_without_key(const lt_models *models, size_t at, lt_err *err) {
  const lt_model *m = &models->list[at];
  if (strcmp(models->missing[at], "OPENAI_API_KEY") == 0 && !lt_str_starts(m->ref, LT_STR("openai/"))) {
    return lt_fail(
        err, LT_E_CONFIG,
        "no model can be asked without a key: set OPENAI_API_KEY or ANTHROPIC_API_KEY; or for a local server "
        "OPENAI_BASE_URL (Ollama: http://localhost:11434/v1) and OPENAI_MODEL, or its name: --model "
        "ollama/NAME");
  }
  return lt_fail(err, LT_E_CONFIG,
                 "the model \"%.*s\" needs a key: set the environment variable %s (models[].apiKeyEnv names it)",
                 LT_STR_ARG(m->ref), models->missing[at]);
}

lt_status lt_models_find(lt_models *models, lt_str ref, const lt_model **ret_model, lt_err *err) {
  ref = ref.n > 0 ? ref : models->default_ref;
  lt_status status = models_take_named(models, ref, err);
  if (status != LT_OK) {
    return status == LT_E_NOTFOUND ? models_fail_unknown_model(models, ref, err) : status;
  }
  size_t at = models_model_place_of(models, ref);
  if (models->missing[at] != NULL) {
    return models_fail_model_without_key(models, at, err);
  }
  *ret_model = &models->list[at];
  return LT_OK;
}
