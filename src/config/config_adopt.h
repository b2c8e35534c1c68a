/* A configuration that was read again, while the process runs with the one before. */
#ifndef LT_CONFIG_CONFIG_ADOPT_H
#define LT_CONFIG_CONFIG_ADOPT_H

#include "config/config_keys.h"

/* Copies the values of all keys with LT_CONFIG_RELOADS from `fresh`, and which files count. Borrows: `fresh` must
 * outlive `config`. `on_kept` gets the top keys that differ and keep their old values: they count after a restart. */
void lt_config_adopt(lt_config *config, const lt_config *fresh, void (*on_kept)(void *arg, const lt_config_key *key),
                     void *arg);

/* Whether two servers of the same name are configured differently: a key has another value, or one of them has a fault.
 */
bool lt_config_servers_differ(const lt_config_server *server, const lt_config_server *other);

#endif
