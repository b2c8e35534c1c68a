/* The values of store() and recall(), JSON texts by name, for one run or for several consecutive runs.
 *
 * Used by one program at a time. */
#ifndef LT_RUNNER_STORED_VALUES_H
#define LT_RUNNER_STORED_VALUES_H

#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

typedef struct lt_stored_values lt_stored_values;

/* NULL when there is no memory. Owns: the caller, lt_stored_values_free. */
lt_stored_values *lt_stored_values_new(void);
void lt_stored_values_free(lt_stored_values *values); /* NULL is allowed */

/* Keeps a copy; empty JSON removes the value. Errors: LT_E_LIMIT (LT_RUN_STORE_MAX_BYTES in all), LT_E_NOMEM. */
lt_status lt_stored_values_put(lt_stored_values *values, lt_str key, lt_str json, lt_err *err);

/* Write all values as a JSON object, or replace all values by those of an object. Errors: as of put, LT_E_SYNTAX. */
void lt_stored_values_write(const lt_stored_values *values, lt_json_writer *w);
lt_status lt_stored_values_read(lt_stored_values *values, lt_str json, lt_err *err);

/* Makes the changes that lead from `found` to `values` in `to`. `ret_is_changed`: there were some. Errors: as of put.
 */
lt_status lt_stored_values_merge(lt_stored_values *to, const lt_stored_values *values, const lt_stored_values *found,
                                 bool *ret_is_changed, lt_err *err);

/* The value's JSON text, or empty. Borrows: until the next put. */
lt_str lt_stored_values_find(const lt_stored_values *values, lt_str key);

#endif
