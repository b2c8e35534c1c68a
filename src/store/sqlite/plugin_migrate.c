/* A plugin's scripts: each is run once, and how many have run is remembered. */
#include <inttypes.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/sql_guard.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store.h"
#include "store/sqlite/sqlite_open.h"

typedef struct plugin_migrate_job {
  lt_str plugin;
  lt_str *scripts;
  size_t count;
} plugin_migrate_job;

static lt_status plugin_migrate_read_count(struct sqlite3 *sql, lt_str plugin, int64_t *ret_count, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT count FROM plugin_migrations WHERE plugin = ?");
  lt_query_text(&query, plugin);
  int64_t count = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  LT_TRY(lt_query_end(&query, err));
  *ret_count = count;
  return LT_OK;
}

static lt_status plugin_migrate_write_count(struct sqlite3 *sql, lt_str plugin, size_t count, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "INSERT OR REPLACE INTO plugin_migrations(plugin, count) VALUES(?, ?)");
  lt_query_text(&query, plugin);
  lt_query_int(&query, (int64_t)count);
  return lt_query_run(&query, err);
}

/* Runs a statement to its end; its rows do not matter. */
static lt_status plugin_migrate_run_statement(lt_sql_guard *guard, struct sqlite3_stmt *stmt, lt_err *err) {
  lt_status status = LT_OK;
  for (bool row = true; row && status == LT_OK;) {
    status = lt_sql_guard_step(guard, stmt, &row, err);
  }
  lt_status ended = lt_sql_guard_end(guard, stmt, status == LT_OK ? err : NULL);
  return status != LT_OK ? status : ended;
}

static lt_status plugin_migrate_run_script(lt_sql_guard *guard, lt_str script, lt_err *err) {
  while (script.n > 0) {
    struct sqlite3_stmt *stmt = NULL;
    LT_TRY(lt_sql_guard_begin(guard, script, &stmt, &script, err));
    if (stmt != NULL) {
      LT_TRY(plugin_migrate_run_statement(guard, stmt, err));
    }
  }
  return LT_OK;
}

static lt_status plugin_migrate_run_scripts(struct sqlite3 *sql, const plugin_migrate_job *job, size_t from,
                                            lt_err *err) {
  lt_sql_guard guard;
  LT_TRY(lt_sql_guard_enter(&guard, sql, job->plugin, err));
  lt_status status = LT_OK;
  for (size_t i = from; i < job->count && status == LT_OK; i++) {
    status = plugin_migrate_run_script(&guard, job->scripts[i], err);
    if (status != LT_OK) {
      lt_err_prefix(err, "migration %zu of the plugin \"%.*s\"", i + 1, LT_STR_ARG(job->plugin));
    }
  }
  lt_sql_guard_leave(&guard);
  return status;
}

static lt_status plugin_migrate_run(struct sqlite3 *sql, void *arg, lt_err *err) {
  const plugin_migrate_job *job = arg;
  int64_t done = 0;
  LT_TRY(plugin_migrate_read_count(sql, job->plugin, &done, err));
  if (done < 0 || (uint64_t)done > job->count) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "the tables of the plugin \"%.*s\" were made by a newer version of it (%" PRId64
                   " migrations, this one has %zu): use that version",
                   LT_STR_ARG(job->plugin), done, job->count);
  }
  if ((size_t)done == job->count) {
    return LT_OK;
  }
  LT_TRY(plugin_migrate_run_scripts(sql, job, (size_t)done, err));
  return plugin_migrate_write_count(sql, job->plugin, job->count, err);
}

lt_status lt_store_migrate(lt_store *db, lt_str plugin, const char *const *scripts, size_t count, lt_err *err) {
  plugin_migrate_job job = {.plugin = plugin, .count = count};
  lt_str **texts = lt_mem_zalloc(count + 1, sizeof *texts);
  job.scripts = lt_mem_zalloc(count + 1, sizeof *job.scripts);
  lt_status status = LT_E_NOMEM;
  if (texts != NULL && job.scripts != NULL) {
    for (size_t i = 0; i < count; i++) {
      job.scripts[i] = lt_str_of(scripts[i]);
      texts[i] = &job.scripts[i];
    }
    texts[count] = &job.plugin;
    status = lt_db_job_run(db, LT_DB_LAZY, plugin_migrate_run, &job, texts, count + 1, err);
  } else {
    lt_fail(err, LT_E_NOMEM, "no memory for a plugin's migrations");
  }
  lt_mem_free(job.scripts);
  lt_mem_free(texts);
  return status;
}
