/* Finds the secrets of the configuration: values from environment variables, and values whose keys sound secret.
 *
 * Secrets are masked in everything that is shown or stored (text/secrets.h). In doubt a value counts as a secret.
 * Common variables do not: masking the home folder or "en_US.UTF-8" would spoil paths and messages and protect no
 * secret.
 */
#ifndef LT_CONFIG_CONFIG_SECRETS_H
#define LT_CONFIG_CONFIG_SECRETS_H

#include "config/config_reading.h"

/* Lists the value of the environment variable `name`, unless the variable is known to hold no secret. LT_E_LIMIT,
 * LT_E_NOMEM. */
lt_status lt_config_secret_variable(const lt_config_reading *reading, lt_str name, lt_str value);
/* Lists a value that is a secret whatever it is called. LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_secret_value(const lt_config_reading *reading, lt_str value);
/* Lists the value of an entry of `env` or `headers` when its key sounds secret. LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_secret_entry(const lt_config_reading *reading, lt_str key, lt_str value);

#endif
