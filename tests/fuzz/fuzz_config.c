/* Configuration files: any bytes as lathe.yaml, and the same bytes as another client's file on top. A file that the
 * review calls harmless has nothing but rules that ask or deny, budgets and lower bounds. */
#include <stdlib.h>

#include "base/limits.h"
#include "config/config_review.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_harmless(const lt_config *config) {
  lt_config none;
  lt_config_init(&none);
  for (size_t i = 0; i < config->rule_count; i++) {
    if (config->rules[i].action == LT_CONFIG_ALLOW || config->rules[i].reason != NULL) {
      return false;
    }
  }
  size_t things = config->server_count + config->model_count + config->module_count + config->plugin_count +
                  config->secret_count + config->defaults.rounds_count;
  return things == 0 && !config->python.given && !config->plan.given && config->store == NULL &&
         config->deno_path == NULL && config->typescript.path == NULL && config->defaults.model == NULL &&
         config->defaults.mode == NULL && config->require_walls && config->timeout_ms <= none.timeout_ms &&
         config->memory_mb <= none.memory_mb && config->max_output_bytes <= (int64_t)LT_RUN_OUTPUT_MAX_BYTES;
}

/* The review has lines of visible characters only, and says whether the file needs trust. */
static void check_review(lt_str text, const lt_config *taken) {
  lt_config below;
  lt_yaml_node *root = NULL;
  LT_AUTO_BUF(lines, LT_CONFIG_REVIEW_BYTES);
  lt_config_init(&below);
  if (lt_yaml_parse(&below.arena, text, "fuzz.yaml", &root, NULL) != LT_OK) {
    abort(); /* it has been parsed before */
  }
  lt_config_review(root, &below, &lines);
  for (size_t i = 0; i < lines.n; i++) {
    if ((unsigned char)lines.p[i] < ' ' && lines.p[i] != '\n') {
      abort();
    }
  }
  if (lines.status == LT_OK && lines.n == 0 && !is_harmless(taken)) {
    abort();
  }
  lt_config_release(&below);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_config config;
  lt_err err;
  lt_str text = lt_str_from(data, size);
  err = LT_ERR_INIT;
  lt_status status = lt_config_parse(text, "fuzz.yaml", "/nowhere", &config, &err);
  if (status != LT_OK && (strncmp(lt_err_msg(&err), "fuzz.yaml:", 10) != 0 || strchr(lt_err_msg(&err), '\n'))) {
    abort(); /* every message names the file and is one line */
  }
  if (status == LT_OK) {
    check_review(text, &config);
  }
  lt_config_parse_mcp(text, "fuzz.json", "/nowhere", &config, &err);
  lt_config_release(&config);
  return 0;
}
