/* Reads one file over what a configuration has already. Internal to config/. */
#ifndef LT_CONFIG_CONFIG_LAYER_H
#define LT_CONFIG_CONFIG_LAYER_H

#include "config/config_reading.h"

/* Takes the text over the layers below. The name is kept. Errors: lt_config_parse's. */
lt_status lt_config_parse_text(const lt_config_reading *reading, lt_str yaml);
/* The last step, once, after all files: what depends on keys of several files. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_complete(lt_config *config, lt_err *err);

#endif
