/* From a path to a connection. */
#include "store/sqlite/db_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/db.h"
#include "store/sqlite/db_tables.h"
#include "store/sqlite/log_file.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

/* --- Files -------------------------------------------------------------------------------------------------------- */

static lt_status db_open_fail(const char *path, int system_errno, lt_err *err) {
  return lt_query_fail_at(path, SQLITE_CANTOPEN, system_errno, "", err);
}

static lt_status db_open_make_folders(const char *path, lt_err *err) {
  char *folder = lt_mem_strdup(lt_str_of(path));
  if (folder == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the database's path");
  }
  lt_status status = LT_OK;
  for (char *slash = strchr(folder + 1, '/'); slash != NULL && status == LT_OK; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
      struct stat st;
      int why = errno;
      status = stat(folder, &st) == 0 ? LT_OK : db_open_fail(path, why, err); /* such as EROFS for an existing folder */
    }
    *slash = '/';
  }
  lt_mem_free(folder);
  return status;
}

/* Makes the file to set its mode: SQLite would use 0644. With mknod, not open: closing a descriptor would drop the
 * locks that another connection of this process may hold on the file already. */
static lt_status db_open_make_file(const char *path, bool *ret_made, lt_err *err) {
  struct stat st;
  if (stat(path, &st) == 0) {
    return S_ISREG(st.st_mode)
               ? LT_OK
               : lt_fail(err, LT_E_IO, "the database %s is not a file: name another with `store: sqlite:PATH`", path);
  }
  if (errno != ENOENT) {
    return db_open_fail(path, errno, err);
  }
  if (mknod(path, S_IFREG | 0600, 0) == 0) {
    *ret_made = true;
    return LT_OK;
  }
  return errno == EEXIST ? LT_OK : db_open_fail(path, errno, err);
}

/* Flushes the folder, so that a new file's name survives a power failure as its content does. */
static void db_open_sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = lt_mem_strdup(slash != NULL ? lt_str_from(path, (size_t)(slash - path) + 1) : LT_STR("."));
  if (folder == NULL) {
    return;
  }
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  lt_mem_free(folder);
}

/* --- The connection ----------------------------------------------------------------------------------------------- */

/* Settings for every statement, and limits for the statements of plugins. */
static void db_open_configure(sqlite3 *sql) {
  lt_sqlite.busy_timeout(sql, LT_DB_BUSY_MS);
  lt_sqlite.db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
  lt_sqlite.db_config(sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
  lt_sqlite.db_config(sql, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)NULL);
  lt_sqlite.limit(sql, SQLITE_LIMIT_ATTACHED, 0);
  lt_connection_cache_open(sql);
}

static lt_status db_open_use_wal(sqlite3 *sql, lt_err *err) {
  char text[64];
  snprintf(text, sizeof text, "PRAGMA journal_size_limit = %lu", LT_DB_WAL_KEEP_BYTES);
  LT_TRY(lt_query_exec(sql, "PRAGMA journal_mode = WAL", err));
  return lt_query_exec(sql, text, err);
}

static lt_status db_open_check_tables(sqlite3 *sql, void *arg, lt_err *err) {
  return lt_db_tables_check(sql, arg, err);
}

static lt_status db_open_upgrade(sqlite3 *sql, void *arg, lt_err *err) {
  return lt_db_tables_upgrade(sql, *(const int *)arg, err);
}

/* Whether the failure will pass: another process has locked something, or deleted a log that was there a moment
 * before. */
static bool db_open_is_passing(sqlite3 *sql) {
  int first = lt_sqlite.errcode(sql) & 0xff;
  return first == SQLITE_BUSY || (first == SQLITE_IOERR && lt_sqlite.system_errno(sql) == ENOENT);
}

static lt_status db_open_in_transaction(sqlite3 *sql, const char *begin, lt_db_work work, void *arg, bool *ret_passing,
                                        lt_err *err) {
  lt_status status = lt_query_exec(sql, begin, err);
  if (status == LT_OK) {
    status = work(sql, arg, err);
  }
  if (status == LT_OK) {
    status = lt_query_exec(sql, "COMMIT", err);
  }
  *ret_passing = status != LT_OK && db_open_is_passing(sql);
  if (lt_sqlite.get_autocommit(sql) == 0) {
    lt_sqlite.exec(sql, "ROLLBACK", NULL, NULL, NULL);
  }
  return status;
}

/* Only our own files get a log: a file is checked first, and another program's is left as it is. */
static lt_status db_open_try_prepare(sqlite3 *sql, bool *ret_passing, lt_err *err) {
  int version = 0, newest = lt_db_tables_version();
  LT_TRY(db_open_in_transaction(sql, "BEGIN", db_open_check_tables, &version, ret_passing, err));
  lt_status status = db_open_use_wal(sql, err);
  *ret_passing = status != LT_OK && db_open_is_passing(sql);
  if (status == LT_OK && version < newest) {
    status = db_open_in_transaction(sql, "BEGIN IMMEDIATE", db_open_upgrade, &newest, ret_passing, err);
  }
  return status;
}

