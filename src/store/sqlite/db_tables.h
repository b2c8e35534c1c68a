/* The tables, and their migration from earlier versions. */
#ifndef LT_STORE_SQLITE_DB_TABLES_H
#define LT_STORE_SQLITE_DB_TABLES_H

#include "base/err.h"

struct sqlite3;

#define LT_DB_TABLES_APPLICATION 0x4c415448 /* "LATH" in the file's header (PRAGMA application_id) */

/* The newest version of the tables. */
int lt_db_tables_version(void);

/* Files of this version and later ones can be read without a migration. */
int lt_db_tables_base_version(void);

/* Call both inside a transaction: other processes may do the same. */

/* Checks that the file is Lathe's and reads its version, which is larger than the newest known one when a newer Lathe
 * has added tables or columns; 0: the file is new. Errors: LT_E_IO (another program's file), LT_E_UNSUPPORTED (a newer
 * Lathe's, which this one cannot read), and those of lt_query_fail. */
lt_status lt_db_tables_check(struct sqlite3 *sql, int *ret_version, lt_err *err);
/* Migrates the tables of an older version to `version`. Versions below the newest are for tests. */
lt_status lt_db_tables_upgrade(struct sqlite3 *sql, int version, lt_err *err);

#endif
