/* The models that a prompt may use: those of the configuration, completed from the environment, and "provider/name".
 *
 * The model "normal" always exists. Without one in the configuration it is $OPENAI_MODEL or $ANTHROPIC_MODEL, or a
 * built-in name, so an API key alone is enough. A provider's key is used only at the provider's own address, or the one
 * that its variable names (OPENAI_BASE_URL): no other server gets that key.
 */
#ifndef LT_APP_MODELS_H
#define LT_APP_MODELS_H

#include "config/config.h"
#include "model/model.h"

typedef struct lt_models {
  lt_model *list;
  lt_str *modes;           /* one per model: its mode, or empty */
  lt_config_price *prices; /* one per model */
  const char **missing;    /* one per model: the variable that lacks its key, or NULL */
  size_t count;            /* of models */
  size_t room;             /* of the lists; behind the models, refs are empty */
  lt_config *config;
  lt_str default_ref;  /* never empty */
  lt_str default_mode; /* may be empty */
} lt_models;

/* Borrows and allocates from the configuration's arena. Errors: LT_E_NOMEM. */
lt_status lt_models_fill(lt_config *config, lt_models *ret_models, lt_err *err);

/* Finds the model with a ref. Without a model "high", "normal" is used; without "normal", the first model.
 * "provider/name" becomes a model of the list (config/model_provider.h). LT_E_NOTFOUND lists the models; LT_E_CONFIG:
 * the model has no key, and the message says what to set; LT_E_LIMIT: too many of "provider/name". */
lt_status lt_models_find(lt_models *models, lt_str ref, const lt_model **ret_model, lt_err *err);

#endif
