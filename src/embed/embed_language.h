/* Languages by the names that a host has for them. */
#ifndef LT_EMBED_EMBED_LANGUAGE_H
#define LT_EMBED_EMBED_LANGUAGE_H

#include "base/err.h"
#include "runner/run_request.h"

/* NULL is JavaScript. Errors: LT_E_INVALID: there is no such language. */
lt_status lt_embed_language_find(const char *name, lt_lang *ret_lang, lt_err *err);

#endif
