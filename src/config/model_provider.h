/* The providers of models that Lathe knows by name: where they are, and which variable has their key.
 *
 * "openai/gpt-5" names a model of a provider where no configuration does. A key goes to its own provider's address and
 * to no other.
 */
#ifndef LT_CONFIG_MODEL_PROVIDER_H
#define LT_CONFIG_MODEL_PROVIDER_H

#include "base/str.h"

typedef struct lt_model_provider {
  const char *name;           /* NULL: the end of the table */
  const char *base_url;       /* where its API is */
  const char *key_variable;   /* NULL: it needs no key */
  const char *url_variable;   /* has another address for this provider; NULL: none */
  const char *model_variable; /* says which of its models is the usual one; NULL: none */
  const char *model;          /* else this one; NULL: none */
  const char *api;            /* of that other address (models[].api); NULL: the address says which */
  const char *start;          /* a server on one's own machine: how it is started; NULL: it is none */
  bool no_images;             /* none of its models takes images ... */
  bool no_files;              /* ... or documents, in the form that is sent */
} lt_model_provider;

extern const lt_model_provider lt_model_providers[];
/* Their names, NULL last. */
extern const char *const lt_model_provider_names[];

/* NULL: there is none of this name. */
const lt_model_provider *lt_model_provider_find(lt_str name);
/* The provider whose address has this scheme and host (and port); NULL: none. "localhost" is 127.0.0.1. */
const lt_model_provider *lt_model_provider_at(lt_str base_url);
/* Whether models of this name are known to take text only, wherever they are. */
bool lt_model_provider_is_text_only(lt_str model);
/* Whether an environment variable of this name has some provider's key. */
bool lt_model_provider_is_key(lt_str variable);

#endif
