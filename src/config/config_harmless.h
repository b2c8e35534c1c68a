/* Which values of a key need no trust (config_review.h). Internal to config/. */
#ifndef LT_CONFIG_CONFIG_HARMLESS_H
#define LT_CONFIG_CONFIG_HARMLESS_H

#include "config/config_keys.h"

lt_config_harmless_fn lt_config_harmless_text;   /* no ${NAME} */
lt_config_harmless_fn lt_config_harmless_action; /* ask or deny */
lt_config_harmless_fn lt_config_harmless_number; /* any */
lt_config_harmless_fn lt_config_harmless_lower;  /* at most what the layers below say */
lt_config_harmless_fn lt_config_harmless_output; /* the same for sandbox.maxOutputBytes, whose 0 has one meaning */
lt_config_harmless_fn lt_config_harmless_true;

#endif