/* Processes that open the same file at once disturb each other, and SQLite does not always wait by itself. */
static lt_status db_open_prepare(sqlite3 *sql, lt_err *err) {
  uint64_t give_up_ms = lt_clock_monotonic_ms() + LT_DB_BUSY_MS;
  for (;;) {
    bool passing = false;
    LT_ERR_VAR(why);
    lt_status status = db_open_try_prepare(sql, &passing, &why);
    if (status == LT_OK) {
      return LT_OK;
    }
    if (!passing || lt_clock_monotonic_ms() >= give_up_ms) {
      return lt_fail(err, status, "%s", lt_err_msg(&why));
    }
    nanosleep(&(struct timespec){.tv_nsec = LT_DB_RETRY_MS * 1000000}, NULL);
  }
}

static lt_status db_open_connection(const char *path, sqlite3 **ret_sql, lt_err *err) {
  sqlite3 *sql = NULL;
  LT_TRY(lt_sqlite_open(err));
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int rc = lt_sqlite.open_v2(path, &sql, flags, lt_log_file_system());
  lt_status status = LT_OK;
  if (sql == NULL) {
    return lt_query_fail_at(path, SQLITE_NOMEM, 0, "", err);
  }
  if (rc != SQLITE_OK) {
    status = lt_query_fail_at(path, rc, lt_sqlite.system_errno(sql), lt_sqlite.errmsg(sql), err);
  } else if (lt_sqlite.db_readonly(sql, "main") == 1) {
    status = lt_query_fail_at(path, SQLITE_READONLY, access(path, W_OK) != 0 ? errno : 0, "it can only be read", err);
  } else {
    db_open_configure(sql);
    status = db_open_prepare(sql, err);
  }
  if (status != LT_OK) {
    lt_db_close_file(sql);
    return status;
  }
  *ret_sql = sql;
  return LT_OK;
}

lt_status lt_db_open_file(const char *path, bool make_folders, struct sqlite3 **ret_sql, lt_err *err) {
  bool made = false;
  if (strcmp(path, ":memory:") != 0) {
    if (make_folders) {
      LT_TRY(db_open_make_folders(path, err));
    }
    LT_TRY(db_open_make_file(path, &made, err));
  }
  LT_TRY(db_open_connection(path, ret_sql, err));
  if (made) {
    db_open_sync_folder(path);
  }
  return LT_OK;
}

/* --- Read-only ---------------------------------------------------------------------------------------------------- */
/* sqlite.org/uri.html: these characters have a meaning of their own. */
static void db_open_put_uri(lt_buf *out, const char *path, const char *parameter) {
  lt_buf_addc(out, "file:");
  for (const char *c = path; *c != '\0'; c++) {
    if (*c == '%' || *c == '?' || *c == '#') {
      lt_buf_printf(out, "%%%02x", (unsigned char)*c);
    } else {
      lt_buf_byte(out, *c);
    }
  }
  lt_buf_addc(out, parameter);
}

static bool db_open_has_log(const char *path) {
  struct stat st;
  LT_AUTO_BUF(log, LT_PROC_PATH_MAX_BYTES);
  lt_buf_printf(&log, "%s-wal", path);
  return log.status == LT_OK && stat(log.p, &st) == 0 && st.st_size > 0;
}

static lt_status db_open_check_read_only(sqlite3 *sql, lt_err *err) {
  int version = 0;
  bool passing;
  LT_TRY(db_open_in_transaction(sql, "BEGIN", db_open_check_tables, &version, &passing, err));
  return version >= lt_db_tables_base_version()
             ? LT_OK
             : lt_fail(err, LT_E_UNSUPPORTED,
                       "the database %s was made by an older Lathe and can only be read: make it writable once",
                       lt_sqlite.db_filename(sql, "main"));
}

/* An immutable file is read without locks, so it must not have a log: another process may be writing then. */
lt_status lt_db_open_read_only(const char *path, struct sqlite3 **ret_sql, lt_err *err) {
  sqlite3 *sql = NULL;
  LT_AUTO_BUF(uri, 4 * LT_PROC_PATH_MAX_BYTES);
  db_open_put_uri(&uri, path, db_open_has_log(path) ? "?mode=ro" : "?immutable=1");
  LT_TRY(lt_buf_check(&uri, err, "no memory for the database's path"));
  LT_TRY(lt_sqlite_open(err));
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
  int rc = lt_sqlite.open_v2(uri.p, &sql, flags, NULL);
  lt_status status = LT_OK;
  if (rc != SQLITE_OK) {
    status = lt_query_fail_at(path, rc, sql != NULL ? lt_sqlite.system_errno(sql) : 0, "", err);
  } else {
    db_open_configure(sql);
    status = db_open_check_read_only(sql, err);
  }
  if (status != LT_OK) {
    lt_db_close_file(sql);
    return status;
  }
  *ret_sql = sql;
  return LT_OK;
}

void lt_db_close_file(struct sqlite3 *sql) {
  sqlite3_stmt *stmt;
  lt_connection_cache_close(sql);
  while ((stmt = lt_sqlite.next_stmt(sql, NULL)) != NULL) {
    lt_sqlite.finalize(stmt);
  }
  lt_sqlite.close(sql);
}
