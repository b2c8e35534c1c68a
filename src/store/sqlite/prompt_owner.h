/* Who owns a prompt, for jobs of the database. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_PROMPT_OWNER_H
#define LT_STORE_SQLITE_PROMPT_OWNER_H

#include "store/lease.h"
#include "store/sqlite/connection_cache.h"

struct sqlite3;

/* The text of this process as an owner, with a sign of life. Errors: lt_lease_own's, the database's. */
lt_status lt_prompt_owner_sign(struct sqlite3 *sql, char ret_own[LT_LEASE_BYTES], lt_err *err);
/* Checks that no other process owns the prompt that `run` belongs to, or has ended it. A process that was stopped for
 * long, or whose heartbeat could not be written, may have lost it: it must not write to it, nor make its calls. Errors:
 * LT_E_CLOSED.
 */
lt_status lt_prompt_owner_check_own(struct sqlite3 *sql, lt_str run, lt_err *err);
/* The same, and finds the prompt's rows; zeros: there is no such prompt. */
lt_status lt_prompt_owner_find_own(struct sqlite3 *sql, lt_str run, lt_prompt_rows *ret_rows, lt_err *err);

#endif
