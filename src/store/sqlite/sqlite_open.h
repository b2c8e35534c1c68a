/* Loads SQLite when a database is first opened: linking with it would make every start 0.2 ms longer, a tenth of
 * `lathe run -e 1+2`. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_SQLITE_OPEN_H
#define LT_STORE_SQLITE_SQLITE_OPEN_H

#include <sqlite3.h>

#include "base/err.h"

#define LT_SQLITE_FUNCTIONS(X) \
  X(bind_blob64)               \
  X(bind_double)               \
  X(bind_int)                  \
  X(bind_int64)                \
  X(bind_null)                 \
  X(bind_parameter_count)      \
  X(bind_text)                 \
  X(bind_text64)               \
  X(bind_value)                \
  X(busy_timeout)              \
  X(changes)                   \
  X(clear_bindings)            \
  X(close)                     \
  X(column_blob)               \
  X(column_bytes)              \
  X(column_count)              \
  X(column_double)             \
  X(column_int64)              \
  X(column_name)               \
  X(column_type)               \
  X(column_value)              \
  X(config)                    \
  X(db_config)                 \
  X(db_filename)               \
  X(db_handle)                 \
  X(db_readonly)               \
  X(errcode)                   \
  X(errmsg)                    \
  X(exec)                      \
  X(file_control)              \
  X(finalize)                  \
  X(get_autocommit)            \
  X(last_insert_rowid)         \
  X(limit)                     \
  X(next_stmt)                 \
  X(open_v2)                   \
  X(prepare_v2)                \
  X(prepare_v3)                \
  X(progress_handler)          \
  X(reset)                     \
  X(rollback_hook)             \
  X(set_authorizer)            \
  X(sql)                       \
  X(step)                      \
  X(stmt_busy)                 \
  X(stricmp)                   \
  X(strnicmp)                  \
  X(system_errno)              \
  X(vfs_find)                  \
  X(vfs_register)

typedef struct lt_sqlite_functions {
#define LT_SQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;
  LT_SQLITE_FUNCTIONS(LT_SQLITE_MEMBER)
#undef LT_SQLITE_MEMBER
} lt_sqlite_functions;

/* Whoever has a connection may call these. */
extern lt_sqlite_functions lt_sqlite;

/* Before a connection is opened. Any thread. The library stays loaded. Errors: LT_E_UNSUPPORTED; the message names the
 * package to install. */
lt_status lt_sqlite_open(lt_err *err);

#endif
