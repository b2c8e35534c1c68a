/* The log of the database (FILE-wal) between SQLite and its own file system: a commit is one write, and waits for the
 * disk only when it must. Nothing else is changed. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_LOG_FILE_H
#define LT_STORE_SQLITE_LOG_FILE_H

#include <stdbool.h>

#include "base/err.h"

struct sqlite3;

/* The log of one connection. */
typedef struct lt_log_file lt_log_file;

/* The name of the file system with which a connection is to be opened. NULL: no memory. Any thread, after
 * lt_sqlite_open. */
const char *lt_log_file_system(void);

/* Right before the COMMIT of a transaction that writes. Until lt_log_file_end_commit the log's pages are gathered and
 * written together, and with `is_lazy` the commit is left to the kernel, which survives the process. Borrows: the
 * connection's. NULL: it has no log, or another file system; then each commit waits for the disk. */
lt_log_file *lt_log_file_begin_commit(struct sqlite3 *sql, bool is_lazy);
/* Right after the COMMIT, whether it failed or not. NULL is allowed. */
void lt_log_file_end_commit(lt_log_file *log);

#endif
