/* The statements of plugins, restricted to their own tables and a bounded time. */
#include "store/sqlite/sql_guard.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

enum {
  POLL_INSTRUCTIONS = 1000
}; /* instructions of SQLite's virtual machine between two checks of the clock: about 20 us */

/* --- Owner of a table --------------------------------------------------------------------------------------------- */

/* Such ids keep the prefixes apart: with "-" only between other characters, the first "__" of a name ends its
 * prefix. */
static lt_status sql_guard_make_prefix(lt_sql_guard *guard, lt_str id, lt_err *err) {
  bool good = id.n > 0 && id.n <= LT_SQL_ID_MAX_BYTES;
  char before = '-';
  for (size_t i = 0; good && i < id.n; i++) {
    char c = id.p[i];
    good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && before != '-');
    guard->prefix[i] = c == '-' ? '_' : c;
    before = c;
  }
  if (!good || before == '-') {
    return lt_fail(
        err, LT_E_INVALID,
        "a plugin with the id \"%.*s\" cannot have tables: for that an id is made of a-z and 0-9 with single "
        "\"-\" between them, %d characters at most",
        LT_STR_ARG(lt_str_sub(id, 0, LT_SQL_ID_MAX_BYTES)), LT_SQL_ID_MAX_BYTES);
  }
  memcpy(guard->prefix + id.n, "__", 3);
  guard->prefix_bytes = id.n + 2;
  return LT_OK;
}

static bool sql_guard_is_own(const lt_sql_guard *guard, const char *name) {
  return name != NULL && lt_sqlite.strnicmp(name, guard->prefix, (int)guard->prefix_bytes) == 0;
}

/* SQLite's own tables, which statements on other tables write to. */
static bool sql_guard_is_schema(const char *name) {
  return strcmp(name, "sqlite_master") == 0 || strcmp(name, "sqlite_temp_master") == 0;
}

static bool sql_guard_is_statistics(const char *name) {
  return strcmp(name, "sqlite_sequence") == 0 || strncmp(name, "sqlite_stat", 11) == 0;
}

/* --- The authorizer (sqlite.org/c3ref/set_authorizer.html) -------------------------------------------------------- */

static int sql_guard_refuse(lt_sql_guard *guard, const char *what, const char *name) {
  if (guard->refused[0] == '\0') {
    snprintf(guard->refused, sizeof guard->refused, "%s%s%s", what, name != NULL ? " " : "", name != NULL ? name : "");
  }
  return SQLITE_DENY;
}

/* ALTER and DROP look up SQLite's tables. CREATE TABLE looks up row numbers only, and those tell nothing; so its AS
 * SELECT cannot copy these tables. The first use of json_each looks up row numbers, too. */
static bool sql_guard_may_look_up(const lt_sql_guard *guard, const char *column) {
  return lt_sqlite.stricmp(column, "ROWID") == 0 || (guard->change != 0 && guard->change != SQLITE_CREATE_TABLE);
}

static bool sql_guard_is_cte(const lt_sql_guard *guard, const char *name) {
  for (size_t i = 0; i < guard->cte_count; i++) {
    if (lt_sqlite.stricmp(guard->ctes[i], name) == 0) {
      return true;
    }
  }
  return false;
}

/* A table of which only the rows are counted comes without a column. So does a common table expression, whose name
 * can be anything. */
static int sql_guard_decide_read(lt_sql_guard *guard, const char *table, const char *column) {
  static const char *const functions[] = {"json_each", "json_tree"};
  bool allowed = sql_guard_is_own(guard, table) || strcmp(table, functions[0]) == 0 || strcmp(table, functions[1]) == 0;
  allowed |= sql_guard_is_schema(table) && sql_guard_may_look_up(guard, column);
  allowed |=
      sql_guard_is_statistics(table) && (guard->change == SQLITE_DROP_TABLE || guard->change == SQLITE_ALTER_TABLE);
  allowed |= guard->change == SQLITE_ALTER_TABLE && strcmp(table, "pragma_quick_check") == 0;
  if (allowed || (column[0] == '\0' && sql_guard_is_cte(guard, table))) {
    return SQLITE_OK;
  }
  if (column[0] == '\0' && guard->unknown[0] == '\0' && strlen(table) < sizeof guard->unknown) {
    memcpy(guard->unknown, table, strlen(table) + 1);
  }
  return sql_guard_refuse(guard, "the table", table);
}

