/* SQLite writes each page of a commit with two system calls. Two dozen of them were a seventh of an agent's round with
 * an effect, and turning `PRAGMA synchronous` for each group, which is parsed anew each time, another twentieth. */
#include "store/sqlite/log_file.h"

#include <pthread.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/sqlite_open.h"

/* sqlite.org/fileformat2.html#walformat: a header, then frames of a header and a page. The second number of a frame's
 * header is 0, but in the last frame of a transaction. */
enum { LOG_HEADER_BYTES = 32, FRAME_HEADER_BYTES = 24, FRAME_COMMIT_AT = 4 };

/* SQLite's own file lies behind it, in the same memory. */
struct lt_log_file {
  sqlite3_file base; /* first */
  bool is_committing;
  bool is_lazy;        /* while it commits */
  bool is_last_frame;  /* the header of a transaction's last frame is written, its page follows */
  bool ends_in_commit; /* and the page, too: what is synced next is this commit */
  bool may_gather;
  sqlite3_int64 at; /* of the gathered bytes */
  size_t n;
  char *bytes; /* LT_DB_LOG_GATHER_BYTES; NULL: not needed yet, or no memory */
};

static sqlite3_file *log_file_real(lt_log_file *log) {
  return (sqlite3_file *)(log + 1);
}

/* Only while SQLite commits, under its lock: bytes that stay behind would be written over those of another process. */
static int log_file_flush(lt_log_file *log) {
  size_t n = log->n;
  log->n = 0;
  return n == 0 ? SQLITE_OK : log_file_real(log)->pMethods->xWrite(log_file_real(log), log->bytes, (int)n, log->at);
}

static bool log_file_gathers(lt_log_file *log, size_t n) {
  if (!log->is_committing || !log->may_gather || n > LT_DB_LOG_GATHER_BYTES) {
    return false;
  }
  log->bytes = log->bytes != NULL ? log->bytes : lt_mem_alloc(LT_DB_LOG_GATHER_BYTES);
  return log->bytes != NULL;
}

static int log_file_put(lt_log_file *log, const void *p, size_t n, sqlite3_int64 at) {
  bool gathers = log_file_gathers(log, n);
  if (!gathers || at != log->at + (sqlite3_int64)log->n || log->n + n > LT_DB_LOG_GATHER_BYTES) {
    int rc = log_file_flush(log);
    if (rc != SQLITE_OK || !gathers) {
      return rc != SQLITE_OK ? rc : log_file_real(log)->pMethods->xWrite(log_file_real(log), p, (int)n, at);
    }
    log->at = at;
  }
  memcpy(log->bytes + log->n, p, n);
  log->n += n;
  return SQLITE_OK;
}

static bool log_file_is_last_frame(const void *p, int n, sqlite3_int64 at) {
  static const char none[4] = {0};
  return n == FRAME_HEADER_BYTES && at >= LOG_HEADER_BYTES &&
         memcmp((const char *)p + FRAME_COMMIT_AT, none, sizeof none) != 0;
}

static int log_file_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at) {
  lt_log_file *log = (lt_log_file *)file;
  log->ends_in_commit = log->is_last_frame;
  log->is_last_frame = log_file_is_last_frame(p, n, at);
  int rc = log_file_put(log, p, (size_t)n, at);
  return rc == SQLITE_OK && log->ends_in_commit ? log_file_flush(log) : rc;
}

/* With `synchronous` FULL, SQLite syncs the log once after each commit. It syncs it at other times, too: before its
 * pages go into the database, and after its header. */
static int log_file_sync(sqlite3_file *file, int flags) {
  lt_log_file *log = (lt_log_file *)file;
  bool may_skip = log->is_lazy && log->ends_in_commit;
  log->ends_in_commit = false;
  int rc = log_file_flush(log);
  return rc != SQLITE_OK || may_skip ? rc : log_file_real(log)->pMethods->xSync(log_file_real(log), flags);
}

static int log_file_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at) {
  lt_log_file *log = (lt_log_file *)file;
  int rc = log_file_flush(log);
  return rc != SQLITE_OK ? rc : log_file_real(log)->pMethods->xRead(log_file_real(log), p, n, at);
}

static int log_file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  lt_log_file *log = (lt_log_file *)file;
  int rc = log_file_flush(log);
  return rc != SQLITE_OK ? rc : log_file_real(log)->pMethods->xTruncate(log_file_real(log), size);
}

static int log_file_size(sqlite3_file *file, sqlite3_int64 *ret_size) {
  lt_log_file *log = (lt_log_file *)file;
  int rc = log_file_flush(log);
  return rc != SQLITE_OK ? rc : log_file_real(log)->pMethods->xFileSize(log_file_real(log), ret_size);
}

