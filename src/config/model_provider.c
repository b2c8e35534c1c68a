#include "config/model_provider.h"

/* clang-format off */
/* One row each: name, address, variable of the key; then what only some have. */
#define PROVIDERS(ROW) \
  ROW("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", .url_variable = "OPENAI_BASE_URL", \
      .model_variable = "OPENAI_MODEL", .model = "gpt-4.1-mini") \
  ROW("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", .url_variable = "ANTHROPIC_BASE_URL", \
      .model_variable = "ANTHROPIC_MODEL", .model = "claude-sonnet-4-6", .api = "messages") \
  ROW("google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY") \
  ROW("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", .no_files = true) \
  ROW("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", .no_images = true, .no_files = true) \
  ROW("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", .no_files = true) \
  ROW("xai", "https://api.x.ai/v1", "XAI_API_KEY", .no_files = true) \
  ROW("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", .no_files = true) \
  ROW("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", .no_images = true, .no_files = true) \
  ROW("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", .no_files = true) \
  ROW("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", .no_files = true) \
  ROW("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY") \
  ROW("ollama", "http://127.0.0.1:11434/v1", NULL, .start = "ollama serve", .no_files = true) \
  ROW("llamacpp", "http://127.0.0.1:8080/v1", NULL, .start = "llama-server -m MODEL.gguf", .no_files = true) \
  ROW("lmstudio", "http://127.0.0.1:1234/v1", NULL, .start = "lms server start", .no_files = true) \
  ROW("vllm", "http://127.0.0.1:8000/v1", NULL, .start = "vllm serve MODEL", .no_files = true)

#define PROVIDER_ROW(provider, url, ...) {.name = (provider), .base_url = (url), .key_variable = __VA_ARGS__},
#define PROVIDER_NAME(provider, ...) (provider),
/* clang-format on */

const lt_model_provider lt_model_providers[] = {PROVIDERS(PROVIDER_ROW){.name = NULL}};
const char *const lt_model_provider_names[] = {PROVIDERS(PROVIDER_NAME) NULL};

const lt_model_provider *lt_model_provider_find(lt_str name) {
  for (const lt_model_provider *p = lt_model_providers; p->name != NULL; p++) {
    if (lt_str_eqc(name, p->name)) {
      return p;
    }
  }
  return NULL;
}

/* The scheme, the host and the port. */
static lt_str model_provider_origin(lt_str url) {
  size_t scheme = lt_str_find(url, LT_STR("://"), 0);
  size_t end = scheme != SIZE_MAX ? scheme + 3 : 0;
  while (end < url.n && url.p[end] != '/' && url.p[end] != '?' && url.p[end] != '#') {
    end++;
  }
  return lt_str_sub(url, 0, end);
}

static bool model_provider_is_origin(lt_str origin, lt_str known) {
  static const char local[] = "http://127.0.0.1:", named[] = "http://localhost:";
  bool is_named = lt_str_starts(origin, lt_str_of(named)) && lt_str_starts(known, lt_str_of(local));
  return lt_str_eq(origin, known) || (is_named && lt_str_eq(lt_str_sub(origin, sizeof named - 1, origin.n),
                                                            lt_str_sub(known, sizeof local - 1, known.n)));
}

const lt_model_provider *lt_model_provider_at(lt_str base_url) {
  lt_str origin = model_provider_origin(base_url);
  for (const lt_model_provider *p = lt_model_providers; p->name != NULL; p++) {
    if (model_provider_is_origin(origin, model_provider_origin(lt_str_of(p->base_url)))) {
      return p;
    }
  }
  return NULL;
}

bool lt_model_provider_is_text_only(lt_str model) {
  static const char *const beginnings[] = {"gpt-3.5",  "gpt-oss",     "o1-mini",   "o3-mini",   "deepseek-",
                                           "kimi-k2-", "qwen3-coder", "codestral", "llama-3.3", "llama3.3"};
  size_t slash = model.n; /* "openai/gpt-oss-20b" */
  while (slash > 0 && model.p[slash - 1] != '/') {
    slash--;
  }
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
    if (lt_str_starts(lt_str_sub(model, slash, model.n), lt_str_of(beginnings[i]))) {
      return true;
    }
  }
  return false;
}

bool lt_model_provider_is_key(lt_str variable) {
  for (const lt_model_provider *p = lt_model_providers; p->name != NULL; p++) {
    if (p->key_variable != NULL && lt_str_eqc(variable, p->key_variable)) {
      return true;
    }
  }
  return false;
}
