/* The models a prompt may go to: the configuration's, with what it leaves open filled in from the environment.
 *
 * "normal" is always there: where the configuration has none, it is $OPENAI_MODEL or a built-in name, so that an API
 * key alone is enough. The variable OPENAI_API_KEY counts for models without an address of their own only: nobody else
 * is sent that key.
 */
#ifndef LT_APP_MODELS_H
#define LT_APP_MODELS_H

#include "config/config.h"
#include "model/model.h"

#define LT_MODELS_URL  "https://api.openai.com/v1"
#define LT_MODELS_NAME "gpt-4.1-mini"

typedef struct lt_models {
  lt_model *list;
  lt_str *modes;        /* of each the mode it is meant for, or empty */
  const char **missing; /* of each the variable its key should be in and is not, or NULL */
  size_t count;
  lt_str default_ref;  /* never empty */
  lt_str default_mode; /* may be empty */
} lt_models;

/* Borrows and allocates from the configuration's arena. Errors: LT_E_NOMEM. */
lt_status lt_models_fill(lt_config *config, lt_models *ret_models, lt_err *err);

/* The model behind a ref: "high" is "normal" where there is none of that ref, that the first. LT_E_NOTFOUND: there is
 * no such model, with the ones there are; LT_E_CONFIG: it has no key, with what to set. */
lt_status lt_models_find(const lt_models *models, lt_str ref, const lt_model **ret_model, lt_err *err);

#endif
