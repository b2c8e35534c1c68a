/* Which values of the configuration are secrets: what environment variables put into it, and what its keys say is one.
 *
 * They are masked in everything that is shown or stored (text/secrets.h), so this errs on the side of masking, but for
 * variables that everybody has: with the home folder or "en_US.UTF-8" masked, paths and messages would be full of holes
 * and no secret any safer.
 */
#ifndef LT_CONFIG_CONFIG_SECRETS_H
#define LT_CONFIG_CONFIG_SECRETS_H

#include "config/config_reading.h"

/* Lists the value of the environment variable `name`, unless it is one of those that hold no secrets. LT_E_LIMIT,
 * LT_E_NOMEM. */
lt_status lt_config_secret_variable(const lt_config_reading *reading, lt_str name, lt_str value);
/* Lists the value of an entry of `env` or `headers` when its key sounds secret. LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_secret_entry(const lt_config_reading *reading, lt_str key, lt_str value);

#endif