/* Every CREATE writes the schema's table. SQLite itself refuses a statement that names it. */
static int sql_guard_decide_write(lt_sql_guard *guard, const char *table) {
  bool by_change = guard->change == SQLITE_DROP_TABLE || guard->change == SQLITE_ALTER_TABLE;
  if (sql_guard_is_own(guard, table) || sql_guard_is_schema(table) || (by_change && sql_guard_is_statistics(table))) {
    return SQLITE_OK;
  }
  return sql_guard_refuse(guard, "the table", table);
}

static int sql_guard_decide_change(lt_sql_guard *guard, int action, const char *name, const char *table) {
  bool automatic = name != NULL && strncmp(name, "sqlite_autoindex_", 17) == 0 && action == SQLITE_CREATE_INDEX;
  if (guard->change != 0 && name != NULL && strcmp(name, "sqlite_sequence") == 0) { /* for AUTOINCREMENT */
    return SQLITE_OK;
  }
  if ((!automatic && !sql_guard_is_own(guard, name)) || (table != NULL && !sql_guard_is_own(guard, table))) {
    return sql_guard_refuse(guard, "changing",
                            automatic || (sql_guard_is_own(guard, name) && table != NULL) ? table : name);
  }
  if (guard->change == 0) {
    guard->change = action;
  }
  return SQLITE_OK;
}

static int sql_guard_decide_function(lt_sql_guard *guard, const char *name) {
  static const char *const refused[] = {"load_extension", "fts3_tokenizer", "sqlite_log"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (lt_sqlite.stricmp(name, refused[i]) == 0) {
      return sql_guard_refuse(guard, "the function", name);
    }
  }
  return SQLITE_OK;
}

/* All other actions are refused: ATTACH, DETACH, PRAGMA, BEGIN, COMMIT, SAVEPOINT, ANALYZE, REINDEX, virtual and
 * temporary tables. */
static int sql_guard_decide(void *arg, int action, const char *a, const char *b, const char *database,
                            const char *inside) {
  (void)inside;
  lt_sql_guard *guard = arg;
  if (guard->off) {
    return SQLITE_OK;
  }
  const char *where = action == SQLITE_ALTER_TABLE ? a : database; /* as the one and only */
  if (where != NULL && strcmp(where, "main") != 0 &&
      !(guard->change == SQLITE_ALTER_TABLE && a != NULL && sql_guard_is_schema(a))) {
    return sql_guard_refuse(guard, "temporary or attached:", a);
  }
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return sql_guard_decide_function(guard, b);
    case SQLITE_READ:
      return sql_guard_decide_read(guard, a, b);
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
      return sql_guard_decide_write(guard, a);
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_DROP_TABLE:
    case SQLITE_DROP_VIEW:
      return sql_guard_decide_change(guard, action, a, NULL);
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_DROP_INDEX:
    case SQLITE_DROP_TRIGGER:
      return sql_guard_decide_change(guard, action, a, b);
    case SQLITE_ALTER_TABLE:
      return sql_guard_decide_change(guard, action, b, NULL);
    case SQLITE_REINDEX: /* CREATE INDEX fills it that way */
      return guard->change == SQLITE_CREATE_INDEX ? SQLITE_OK : sql_guard_refuse(guard, "REINDEX", NULL);
    case SQLITE_PRAGMA: /* ALTER TABLE ... ADD checks what is there already */
      return guard->change == SQLITE_ALTER_TABLE && strcmp(a, "quick_check") == 0
                 ? SQLITE_OK
                 : sql_guard_refuse(guard, "PRAGMA", a);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return sql_guard_refuse(guard, "transactions: each statement is one, and so is each script", NULL);
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      return sql_guard_refuse(guard, "other files", NULL);
    default:
      return sql_guard_refuse(guard, "this kind of statement", NULL);
  }
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

