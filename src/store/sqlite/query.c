/* Queries, and what SQLite's result codes mean for a person. */
#include "store/sqlite/query.h"

#include <errno.h>

#include "base/limits.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/sqlite_open.h"

/* --- Queries ------------------------------------------------------------------------------------------------------ */

/* The connection has as many prepared statements as there are texts in sqlite/. */
static sqlite3_stmt *query_find_prepared(sqlite3 *sql, const char *text) {
  sqlite3_stmt *stmt = lt_sqlite.next_stmt(sql, NULL);
  while (stmt != NULL && (lt_sqlite.stmt_busy(stmt) || strcmp(lt_sqlite.sql(stmt), text) != 0)) {
    stmt = lt_sqlite.next_stmt(sql, stmt);
  }
  return stmt;
}

lt_query lt_query_prepare(struct sqlite3 *sql, const char *text) {
  lt_query query = {.sql = sql, .stmt = lt_connection_cache_find(sql, text)};
  if (query.stmt != NULL) {
    return query;
  }
  query.stmt = query_find_prepared(sql, text);
  if (query.stmt == NULL) {
    query.rc = lt_sqlite.prepare_v3(sql, text, -1, SQLITE_PREPARE_PERSISTENT, &query.stmt, NULL);
  }
  if (query.stmt != NULL) {
    lt_connection_cache_put(sql, text, query.stmt);
  }
  return query;
}

static void query_count_bound(lt_query *query, int rc) {
  query->bound++;
  query->rc = rc;
}

void lt_query_text(lt_query *query, lt_str s) {
  if (query->rc == SQLITE_OK) {
    query_count_bound(query, lt_sqlite.bind_text64(query->stmt, query->bound + 1, s.p != NULL ? s.p : "", s.n,
                                                   SQLITE_STATIC, SQLITE_UTF8));
  }
}

void lt_query_blob(lt_query *query, lt_str s) {
  if (query->rc == SQLITE_OK) {
    query_count_bound(query,
                      lt_sqlite.bind_blob64(query->stmt, query->bound + 1, s.p != NULL ? s.p : "", s.n, SQLITE_STATIC));
  }
}

void lt_query_int(lt_query *query, int64_t n) {
  if (query->rc == SQLITE_OK) {
    query_count_bound(query, lt_sqlite.bind_int64(query->stmt, query->bound + 1, n));
  }
}

bool lt_query_row(lt_query *query) {
  if (query->rc == SQLITE_OK || query->rc == SQLITE_ROW) {
    query->rc = lt_sqlite.step(query->stmt);
  }
  return query->rc == SQLITE_ROW;
}

/* Read as a blob: the bytes as they were stored. */
lt_str lt_query_get(const lt_query *query, int column) {
  const void *p = lt_sqlite.column_blob(query->stmt, column);
  return p != NULL ? lt_str_from(p, (size_t)lt_sqlite.column_bytes(query->stmt, column)) : LT_STR_NULL;
}

int64_t lt_query_get_int(const lt_query *query, int column) {
  return lt_sqlite.column_int64(query->stmt, column);
}

lt_status lt_query_end(lt_query *query, lt_err *err) {
  int rc = query->rc;
  bool good = rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE;
  lt_status status = good ? LT_OK : lt_query_fail(query->sql, rc, err);
  if (query->stmt != NULL) {
    rc = lt_sqlite.reset(query->stmt); /* fails, too, when there was no memory to read a column */
    if (good && rc != SQLITE_OK) {
      status = lt_query_fail(query->sql, rc, err);
    }
    lt_sqlite.clear_bindings(query->stmt);
  }
  return status;
}

lt_status lt_query_run(lt_query *query, lt_err *err) {
  lt_query_row(query);
  return lt_query_end(query, err);
}

lt_status lt_query_exec(struct sqlite3 *sql, const char *text, lt_err *err) {
  int rc = lt_sqlite.exec(sql, text, NULL, NULL, NULL);
  return rc == SQLITE_OK ? LT_OK : lt_query_fail(sql, rc, err);
}

lt_status lt_query_number(struct sqlite3 *sql, const char *text, int64_t *ret_n, lt_err *err) {
  lt_query query = lt_query_prepare(sql, text);
  int64_t n = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  LT_TRY(lt_query_end(&query, err));
  *ret_n = n;
  return LT_OK;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static bool query_is_full(int rc, int system_errno) {
  return (rc & 0xff) == SQLITE_FULL || system_errno == ENOSPC || system_errno == EDQUOT;
}

static bool query_is_read_only(int rc, int system_errno) {
  return (rc & 0xff) == SQLITE_READONLY || system_errno == EROFS;
}

static bool query_is_forbidden(int rc, int system_errno) {
  return (rc & 0xff) == SQLITE_PERM || system_errno == EACCES || system_errno == EPERM;
}

#define OR_ANOTHER "or name another with `store: sqlite:PATH`"

/* The file system's error comes first: SQLite often knows only that something could not be opened or written. */
static const char *query_advice(int rc, int system_errno) {
  if (query_is_full(rc, system_errno)) {
    return "the disk is full: nothing more is recorded until there is room";
  }
  if (query_is_read_only(rc, system_errno)) {
    return "it is read-only: make the file and its folder writable, " OR_ANOTHER;
  }
  if (query_is_forbidden(rc, system_errno)) {
    return "no permission: make the file and its folder yours to read and write, " OR_ANOTHER;
  }
  switch (rc & 0xff) {
    case SQLITE_NOTADB:
      return "this is not a database of Lathe's, or it is damaged: move it away, " OR_ANOTHER;
    case SQLITE_CORRUPT:
      return "the file is damaged: move it away (`sqlite3 FILE .recover` rescues what it can), " OR_ANOTHER;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process keeps it locked: end that one, " OR_ANOTHER;
    case SQLITE_CANTOPEN:
      return "it cannot be opened: its folder must be there and writable";
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
      return "it cannot be read or written: see whether the disk is in order";
    default:
      return NULL;
  }
}

lt_status lt_query_fail_at(const char *path, int rc, int system_errno, const char *words, lt_err *err) {
  if ((rc & 0xff) == SQLITE_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the database %s", path);
  }
  if ((rc & 0xff) == SQLITE_TOOBIG) {
    return lt_fail(err, LT_E_LIMIT, "too large for the database %s: a value has 1 GB at most", path);
  }
  const char *what = query_advice(rc, system_errno);
  if (what == NULL) {
    return lt_fail(err, LT_E_INTERNAL, "the database %s: %s", path, words);
  }
  const char *cause = system_errno != 0 ? strerrordesc_np(system_errno) : words;
  return lt_fail(err, LT_E_IO, "the database %s: %s (%s)", path, what, cause != NULL ? cause : words);
}

lt_status lt_query_fail(struct sqlite3 *sql, int rc, lt_err *err) {
  int first = rc & 0xff;
  const char *path = lt_sqlite.db_filename(sql, "main");
  bool of_system =
      first == SQLITE_CANTOPEN || first == SQLITE_IOERR || first == SQLITE_FULL || first == SQLITE_READONLY;
  return lt_query_fail_at(path != NULL && path[0] != '\0' ? path : ":memory:", rc,
                          of_system ? lt_sqlite.system_errno(sql) : 0, lt_sqlite.errmsg(sql), err);
}
