/* Opening the file: where it is, its folders and modes, and a connection that is ready for use. */
#ifndef LT_STORE_OPEN_H
#define LT_STORE_OPEN_H

#include "base/buf.h"
#include "base/err.h"

struct sqlite3;

/* Appends the default's path. LT_E_CONFIG: there is no home. */
lt_status lt_open_default_path(lt_buf *out, lt_err *err);

/* Opens `path`, makes it (mode 0600, its folders 0700 when `make_folders`) where it is missing, checks that it is ours
 * and brings its tables up to date. May take LT_DB_BUSY_MS. Owns: the caller, lt_open_close. */
lt_status lt_open_file(const char *path, bool make_folders, struct sqlite3 **ret_sql, lt_err *err);
/* NULL is allowed. */
void lt_open_close(struct sqlite3 *sql);

#endif
