/* YAML into JSON text: what a plugin's configuration is handed over as. */
#ifndef LT_CONFIG_CONFIG_JSON_H
#define LT_CONFIG_CONFIG_JSON_H

#include "config/config_reading.h"

/* A value as JSON text in the configuration's arena, with what ${NAME} puts into it listed as secret. LT_E_CONFIG,
 * LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_json(const lt_config_reading *reading, const lt_yaml_node *node, lt_str *ret);

#endif
