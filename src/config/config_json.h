/* YAML as JSON text, for a plugin's configuration. */
#ifndef LT_CONFIG_CONFIG_JSON_H
#define LT_CONFIG_CONFIG_JSON_H

#include "config/config_reading.h"

/* Writes a value as JSON text into the configuration's arena. Values of ${NAME} in it are listed as secrets.
 * LT_E_CONFIG, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_json(const lt_config_reading *reading, const lt_yaml_node *node, lt_str *ret);

#endif
