/* The guard of a plugin's SQL: a statement reaches only the plugin's own tables, and takes a bounded time.
 *
 * While SQLite prepares a statement, it asks an authorizer about every table and function in it. It does not ask about
 * the new name in ALTER TABLE ... RENAME. So the guard compares the tables of others before and after a statement that
 * changes tables.
 *
 * For sqlite/ only, on the thread that has the connection, inside a job.
 */
#ifndef LT_STORE_SQLITE_SQL_GUARD_H
#define LT_STORE_SQLITE_SQL_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"

struct sqlite3;
struct sqlite3_stmt;

typedef struct lt_sql_guard {
  struct sqlite3 *sql;
  char prefix[LT_SQL_ID_MAX_BYTES + 3]; /* "my_todo__" */
  size_t prefix_bytes;
  bool off;             /* off for Lathe's own statements between the plugin's */
  int change;           /* SQLITE_CREATE_TABLE, ...: what the statement does to the plugin's tables; 0: nothing */
  uint64_t others;      /* hash of all other tables before the statement */
  uint64_t deadline_ms; /* CLOCK_MONOTONIC */
  int length_limit;     /* the connection's limit before the guard */
  char refused[2 * (LT_SQL_ID_MAX_BYTES + 1)]; /* what the authorizer refused first */
  char unknown[LT_SQL_ID_MAX_BYTES + 1];       /* refused because it may be a table: only its rows are counted */
  char ctes[LT_SQL_CTES_MAX][LT_SQL_ID_MAX_BYTES + 1]; /* names that are no tables but common table expressions */
  size_t cte_count;
} lt_sql_guard;

/* Installs the guard. LT_E_INVALID: a plugin with this id can have no tables (store.h). */
lt_status lt_sql_guard_enter(lt_sql_guard *guard, struct sqlite3 *sql, lt_str plugin, lt_err *err);
/* Removes the guard. Once for each successful lt_sql_guard_enter. */
void lt_sql_guard_leave(lt_sql_guard *guard);

/* Prepares the first statement of `text` and starts its clock; NULL when `text` has only white space and comments.
 * `ret_rest` is the text after the statement. Errors: LT_E_DENIED, LT_E_INVALID with SQLite's words, and
 * lt_query_fail's. Owns: the caller, lt_sql_guard_end. */
lt_status lt_sql_guard_begin(lt_sql_guard *guard, lt_str text, struct sqlite3_stmt **ret_stmt, lt_str *ret_rest,
                             lt_err *err);
/* Steps the statement; `ret_row` is false at its end. The same errors, and LT_E_TIMEOUT. */
lt_status lt_sql_guard_step(lt_sql_guard *guard, struct sqlite3_stmt *stmt, bool *ret_row, lt_err *err);
/* Ends the statement. LT_E_DENIED: it changed tables of others, and the job must fail. */
lt_status lt_sql_guard_end(lt_sql_guard *guard, struct sqlite3_stmt *stmt, lt_err *err);

#endif
