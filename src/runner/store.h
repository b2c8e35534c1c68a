/* store() and recall(): values by name, JSON text, for one run or for several that follow each other.
 *
 * Used by one program at a time. */
#ifndef LT_RUNNER_STORE_H
#define LT_RUNNER_STORE_H

#include "base/err.h"
#include "base/str.h"

typedef struct lt_store lt_store;

/* NULL when there is no memory. Owns: the caller, lt_store_free. */
lt_store *lt_store_new(void);
void lt_store_free(lt_store *store); /* NULL is allowed */

/* Keeps a copy; empty JSON removes the value. Errors: LT_E_LIMIT (LT_RUN_STORE_MAX_BYTES in all), LT_E_NOMEM. */
lt_status lt_store_put(lt_store *store, lt_str key, lt_str json, lt_err *err);

/* The value's JSON text, or empty. Borrows: until the next put. */
lt_str lt_store_find(const lt_store *store, lt_str key);

#endif
