/* lathe models: the models there are. */
#include "app/models.h"
#include "app/settings.h"
#include "cli/commands.h"
#include "cli/console.h"

typedef struct models_options {
  lt_config_sources sources;
  bool all;
} models_options;

static const lt_option models_option_rows[] = {
    {"--all", "-a", NULL, "also those without a key", LT_OPTION_IS_FLAG(models_options, all)},
    LT_OPTION_CONFIG(models_options, sources),
};

static void print_models(const lt_models *models, bool all) {
  const lt_console console = {0};
  for (size_t i = 0; i < models->count; i++) {
    if (models->missing[i] == NULL || all) {
      lt_console_output(&console, models->list[i].ref);
    }
  }
}

static int models_run(void *arg) {
  const models_options *opt = arg;
  lt_config config;
  lt_models models;
  lt_err err = LT_ERR_INIT;
  lt_status status = lt_settings_load(&opt->sources, &config, &err);
  if (status == LT_OK) {
    status = lt_models_fill(&config, &models, &err);
  }
  if (status == LT_OK) {
    print_models(&models, opt->all);
  } else {
    fprintf(stderr, "lathe models: %s\n", lt_err_msg(&err));
  }
  lt_config_release(&config);
  return status == LT_OK ? LT_EXIT_OK : LT_EXIT_CONFIG;
}

const lt_command lt_models_command = {
    .name = "models",
    .summary = "List the models there are",
    .about = "List the models there are.\n",
    .synopsis = "[options]",
    .operand = {.rule = "no word is wanted, only options"},
    .options = models_option_rows,
    .option_count = sizeof models_option_rows / sizeof models_option_rows[0],
    .options_size = sizeof(models_options),
    .notes = "Exit code: 0 ok, 2 usage, 3 configuration.\n",
    .run = models_run,
};
