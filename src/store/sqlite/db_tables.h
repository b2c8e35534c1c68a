/* The tables, and how a file of any earlier version gets them. */
#ifndef LT_STORE_SQLITE_DB_TABLES_H
#define LT_STORE_SQLITE_DB_TABLES_H

#include "base/err.h"

struct sqlite3;

#define LT_DB_TABLES_APPLICATION 0x4c415448 /* "LATH" in the file's header (PRAGMA application_id) */

/* The newest version of the tables. */
int lt_db_tables_version(void);

/* Both belong inside a transaction: other processes may be doing the same. */

/* Whether the file is ours, and of which version; 0: it is new. Errors: LT_E_IO (somebody else's), LT_E_UNSUPPORTED (of
 * a newer Lathe), and what lt_query_fail says. */
lt_status lt_db_tables_check(struct sqlite3 *sql, int *ret_version, lt_err *err);
/* Makes the tables of `version` of those of an older one. Other versions than the newest are for tests. */
lt_status lt_db_tables_upgrade(struct sqlite3 *sql, int version, lt_err *err);

#endif