static int log_file_close(sqlite3_file *file) {
  lt_log_file *log = (lt_log_file *)file;
  lt_mem_free(log->bytes);
  return log_file_real(log)->pMethods->xClose(log_file_real(log));
}

static int log_file_lock(sqlite3_file *file, int level) {
  sqlite3_file *real = log_file_real((lt_log_file *)file);
  return real->pMethods->xLock(real, level);
}

static int log_file_unlock(sqlite3_file *file, int level) {
  sqlite3_file *real = log_file_real((lt_log_file *)file);
  return real->pMethods->xUnlock(real, level);
}

static int log_file_check_lock(sqlite3_file *file, int *ret_reserved) {
  sqlite3_file *real = log_file_real((lt_log_file *)file);
  return real->pMethods->xCheckReservedLock(real, ret_reserved);
}

static int log_file_control(sqlite3_file *file, int op, void *arg) {
  sqlite3_file *real = log_file_real((lt_log_file *)file);
  return real->pMethods->xFileControl(real, op, arg);
}

static int log_file_sector_size(sqlite3_file *file) {
  sqlite3_file *real = log_file_real((lt_log_file *)file);
  return real->pMethods->xSectorSize(real);
}

static int log_file_characteristics(sqlite3_file *file) {
  sqlite3_file *real = log_file_real((lt_log_file *)file);
  return real->pMethods->xDeviceCharacteristics(real);
}

static const sqlite3_io_methods log_file_methods = {
    .iVersion = 1,
    .xClose = log_file_close,
    .xRead = log_file_read,
    .xWrite = log_file_write,
    .xTruncate = log_file_truncate,
    .xSync = log_file_sync,
    .xFileSize = log_file_size,
    .xLock = log_file_lock,
    .xUnlock = log_file_unlock,
    .xCheckReservedLock = log_file_check_lock,
    .xFileControl = log_file_control,
    .xSectorSize = log_file_sector_size,
    .xDeviceCharacteristics = log_file_characteristics,
};

/* --- The file system ---------------------------------------------------------------------------------------------- */
static sqlite3_vfs log_system;
static sqlite3_vfs *log_system_real;

static int log_file_open(lt_log_file *log, const char *name, int flags, int *ret_flags) {
  sqlite3_file *real = log_file_real(log);
  *log = (lt_log_file){.n = 0};
  real->pMethods = NULL;
  int rc = log_system_real->xOpen(log_system_real, name, real, flags, ret_flags);
  if (rc != SQLITE_OK) {
    return rc;
  }
  /* Where a write may harm its neighbours, SQLite writes the last page more than once, and in parts. */
  log->may_gather = (real->pMethods->xDeviceCharacteristics(real) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
  log->base.pMethods = &log_file_methods;
  return SQLITE_OK;
}

static int log_system_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags) {
  (void)vfs;
  return (flags & SQLITE_OPEN_WAL) != 0 ? log_file_open((lt_log_file *)file, name, flags, ret_flags)
                                        : log_system_real->xOpen(log_system_real, name, file, flags, ret_flags);
}

const char *lt_log_file_system(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool is_registered;
  pthread_mutex_lock(&lock);
  sqlite3_vfs *real = is_registered ? log_system_real : lt_sqlite.vfs_find(NULL);
  if (!is_registered && real != NULL) {
    log_system_real = real;
    log_system = *real;
    log_system.zName = "lathe";
    log_system.szOsFile += (int)sizeof(lt_log_file);
    log_system.xOpen = log_system_open;
    is_registered = lt_sqlite.vfs_register(&log_system, 0) == SQLITE_OK;
  }
  bool is_there = is_registered;
  pthread_mutex_unlock(&lock);
  return is_there ? log_system.zName : NULL;
}

/* --- Commits ------------------------------------------------------------------------------------------------------ */
lt_log_file *lt_log_file_begin_commit(sqlite3 *sql, bool is_lazy) {
  sqlite3_file *file = NULL;
  int rc = lt_sqlite.file_control(sql, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (rc != SQLITE_OK || file == NULL || file->pMethods != &log_file_methods) {
    return NULL;
  }
  lt_log_file *log = (lt_log_file *)file;
  log->is_committing = true;
  log->is_lazy = is_lazy && log->may_gather;
  return log;
}

/* After a commit that failed, bytes may be left. They belong to nothing: the log ends before them. */
void lt_log_file_end_commit(lt_log_file *log) {
  if (log != NULL) {
    log->n = 0;
    log->is_committing = log->is_lazy = log->is_last_frame = log->ends_in_commit = false;
  }
}
