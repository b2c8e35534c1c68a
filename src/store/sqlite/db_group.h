/* A group of jobs as one transaction. For db.c only, on the thread that has the file. */
#ifndef LT_STORE_SQLITE_DB_GROUP_H
#define LT_STORE_SQLITE_DB_GROUP_H

#include "store/sqlite/db.h"

typedef struct lt_db_file {
  const char *path;
  bool make_folders;
  struct sqlite3 *sql; /* NULL: not opened yet */
  bool is_read_only;   /* the file could not be written when it was opened */
} lt_db_file;

/* Opens the file unless it is open, and runs all jobs, which are at least one; each gets its status. Whether there was
 * a commit. */
bool lt_db_group_run(lt_db_file *file, lt_db_job *jobs);
/* The jobs that have not failed yet fail with `why`. */
void lt_db_group_fail(lt_db_job *jobs, const lt_err *why);

#endif
