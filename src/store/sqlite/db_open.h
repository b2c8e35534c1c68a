/* Opening the file: its folders and modes, and a connection that is ready for use. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_DB_OPEN_H
#define LT_STORE_SQLITE_DB_OPEN_H

#include <stdbool.h>

#include "base/err.h"

struct sqlite3;

/* Opens `path`, makes it (mode 0600, its folders 0700 when `make_folders`) where it is missing, checks that it is ours
 * and brings its tables up to date. May take LT_DB_BUSY_MS. Owns: the caller, lt_db_close_file. */
lt_status lt_db_open_file(const char *path, bool make_folders, struct sqlite3 **ret_sql, lt_err *err);
/* NULL is allowed. */
void lt_db_close_file(struct sqlite3 *sql);

#endif
