/* The tables, and how a file of any earlier version gets them. */
#ifndef LT_STORE_SCHEMA_H
#define LT_STORE_SCHEMA_H

#include "base/err.h"

struct sqlite3;

#define LT_SCHEMA_APPLICATION 0x4c415448 /* "LATH" in the file's header (PRAGMA application_id) */

/* Whether the file is ours or new, changing nothing. Errors: LT_E_IO (somebody else's), LT_E_UNSUPPORTED (of a newer
 * Lathe), and what lt_sql_fail says. */
lt_status lt_schema_check(struct sqlite3 *sql, lt_err *err);
/* Makes the tables, or brings them up to date, all or nothing. Other processes may do the same at once. */
lt_status lt_schema_upgrade(struct sqlite3 *sql, lt_err *err);
/* The version that lt_schema_upgrade leads to. */
int lt_schema_version(void);

#endif
