/* Reads a file's tree into the configuration by the table of keys: finds, checks and stores every value. */
#ifndef LT_CONFIG_CONFIG_TAKE_H
#define LT_CONFIG_CONFIG_TAKE_H

#include "config/config_reading.h"

/* LT_E_CONFIG: the first mistake, with file and line; LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_take(const lt_config_reading *reading, const lt_yaml_node *root);

#endif
