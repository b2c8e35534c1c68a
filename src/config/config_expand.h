/* References to the environment: ${NAME}, ${NAME:-default} and $${ in the texts of a configuration. */
#ifndef LT_CONFIG_CONFIG_EXPAND_H
#define LT_CONFIG_CONFIG_EXPAND_H

#include "config/config_reading.h"

/* Replaces the references in a scalar's text. LT_E_CONFIG names the variable, never a value. */
lt_status lt_config_expand(const lt_config_reading *reading, const lt_yaml_node *scalar, const char **ret);
/* The same for a secret: the variable's value is added to lt_config.secrets. */
lt_status lt_config_expand_secret(const lt_config_reading *reading, const lt_yaml_node *scalar, const char **ret);

#endif
