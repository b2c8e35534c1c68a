/* Which models there are: the configuration's, the environment's, and whose key goes where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "app/models.h"
#include "config/model_provider.h"

#define LT_MODELS_URL  "https://api.openai.com/v1"
#define LT_MODELS_NAME "gpt-4.1-mini"

typedef struct fixture {
  lt_config config;
  lt_models models;
  lt_err err;
} fixture;

static int clean_environment(void **state) {
  (void)state;
  static const char *const names[] = {"OPENAI_API_KEY",    "OPENAI_BASE_URL",    "OPENAI_MODEL",    "OTHER_KEY",
                                      "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "MISTRAL_API_KEY"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    unsetenv(names[i]);
  }
  return 0;
}

static void fill(fixture *f, const char *yaml) {
  f->err = LT_ERR_INIT;
  if (lt_config_parse(lt_str_of(yaml), "lathe.yaml", "/etc/lathe", &f->config, &f->err) != LT_OK ||
      lt_models_fill(&f->config, &f->models, &f->err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&f->err));
  }
}

/* "ref name url key max" of the model behind a ref, or the error's message. */
static void expect(fixture *f, const char *ref, const char *expected) {
  char got[2 * LT_ERR_MSG_MAX];
  const lt_model *m;
  if (lt_models_find(&f->models, lt_str_of(ref), &m, &f->err) == LT_OK) {
    snprintf(got, sizeof got, "%.*s %.*s %.*s %.*s %lld", LT_STR_ARG(m->ref), LT_STR_ARG(m->name),
             LT_STR_ARG(m->base_url), LT_STR_ARG(m->api_key), (long long)m->max_tokens);
  } else {
    snprintf(got, sizeof got, "%s", lt_err_msg(&f->err));
  }
  if (strcmp(got, expected) != 0) {
    fail_msg("%s:\nexpected: %s\n     got: %s", ref, expected, got);
  }
}

static void a_key_alone_is_enough(void **state) {
  (void)state;
  fixture f;
  setenv("OPENAI_API_KEY", "k1", 1);
  fill(&f, "");
  expect(&f, "", "normal " LT_MODELS_NAME " " LT_MODELS_URL " k1 0");
  expect(&f, "high", "normal " LT_MODELS_NAME " " LT_MODELS_URL " k1 0");
  expect(&f, "other", "there is no model \"other\"; there is: normal");
  lt_config_release(&f.config);
  setenv("OPENAI_MODEL", "m1", 1);
  setenv("OPENAI_BASE_URL", "http://localhost:1/v1", 1);
  fill(&f, "models: [{ref: high, model: big}]");
  expect(&f, "normal", "normal m1 http://localhost:1/v1 k1 0");
  expect(&f, "high", "high big http://localhost:1/v1 k1 0");
  lt_config_release(&f.config);
}

static void without_a_key_there_is_a_word_what_to_set(void **state) {
  (void)state;
  fixture f;
  fill(&f, "models: [{ref: a, apiKeyEnv: OTHER_KEY}, {ref: b, baseUrl: 'http://h/v1'}]");
  expect(&f, "a", "the model \"a\" needs a key: set the environment variable OTHER_KEY (models[].apiKeyEnv names it)");
  expect(&f, "b", "b b http://h/v1  0");
  expect(&f, "normal", lt_err_msg(&f.err)); /* the first one: the same words */
  lt_config_release(&f.config);
  fill(&f, "");
  expect(&f, "",
         "no model can be asked without a key: set OPENAI_API_KEY or ANTHROPIC_API_KEY; or for a local server "
         "OPENAI_BASE_URL (Ollama: http://localhost:11434/v1) and OPENAI_MODEL, or its name: --model ollama/NAME");
  lt_config_release(&f.config);
  setenv("OPENAI_BASE_URL", "http://localhost:1/v1", 1);
  fill(&f, "");
  expect(&f, "", "normal " LT_MODELS_NAME " http://localhost:1/v1  0");
  lt_config_release(&f.config);
}

static void a_key_goes_nowhere_else(void **state) {
  (void)state;
  fixture f;
  setenv("OPENAI_API_KEY", "k1", 1);
  setenv("OTHER_KEY", "secret-2", 1);
  fill(&f,
       "models:\n"
       "- {ref: normal, maxTokens: 7}\n"
       "- {ref: own, baseUrl: 'http://h/v1'}\n"
       "- {ref: both, baseUrl: 'http://h/v1', apiKeyEnv: OTHER_KEY}\n"
       "- {ref: same, baseUrl: '" LT_MODELS_URL "'}\n");
  expect(&f, "normal", "normal " LT_MODELS_NAME " " LT_MODELS_URL " k1 7");
  expect(&f, "own", "own own http://h/v1  0");
  expect(&f, "both", "both both http://h/v1 secret-2 0");
  expect(&f, "same", "same same " LT_MODELS_URL " k1 0");
  lt_secrets *secrets = NULL;
  assert_int_equal(lt_config_secrets(&f.config, &secrets, &f.err), LT_OK);
  assert_true(lt_secrets_in(secrets, LT_STR("it was secret-2 then")));
  lt_secrets_free(secrets);
  lt_config_release(&f.config);
}

