/* Which models a provider has, for the message that it does not have one. Private to model/. */
#ifndef LT_MODEL_MODEL_NAMES_H
#define LT_MODEL_MODEL_NAMES_H

#include "model/completion_wire.h"

/* Asks the provider (GET .../models) and appends "; it has: a, b and 7 more" to the error's message, names like the
 * model's first. Appends nothing where it does not say. `headers`: those of the request that failed. LT_YIELDS, for at
 * most about LT_MODEL_NAMES_MS. */
void lt_model_names_put(lt_http *http, const lt_completion_request *request, const lt_completion_wire *wire,
                        const lt_http_header *headers, size_t header_count, lt_err *err) LT_YIELDS;

#endif
