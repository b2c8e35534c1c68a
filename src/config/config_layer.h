/* Reads one layer over what a configuration has already. Internal to config/. */
#ifndef LT_CONFIG_CONFIG_LAYER_H
#define LT_CONFIG_CONFIG_LAYER_H

#include "config/config.h"

/* As lt_config_parse, for a `config` that has its defaults, or the layers below this one. */
lt_status lt_config_parse_layer(lt_str yaml, const char *name, const char *folder, lt_config_layer layer,
                                lt_config *config, lt_err *err);

#endif