static void every_provider_has_what_it_needs(void **state) {
  (void)state;
  for (size_t i = 0; lt_model_provider_names[i] != NULL; i++) {
    const lt_model_provider *p = lt_model_provider_find(lt_str_of(lt_model_provider_names[i]));
    assert_ptr_equal(p, &lt_model_providers[i]);
    assert_ptr_equal(p, lt_model_provider_at(lt_str_of(p->base_url)));
    assert_true((p->key_variable == NULL) == (p->start != NULL));
  }
  assert_true(lt_model_provider_is_key(LT_STR("MISTRAL_API_KEY")) && !lt_model_provider_is_key(LT_STR("HOME")));
  assert_string_equal(lt_model_provider_at(LT_STR("http://localhost:11434/api/chat"))->name, "ollama");
  assert_null(lt_model_provider_at(LT_STR("http://api.openai.com/v1"))); /* its key would go by http */
  assert_null(lt_model_provider_at(LT_STR("https://api.openai.com.evil.example/v1")));
  assert_null(lt_model_provider_at(LT_STR("https://api.openai.com:444/v1")));
  assert_null(lt_model_provider_at(LT_STR("")));
}

static void anthropics_key_alone_is_enough(void **state) {
  (void)state;
  fixture f;
  setenv("ANTHROPIC_API_KEY", "k2", 1);
  fill(&f, "");
  expect(&f, "", "normal claude-sonnet-4-6 https://api.anthropic.com/v1 k2 0");
  assert_true(lt_str_eqc(f.models.list[0].api, "messages"));
  lt_config_release(&f.config);
  setenv("ANTHROPIC_BASE_URL", "http://localhost:1", 1);
  setenv("ANTHROPIC_MODEL", "claude-x", 1);
  fill(&f, "");
  expect(&f, "", "normal claude-x http://localhost:1 k2 0");
  lt_config_release(&f.config);
  setenv("OPENAI_API_KEY", "k1", 1); /* as it always was */
  fill(&f,
       "models: [{ref: c, model: claude-y, provider: anthropic}, {ref: p, provider: openai, baseUrl: 'http://h/v1'}]");
  expect(&f, "normal", "normal " LT_MODELS_NAME " " LT_MODELS_URL " k1 0");
  expect(&f, "c", "c claude-y http://localhost:1 k2 0");
  expect(&f, "p", "p p http://h/v1  0"); /* a key goes nowhere else */
  lt_config_release(&f.config);
}

static void models_by_the_name_of_their_provider(void **state) {
  (void)state;
  fixture f;
  setenv("MISTRAL_API_KEY", "k3", 1);
  fill(&f, "models: [{ref: a/b, baseUrl: 'http://h/v1'}]\ndefaults: {model: ollama/qwen3}");
  expect(&f, "", "ollama/qwen3 qwen3 http://127.0.0.1:11434/v1  0");
  expect(&f, "mistral/large", "mistral/large large https://api.mistral.ai/v1 k3 0");
  expect(&f, "openrouter/meta/llama",
         "the model \"openrouter/meta/llama\" needs a key: set the environment variable "
         "OPENROUTER_API_KEY (models[].apiKeyEnv names it)");
  expect(&f, "a/b", "a/b a/b http://h/v1  0");
  expect(&f, "b/a",
         "there is no model \"b/a\"; there is: a/b, ollama/qwen3, mistral/large, openrouter/meta/llama, or "
         "PROVIDER/NAME of openai, anthropic, google, mistral, deepseek, groq, xai, moonshot, cerebras, "
         "together, fireworks, openrouter, ollama, llamacpp, lmstudio, vllm");
  for (size_t i = f.models.count; i < f.models.room; i++) {
    char ref[32];
    snprintf(ref, sizeof ref, "vllm/m%zu", i);
    const lt_model *m;
    assert_int_equal(lt_models_find(&f.models, lt_str_of(ref), &m, &f.err), LT_OK);
  }
  expect(&f, "vllm/more", "more than 32 models that no configuration has: name them in models[]");
  lt_config_release(&f.config);
}

static void expect_modes(const char *yaml, const char *standard, const char *first, const char *second) {
  fixture f;
  fill(&f, yaml);
  assert_true(lt_str_eqc(f.models.default_mode, standard));
  assert_true(lt_str_eqc(f.models.modes[0], first));
  assert_true(lt_str_eqc(f.models.modes[1], second));
  lt_config_release(&f.config);
}

#define TWO "models: [{ref: normal, codeMode: true}, {ref: high, codeMode: false}]\n"

static void code_mode_is_typescript_and_a_models_word_wins(void **state) {
  (void)state;
  expect_modes(TWO, "", "typescript", "classic");
  expect_modes(TWO "defaults: {codeMode: true}", "typescript", "typescript", "classic");
  expect_modes(TWO "defaults: {codeMode: true, mode: code}", "code", "typescript", "");
  expect_modes("models: [{ref: normal}, {ref: high}]\ndefaults: {codeMode: true}", "typescript", "", "");
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    fixture f = {.err = LT_ERR_INIT};
    lt_mem_fail_at(n);
    lt_status status = lt_config_parse(lt_str_of(TWO "defaults: {model: high, maxRounds: {code: 3}}"), "lathe.yaml",
                                       "/etc/lathe", &f.config, &f.err);
    if (status == LT_OK) {
      status = lt_models_fill(&f.config, &f.models, &f.err);
    }
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    lt_config_release(&f.config);
    if (!failed) {
      return;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_key_alone_is_enough, clean_environment),
      cmocka_unit_test_setup(without_a_key_there_is_a_word_what_to_set, clean_environment),
      cmocka_unit_test_setup(a_key_goes_nowhere_else, clean_environment),
      cmocka_unit_test(every_provider_has_what_it_needs),
      cmocka_unit_test_setup(anthropics_key_alone_is_enough, clean_environment),
      cmocka_unit_test_setup(models_by_the_name_of_their_provider, clean_environment),
      cmocka_unit_test_setup(code_mode_is_typescript_and_a_models_word_wins, clean_environment),
      cmocka_unit_test_setup(every_failed_allocation_is_survived, clean_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
