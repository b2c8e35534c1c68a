#include "app/settings.h"

#include "app/trust.h"
#include "base/limits.h"

static lt_status settings_fail_unknown_mode(const lt_config_count *rounds, lt_err *err) {
  LT_AUTO_BUF(known, LT_ERR_MSG_MAX);
  lt_agent_mode_names(NULL, &known);
  return lt_fail(err, LT_E_CONFIG, "%s:%u: unknown mode \"%.*s\" in defaults.maxRounds (known here: %.*s)",
                 rounds->file, rounds->line, LT_STR_ARG(lt_str_sub(lt_str_of(rounds->name), 0, 80)),
                 LT_STR_ARG(lt_buf_view(&known)));
}

static lt_status settings_check_modes(const lt_config *config, lt_err *err) {
  if (lt_config_may_add_modes(config)) {
    return LT_OK;
  }
  for (size_t i = 0; i < config->defaults.rounds_count; i++) {
    const lt_config_count *rounds = &config->defaults.rounds[i];
    if (lt_agent_check_mode(NULL, lt_str_of(rounds->name), NULL) != LT_OK) {
      return settings_fail_unknown_mode(rounds, err);
    }
  }
  return LT_OK;
}

/* The list of trusted files, read when the first file is asked about. */
typedef struct trust_reader {
  lt_trust list;
  bool is_read;
  lt_err err;
} trust_reader;

static lt_config_trust settings_trust(void *arg, const lt_config_file *file) {
  trust_reader *reader = arg;
  if (!reader->is_read) {
    reader->is_read = true;
    (void)lt_trust_read(&reader->list, &reader->err);
  }
  return lt_trust_of(&reader->list, file);
}

lt_status lt_settings_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err) {
  trust_reader reader = {.err = LT_ERR_INIT};
  lt_config_sources with_trust = *sources;
  with_trust.trust = settings_trust;
  with_trust.trust_arg = &reader;
  lt_status status = lt_config_load(&with_trust, ret_config, err);
  if (status == LT_E_DENIED && reader.err.status != LT_OK) { /* nothing is trusted, and this is why */
    status = lt_err_copy(err, &reader.err);
  }
  lt_trust_release(&reader.list);
  LT_TRY(status);
  return settings_check_modes(ret_config, err);
}

static lt_action settings_action(lt_config_action action) {
  switch (action) {
    case LT_CONFIG_ALLOW:
      return LT_ACTION_ALLOW;
    case LT_CONFIG_ASK:
      return LT_ACTION_ASK;
    case LT_CONFIG_DENY:
      break;
  }
  return LT_ACTION_DENY;
}

/* The file whose rules are a layer: the first one that counts. Another client's file, which comes later, has none. */
static lt_str settings_layer_file(const lt_config *config, lt_config_layer layer) {
  for (size_t i = 0; i < config->file_count; i++) {
    if (config->files[i].counts && config->files[i].layer == layer) {
      return lt_str_of(config->files[i].path);
    }
  }
  return config->file_count == 0 ? lt_str_of(config->path) : LT_STR("");
}

lt_status lt_settings_policy(const lt_config *config, lt_policy **ret_policy, lt_err *err) {
  *ret_policy = NULL;
  if (config->rule_count + config->budget_count == 0) {
    return LT_OK;
  }
  LT_AUTO_ARENA(arena, LT_CONFIG_MEMORY_BYTES);
  lt_policy_rule *rules = lt_arena_zalloc(&arena, config->rule_count + 1, sizeof *rules);
  lt_policy_budget *budgets = lt_arena_zalloc(&arena, config->budget_count + 1, sizeof *budgets);
  if (rules == NULL || budgets == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while reading the policy");
  }
  for (size_t i = 0; i < config->rule_count; i++) {
    const lt_config_rule *rule = &config->rules[i];
    rules[i] = (lt_policy_rule){.match = lt_str_of(rule->match),
                                .when = lt_str_of(rule->when),
                                .reason = lt_str_of(rule->reason),
                                .action = settings_action(rule->action),
                                .layer = rule->layer};
  }
  for (size_t i = 0; i < config->budget_count; i++) {
    const lt_config_budget *budget = &config->budgets[i];
    budgets[i] = (lt_policy_budget){.match = lt_str_of(budget->match),
                                    .calls = budget->calls,
                                    .per_minute = budget->per_minute,
                                    .layer = budget->layer};
  }
  const lt_policy_source source = {
      .rules = rules,
      .count = config->rule_count,
      .budgets = budgets,
      .budget_count = config->budget_count,
      .files = {[LT_POLICY_USER] = settings_layer_file(config, LT_CONFIG_LAYER_USER),
                [LT_POLICY_PROJECT] = settings_layer_file(config, LT_CONFIG_LAYER_PROJECT)},
  };
  lt_status status = lt_policy_compile(&source, ret_policy, err);
  return status == LT_OK || status == LT_E_NOMEM ? status : LT_E_CONFIG;
}

_Static_assert((int)LT_CONFIG_LAYER_USER == LT_POLICY_USER && (int)LT_CONFIG_LAYER_PROJECT == LT_POLICY_PROJECT,
               "layers have one numbering");

_Static_assert((int)LT_CONFIG_EXPOSE_CODE == LT_EXPOSURE_CODE && (int)LT_CONFIG_EXPOSE_DIRECT == LT_EXPOSURE_DIRECT &&
                   (int)LT_CONFIG_EXPOSE_BOTH == LT_EXPOSURE_BOTH && (int)LT_CONFIG_EXPOSE_HIDDEN == LT_EXPOSURE_HIDDEN,
               "exposures have one numbering");

lt_status lt_settings_exposures(lt_config *config, const lt_exposure_rule **ret_rules, lt_err *err) {
  size_t count = config->exposure_count;
  lt_exposure_rule *rules = lt_arena_zalloc(&config->arena, count + 1, sizeof *rules);
  if (rules == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while reading tools.expose");
  }
  for (size_t i = 0; i < count; i++) {
    const lt_config_exposure *given = &config->exposures[i];
    rules[i] = (lt_exposure_rule){.match = lt_str_of(given->match), .as = (lt_exposure)given->as};
  }
  *ret_rules = rules;
  return LT_OK;
}

lt_status lt_settings_rounds(lt_config *config, const lt_mode_rounds **ret_rounds, lt_err *err) {
  size_t count = config->defaults.rounds_count;
  lt_mode_rounds *rounds = lt_arena_zalloc(&config->arena, count + 1, sizeof *rounds);
  if (rounds == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while reading defaults.maxRounds");
  }
  for (size_t i = 0; i < count; i++) {
    const lt_config_count *given = &config->defaults.rounds[i];
    rounds[i] = (lt_mode_rounds){.mode = lt_str_of(given->name), .rounds = (uint32_t)given->value};
  }
  *ret_rounds = rounds;
  return LT_OK;
}
