/* A configuration that was read again, while the process runs with the one before. */
#ifndef LT_CONFIG_CONFIG_ADOPT_H
#define LT_CONFIG_CONFIG_ADOPT_H

#include "config/config_keys.h"

/* Copies the values of all keys with LT_CONFIG_RELOADS from `fresh`, and which files count. Borrows: `fresh` must
 * outlive `config`. `on_kept` gets the top keys that differ and keep their old values: they count after a restart. */
void lt_config_adopt(lt_config *config, const lt_config *fresh, void (*on_kept)(void *arg, const lt_config_key *key),
                     void *arg);

#endif
