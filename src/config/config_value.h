/* One value of the configuration, other than sections and records: checked by its key's kind and stored. */
#ifndef LT_CONFIG_CONFIG_VALUE_H
#define LT_CONFIG_CONFIG_VALUE_H

#include "config/config_keys.h"

/* Stores the value in the key's member of `record`. LT_E_CONFIG, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_take_value(const lt_config_reading *reading, const lt_config_key *key, const lt_yaml_node *node,
                               const lt_config_place *place, char *record);

/* LT_E_CONFIG: a member of the mapping at `place` has an empty name. */
lt_status lt_config_check_name(const lt_config_reading *reading, const lt_yaml_node *member,
                               const lt_config_place *place);

#endif
