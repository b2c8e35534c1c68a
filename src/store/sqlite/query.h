/* Queries: prepared once, bound in order and stepped, with one place for their errors.
 *
 * For sqlite/ only, on the thread that has the connection. Errors stick: bind, step and read as often as you like, and
 * look at the status of lt_query_end.
 */
#ifndef LT_STORE_SQLITE_QUERY_H
#define LT_STORE_SQLITE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct sqlite3;
struct sqlite3_stmt;

typedef struct lt_query {
  struct sqlite3 *sql;
  struct sqlite3_stmt *stmt; /* the connection's: it stays prepared for the next time */
  int bound;                 /* parameters given so far */
  int rc;                    /* SQLite's, of what has failed or was done last */
} lt_query;

/* Prepares `text`, or takes it as it was prepared before. Not for two queries with the same text at once. */
lt_query lt_query_prepare(struct sqlite3 *sql, const char *text);

/* Give the parameters, in order. Borrows the bytes until lt_query_end. */
void lt_query_text(lt_query *query, lt_str s);
void lt_query_blob(lt_query *query, lt_str s);
void lt_query_int(lt_query *query, int64_t n);

/* Goes to the next row: false when there is none, or after an error. */
bool lt_query_row(lt_query *query);
/* A column of that row; columns count from 0. Borrows: until the next row. */
lt_str lt_query_get(const lt_query *query, int column);
int64_t lt_query_get_int(const lt_query *query, int column);

/* Ends the query and says whether all of it went well (lt_query_fail). */
lt_status lt_query_end(lt_query *query, lt_err *err);
/* For what has no rows: runs it and ends it. */
lt_status lt_query_run(lt_query *query, lt_err *err);

/* Runs statements without parameters and rows. */
lt_status lt_query_exec(struct sqlite3 *sql, const char *text, lt_err *err);
/* One whole number, such as a pragma's. */
lt_status lt_query_number(struct sqlite3 *sql, const char *text, int64_t *ret_n, lt_err *err);

/* Says what SQLite's `rc` means for this file and what to do about it: LT_E_IO for the file's state, LT_E_NOMEM,
 * LT_E_LIMIT for too large a value, else LT_E_INTERNAL: our own SQL is wrong. */
lt_status lt_query_fail(struct sqlite3 *sql, int rc, lt_err *err);
/* The same for a file by name and an errno of the system's (0: none is known). */
lt_status lt_query_fail_at(const char *path, int rc, int system_errno, const char *words, lt_err *err);

#endif
