/* What a model's configuration adds to its requests: headers, and members of the body. Private to model/. */
#ifndef LT_MODEL_MODEL_EXTRAS_H
#define LT_MODEL_MODEL_EXTRAS_H

#include "model/model.h"

/* Appends the model's headers to `headers`, of which there are `count`, and takes out those of the same name. Returns
 * the new count. Limits: LT_MODEL_HEADERS_MAX more. Borrows: the model. */
size_t lt_model_extras_add_headers(const lt_model *model, lt_http_header *headers, size_t count);
/* Writes a request's body with the model's members. Errors: LT_E_CONFIG (they are no JSON object), LT_E_NOMEM, and the
 * buffer's. */
lt_status lt_model_extras_put_body(const lt_model *model, lt_str body, lt_buf *out, lt_err *err);

#endif
