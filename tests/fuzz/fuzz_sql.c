/* A plugin's SQL of any bytes: whatever it says, everybody else's tables and records are as they were. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "store/sqlite/sql_guard.h"
#include "store/sqlite/db_open.h"
#include "store/sqlite/query.h"

enum { STATEMENT_MS = 50, ROWS_MAX = 1000 };

static const char setup[] =
    "INSERT INTO calls(run, user, tool, repeatable, started_at, input) VALUES('r', 'u', 't', 1, 's', 'secret');"
    "INSERT INTO artifacts(id, user, type, description, mime_type, bytes, created_at, data)"
    "  VALUES('i', 'u', 't', 'd', 'm', 1, 'c', x'00');"
    "INSERT INTO plugin_state VALUES('other', 'u', '', 'c', '{}');"
    "CREATE TABLE other__t(x INTEGER PRIMARY KEY AUTOINCREMENT, y TEXT); INSERT INTO other__t(y) VALUES('secret');"
    "CREATE TABLE todo__t(x, y); INSERT INTO todo__t VALUES(1, 'a');"
    "CREATE INDEX todo__i ON todo__t(x); CREATE VIEW todo__v AS SELECT * FROM todo__t;";

/* All that is not the plugin's. */
static const char others[] =
    "SELECT (SELECT group_concat(type || name || tbl_name || ifnull(sql, ''), char(10)) FROM (SELECT * FROM "
    "sqlite_schema WHERE tbl_name NOT LIKE 'todo\\_\\_%' ESCAPE '\\' AND name <> 'sqlite_sequence' ORDER BY name)) ||"
    "(SELECT group_concat(id || run || user || tool || input || ifnull(status, '')) FROM calls) ||"
    "(SELECT group_concat(number || id || user || data) FROM artifacts) ||"
    "(SELECT group_concat(plugin || user || json) FROM plugin_state) ||"
    "(SELECT group_concat(x || y) FROM other__t) ||"
    "(SELECT count(*) FROM plugin_migrations) || (SELECT count(*) FROM sqlite_temp_schema) ||"
    "(SELECT user_version FROM pragma_user_version) || (SELECT count(*) FROM pragma_database_list)";

static struct sqlite3 *sql;
static uint64_t before;

static uint64_t hash_others(void) {
  lt_query query = lt_query_prepare(sql, others);
  LT_CHECK(lt_query_row(&query));
  uint64_t hash = lt_str_hash(lt_query_get(&query, 0));
  LT_CHECK(lt_query_end(&query, NULL) == LT_OK);
  return hash;
}

static void open_once(void) {
  if (sql == NULL) {
    LT_CHECK(lt_db_open_file(":memory:", false, &sql, NULL) == LT_OK);
    LT_CHECK(lt_query_exec(sql, setup, NULL) == LT_OK);
    before = hash_others();
  }
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* As plugin_migrate.c does. */
static lt_status run_script(lt_sql_guard *guard, lt_str script) {
  while (script.n > 0) {
    struct sqlite3_stmt *stmt = NULL;
    LT_TRY(lt_sql_guard_begin(guard, script, &stmt, &script, NULL));
    guard->deadline_ms = now_ms() + STATEMENT_MS;
    lt_status status = LT_OK;
    bool row = stmt != NULL;
    for (int n = 0; row && status == LT_OK && n < ROWS_MAX; n++) {
      status = lt_sql_guard_step(guard, stmt, &row, NULL);
    }
    lt_status ended = lt_sql_guard_end(guard, stmt, NULL);
    LT_TRY(status != LT_OK ? status : ended);
  }
  return LT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  open_once();
  LT_CHECK(lt_query_exec(sql, "BEGIN; SAVEPOINT job", NULL) == LT_OK);
  lt_sql_guard guard;
  LT_CHECK(lt_sql_guard_enter(&guard, sql, LT_STR("todo"), NULL) == LT_OK);
  lt_status status = run_script(&guard, lt_str_from(data, size));
  lt_sql_guard_leave(&guard);
  if (sqlite3_get_autocommit(sql) != 0) { /* SQLite has undone all of it: only after a failure */
    LT_CHECK(status != LT_OK);
  } else if (status == LT_OK) {
    LT_CHECK(hash_others() == before);
    LT_CHECK(lt_query_exec(sql, "ROLLBACK TO job; RELEASE job; COMMIT", NULL) == LT_OK);
  } else {
    LT_CHECK(lt_query_exec(sql, "ROLLBACK TO job", NULL) == LT_OK);
    LT_CHECK(hash_others() == before);
    LT_CHECK(lt_query_exec(sql, "RELEASE job; COMMIT", NULL) == LT_OK);
  }
  LT_CHECK(hash_others() == before);
  return 0;
}
