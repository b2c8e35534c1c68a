/* Queries: prepared once, bound in order and stepped, with one place for errors.
 *
 * For sqlite/ only, on the thread that has the connection. Errors are sticky: bind, step and read without checks, and
 * check the status of lt_query_end.
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
  struct sqlite3_stmt *stmt; /* belongs to the connection and stays prepared */
  int bound;                 /* number of bound parameters */
  int rc;                    /* SQLite's code of the first failure, or of the last step */
} lt_query;

/* Prepares `text`, or reuses the prepared statement. Two open queries must not have the same text. */
lt_query lt_query_prepare(struct sqlite3 *sql, const char *text);

/* Bind the parameters, in order. Borrows the bytes until lt_query_end. */
void lt_query_text(lt_query *query, lt_str s);
void lt_query_blob(lt_query *query, lt_str s);
void lt_query_int(lt_query *query, int64_t n);

/* Steps to the next row. False: no more rows, or an error. */
bool lt_query_row(lt_query *query);
/* A column of the row, by zero-based index. Borrows: until the next row. */
lt_str lt_query_get(const lt_query *query, int column);
int64_t lt_query_get_int(const lt_query *query, int column);

/* Ends the query and returns its status (lt_query_fail). */
lt_status lt_query_end(lt_query *query, lt_err *err);
/* Runs and ends a query without rows. */
lt_status lt_query_run(lt_query *query, lt_err *err);

/* Runs statements without parameters and rows. */
lt_status lt_query_exec(struct sqlite3 *sql, const char *text, lt_err *err);
/* Runs a statement that returns one whole number, such as a pragma. */
lt_status lt_query_number(struct sqlite3 *sql, const char *text, int64_t *ret_n, lt_err *err);

/* Translates SQLite's `rc` into a message that says what to do: LT_E_IO: the file's state; LT_E_NOMEM; LT_E_LIMIT: the
 * value is too large; else LT_E_INTERNAL: Lathe's SQL is wrong. */
lt_status lt_query_fail(struct sqlite3 *sql, int rc, lt_err *err);
/* The same for a file name and an errno of the system (0: unknown). */
lt_status lt_query_fail_at(const char *path, int rc, int system_errno, const char *words, lt_err *err);

#endif
