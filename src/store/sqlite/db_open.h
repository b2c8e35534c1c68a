/* Opens the file: creates its folders, sets modes and returns a ready connection. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_DB_OPEN_H
#define LT_STORE_SQLITE_DB_OPEN_H

#include <stdbool.h>

#include "base/err.h"

struct sqlite3;

/* Opens `path`. Creates a missing file (mode 0600) and, with `make_folders`, missing folders (mode 0700). Checks that
 * the file is Lathe's and migrates its tables. May take LT_DB_BUSY_MS. Owns: the caller, lt_db_close_file. */
lt_status lt_db_open_file(const char *path, bool make_folders, struct sqlite3 **ret_sql, lt_err *err);
/* Opens a file that cannot be written, to be read. The file, its folder or the whole disk may be read-only. Without a
 * log (FILE-wal) the file is taken as it is (immutable); a log is read when its index (FILE-shm) is there or can be
 * made. Errors: the file does not exist, is not Lathe's, or has a log that cannot be read; LT_E_UNSUPPORTED: its tables
 * would have to be migrated. Owns: the caller, lt_db_close_file. */
lt_status lt_db_open_read_only(const char *path, struct sqlite3 **ret_sql, lt_err *err);
/* NULL is allowed. */
void lt_db_close_file(struct sqlite3 *sql);

#endif
