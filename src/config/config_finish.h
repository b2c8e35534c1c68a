/* Checks that a row of the table of keys cannot express: unique names, keys that depend on each other, other forms of a
 * value. Each function is the `finish` of a row in config_keys.c. */
#ifndef LT_CONFIG_CONFIG_FINISH_H
#define LT_CONFIG_CONFIG_FINISH_H

#include "config/config_keys.h"

/* Records of mcpServers, models, modules, tools.policy, tools.budgets and plugins. */
lt_config_finish_fn lt_config_finish_server, lt_config_finish_model, lt_config_finish_module, lt_config_finish_rule,
    lt_config_finish_budget, lt_config_finish_plugin;

/* Texts: defaults.model, defaults.mode, models[].baseUrl, models[].apiKeyEnv, store.url, those of store.retention and
 * sandbox.timeZone; server.proxy; telemetry.otlp. */
lt_config_finish_fn lt_config_finish_default_model, lt_config_finish_default_mode, lt_config_finish_base_url,
    lt_config_finish_api_key_env, lt_config_finish_store, lt_config_finish_age, lt_config_finish_time_zone,
    lt_config_finish_proxy_from, lt_config_finish_proxy_header, lt_config_finish_otlp_endpoint,
    lt_config_finish_otlp_headers;

#endif
