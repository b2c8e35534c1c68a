/* Translates the configuration into the types of policy, agent and modes.
 *
 * config/ holds plain data and knows no policy, agent or mode. This module translates the data, and checks the parts
 * that need the list of modes.
 */
#ifndef LT_APP_SETTINGS_H
#define LT_APP_SETTINGS_H

#include "agent/agent.h"
#include "config/config.h"

/* lt_config_load, and checks that the modes in defaults.maxRounds exist, unless a plugin may add them.
 * Errors: lt_config_load's. The caller releases the configuration in either case. */
lt_status lt_settings_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err);

/* tools.policy and tools.budgets, compiled; NULL where there are none. Errors: LT_E_CONFIG, with the file and the
 * rule; LT_E_NOMEM. Owns: the caller, lt_policy_free. */
lt_status lt_settings_policy(const lt_config *config, lt_policy **ret_policy, lt_err *err);

/* tools.expose, as many as exposure_count. Owns: the arena of the configuration. Errors: LT_E_NOMEM. */
lt_status lt_settings_exposures(lt_config *config, const lt_exposure_rule **ret_rules, lt_err *err);
/* defaults.maxRounds, as many as defaults.rounds_count. Owns: the arena of the configuration. Errors: LT_E_NOMEM. */
lt_status lt_settings_rounds(lt_config *config, const lt_mode_rounds **ret_rounds, lt_err *err);

#endif
