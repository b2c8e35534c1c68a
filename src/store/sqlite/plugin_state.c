/* A plugin's state: a JSON text per plugin, user and conversation. */

#include "base/clock.h"
#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store.h"

typedef struct plugin_state_job {
  lt_str plugin, user, conversation;
  lt_str json; /* put only */
  lt_buf *out; /* get only */
  size_t start;
  char changed_at[LT_CLOCK_STAMP_BYTES];
} plugin_state_job;

static void plugin_state_bind_key(lt_query *query, const plugin_state_job *job) {
  lt_query_text(query, job->plugin);
  lt_query_text(query, job->user);
  lt_query_text(query, job->conversation);
}

static lt_status plugin_state_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const plugin_state_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query =
      lt_query_prepare(sql, "SELECT json FROM plugin_state WHERE plugin = ? AND user = ? AND conversation = ?");
  plugin_state_bind_key(&query, job);
  if (lt_query_row(&query)) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
  }
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

static lt_status plugin_state_replace(struct sqlite3 *sql, void *arg, lt_err *err) {
  const plugin_state_job *job = arg;
  lt_query query = lt_query_prepare(sql,
                                    "INSERT OR REPLACE INTO plugin_state(plugin, user, conversation, json, changed_at) "
                                    "VALUES(?, ?, ?, ?, ?)");
  plugin_state_bind_key(&query, job);
  lt_query_text(&query, job->json);
  lt_query_text(&query, lt_str_of(job->changed_at));
  return lt_query_run(&query, err);
}

static lt_status plugin_state_delete(struct sqlite3 *sql, void *arg, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "DELETE FROM plugin_state WHERE plugin = ? AND user = ? AND conversation = ?");
  plugin_state_bind_key(&query, arg);
  return lt_query_run(&query, err);
}

static lt_status plugin_state_run(lt_store *db, lt_db_sync sync, lt_db_work work, plugin_state_job *job,
                                  lt_err *err) LT_YIELDS {
  lt_str *texts[] = {&job->plugin, &job->user, &job->conversation, &job->json};
  lt_clock_stamp(job->changed_at);
  return lt_db_job_run(db, sync, work, job, texts, sizeof texts / sizeof texts[0], err);
}

lt_status lt_store_state_get(lt_store *db, lt_str plugin, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) {
  plugin_state_job job = {.plugin = plugin, .user = user, .conversation = conversation, .out = out, .start = out->n};
  LT_TRY(lt_db_job_check_out(out, err));
  lt_status status = plugin_state_run(db, LT_DB_READ, plugin_state_select, &job, err);
  if (status != LT_OK) {
    lt_db_job_rewind(out, job.start);
  }
  return status;
}

lt_status lt_store_state_put(lt_store *db, lt_str plugin, lt_str user, lt_str conversation, lt_str json, lt_err *err) {
  if (json.n > LT_STATE_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "a plugin's state has %lu KiB at most, this one %zu: keep large things in tables",
                   LT_STATE_MAX_BYTES / LT_KIB, json.n / LT_KIB);
  }
  plugin_state_job job = {.plugin = plugin, .user = user, .conversation = conversation, .json = json};
  return plugin_state_run(db, LT_DB_LAZY, json.n > 0 ? plugin_state_replace : plugin_state_delete, &job, err);
}