static int sql_guard_is_late(void *arg) {
  const lt_sql_guard *guard = arg;
  return lt_clock_monotonic_ms() >= guard->deadline_ms;
}

lt_status lt_sql_guard_enter(lt_sql_guard *guard, struct sqlite3 *sql, lt_str plugin, lt_err *err) {
  *guard = (lt_sql_guard){.sql = sql};
  LT_TRY(sql_guard_make_prefix(guard, plugin, err));
  lt_sqlite.set_authorizer(sql, sql_guard_decide, guard);
  guard->length_limit = lt_sqlite.limit(sql, SQLITE_LIMIT_LENGTH, (int)LT_SQL_PARAMS_MAX_BYTES);
  guard->deadline_ms = UINT64_MAX;
  lt_sqlite.progress_handler(sql, POLL_INSTRUCTIONS, sql_guard_is_late, guard);
  return LT_OK;
}

void lt_sql_guard_leave(lt_sql_guard *guard) {
  lt_sqlite.progress_handler(guard->sql, 0, NULL, NULL);
  lt_sqlite.limit(guard->sql, SQLITE_LIMIT_LENGTH, guard->length_limit);
  lt_sqlite.set_authorizer(guard->sql, NULL, NULL);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

static lt_status sql_guard_fail(const lt_sql_guard *guard, int rc, lt_err *err) {
  const char *words = lt_sqlite.errmsg(guard->sql);
  bool refused = guard->refused[0] != '\0'; /* by the authorizer, in an inner statement perhaps */
  switch (refused && (rc & 0xff) == SQLITE_ERROR ? SQLITE_AUTH : rc & 0xff) {
    case SQLITE_AUTH:
      return lt_fail(err, LT_E_DENIED, "not allowed in a plugin's SQL: %s (its tables' names begin with \"%s\")",
                     refused ? guard->refused : words, guard->prefix);
    case SQLITE_INTERRUPT:
      return lt_fail(err, LT_E_TIMEOUT, "the statement took longer than %d ms: give it less to do", LT_SQL_RUNTIME_MS);
    case SQLITE_TOOBIG:
      return lt_fail(err, LT_E_LIMIT, "a value or a statement is too large: %lu MiB at most",
                     LT_SQL_PARAMS_MAX_BYTES / LT_MIB);
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_MISUSE:
    case SQLITE_LOCKED: /* DROP of a table that is being read */
      return lt_fail(err, LT_E_INVALID, "%s", words);
    default:
      return lt_query_fail(guard->sql, rc, err);
  }
}

/* Looks for anything with the refused name. Returns SQLite's code when the search fails. */
static int sql_guard_look_for(lt_sql_guard *guard, const char *name, bool *ret_found) {
  if (lt_sqlite.strnicmp(name, "pragma_", 7) == 0 || lt_sqlite.strnicmp(name, "sqlite_", 7) == 0) {
    *ret_found = true;
    return SQLITE_OK;
  }
  guard->off = true;
  lt_query query = lt_query_prepare(guard->sql,
                                    "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE UNION ALL "
                                    "SELECT 1 FROM pragma_module_list WHERE name = ?1 COLLATE NOCASE");
  lt_query_text(&query, lt_str_of(name));
  *ret_found = lt_query_row(&query);
  int rc = *ret_found || query.rc == SQLITE_DONE ? SQLITE_OK : query.rc;
  lt_query_end(&query, NULL);
  guard->off = false;
  return rc;
}

/* One hash of all tables, indexes, views and triggers that are not the plugin's. */
static lt_status sql_guard_hash_others(lt_sql_guard *guard, uint64_t *ret_hash, lt_err *err) {
  guard->off = true;
  lt_query query = lt_query_prepare(guard->sql,
                                    "SELECT tbl_name, type || ':' || name || ':' || ifnull(sql, '') "
                                    "FROM sqlite_schema ORDER BY type, name");
  uint64_t hash = 0;
  while (lt_query_row(&query)) {
    lt_str table = lt_query_get(&query, 0);
    bool own =
        table.n >= guard->prefix_bytes && lt_sqlite.strnicmp(table.p, guard->prefix, (int)guard->prefix_bytes) == 0;
    if (!own && !lt_str_eq(table, LT_STR("sqlite_sequence"))) {
      hash = hash * 1099511628211u + lt_str_hash(lt_query_get(&query, 1)); /* FNV's prime: order counts */
    }
  }
  lt_status status = lt_query_end(&query, err);
  guard->off = false;
  if (status == LT_OK) {
    *ret_hash = hash;
  }
  return status;
}

/* A refused name that no table has counts as a common table expression; then the statement is prepared again. */
static int sql_guard_learn_cte(lt_sql_guard *guard) {
  bool found = true;
  if (guard->unknown[0] == '\0' || guard->cte_count == LT_SQL_CTES_MAX) {
    return SQLITE_AUTH;
  }
  int rc = sql_guard_look_for(guard, guard->unknown, &found);
  if (rc == SQLITE_OK && !found) {
    memcpy(guard->ctes[guard->cte_count++], guard->unknown, sizeof guard->unknown);
  }
  return rc == SQLITE_OK && found ? SQLITE_AUTH : rc;
}

static int sql_guard_prepare(lt_sql_guard *guard, lt_str text, sqlite3_stmt **ret_stmt, const char **ret_tail) {
  int rc;
  guard->cte_count = 0;
  for (;;) {
    guard->change = 0;
    guard->refused[0] = guard->unknown[0] = '\0';
    rc = lt_sqlite.prepare_v3(guard->sql, text.p, (int)text.n, 0, ret_stmt, ret_tail);
    if (rc != SQLITE_AUTH) {
      return rc;
    }
    rc = sql_guard_learn_cte(guard);
    if (rc != SQLITE_OK) {
      return rc;
    }
  }
}

lt_status lt_sql_guard_begin(lt_sql_guard *guard, lt_str text, struct sqlite3_stmt **ret_stmt, lt_str *ret_rest,
                             lt_err *err) {
  if (text.n > LT_SQL_TEXT_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "SQL of more than %lu MiB: give values as parameters",
                   LT_SQL_TEXT_MAX_BYTES / LT_MIB);
  }
  if (text.n > 0 && memchr(text.p, '\0', text.n) != NULL) { /* SQLite would take it for the end */
    return lt_fail(err, LT_E_INVALID, "SQL with a NUL character in it: give values as parameters");
  }
  sqlite3_stmt *stmt = NULL;
  const char *tail = NULL;
  guard->deadline_ms = lt_clock_monotonic_ms() + LT_SQL_RUNTIME_MS;
  int rc = sql_guard_prepare(guard, text, &stmt, &tail);
  if (rc != SQLITE_OK) {
    return sql_guard_fail(guard, rc, err);
  }
  if (guard->change != 0) {
    lt_status status = sql_guard_hash_others(guard, &guard->others, err);
    if (status != LT_OK) {
      lt_sqlite.finalize(stmt);
      return status;
    }
  }
  *ret_stmt = stmt;
  *ret_rest = lt_str_sub(text, (size_t)(tail - text.p), text.n);
  return LT_OK;
}

lt_status lt_sql_guard_step(lt_sql_guard *guard, struct sqlite3_stmt *stmt, bool *ret_row, lt_err *err) {
  int rc = lt_sqlite.step(stmt);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
    return sql_guard_fail(guard, rc, err);
  }
  *ret_row = rc == SQLITE_ROW;
  return LT_OK;
}

lt_status lt_sql_guard_end(lt_sql_guard *guard, struct sqlite3_stmt *stmt, lt_err *err) {
  guard->deadline_ms = UINT64_MAX;
  lt_sqlite.finalize(stmt);
  if (guard->change == 0) {
    return LT_OK;
  }
  uint64_t others = 0;
  LT_TRY(sql_guard_hash_others(guard, &others, err));
  guard->change = 0;
  if (others != guard->others) {
    return lt_fail(err, LT_E_DENIED, "not allowed in a plugin's SQL: a name that does not begin with \"%s\"",
                   guard->prefix);
  }
  return LT_OK;
}
