/* Helpers for the built-in plugins: JSON texts of the host as Lathe's own types. */
#ifndef LT_PLUGIN_BUILTIN_BUILTIN_SUPPORT_H
#define LT_PLUGIN_BUILTIN_BUILTIN_SUPPORT_H

#include "base/buf.h"
#include "json/json.h"
#include "lathe_plugin.h"

static inline lt_str lt_builtin_str(lathe_text text) {
  return lt_str_from(text.p, text.n);
}
/* The type of a JSON text; NONE for an empty text. */
lt_json_type lt_builtin_type(lathe_text json);
/* A whole number that a schema has checked; `fallback` for an empty text. */
int64_t lt_builtin_number(lathe_text json, int64_t fallback);
/* Appends the strings of a JSON array: `before` before the first one, `between` before the others. */
void lt_builtin_put_strings(lathe_text array, const char *before, const char *between, lt_buf *out);
/* Fails the call with the error of the last host function. */
void lt_builtin_fail_with_error(const lathe_host *host, lathe_call *call);
/* Answers with the JSON in a buffer; fails the call when the buffer has failed. */
void lt_builtin_answer(const lathe_host *host, lathe_call *call, const lt_buf *json);

#endif
