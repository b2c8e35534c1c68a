/* A plugin's state: a JSON text per plugin, user and conversation. */
#include <sqlite3.h>

#include "base/mem.h"
#include "store/parts.h"
#include "store/sql.h"
#include "store/store.h"

typedef struct state_job {
  lt_str plugin, user, conversation;
  lt_str json; /* put only */
  lt_buf *out; /* get only */
  size_t start;
  char changed_at[LT_CLOCK_STAMP_BYTES];
} state_job;

static void bind_key(lt_query *query, const state_job *job) {
  lt_query_text(query, job->plugin);
  lt_query_text(query, job->user);
  lt_query_text(query, job->conversation);
}

static lt_status select_state(struct sqlite3 *sql, void *arg, lt_err *err) {
  const state_job *job = arg;
  lt_parts_rewind(job->out, job->start);
  lt_query query = lt_query_on(sql, "SELECT json FROM plugin_state WHERE plugin = ? AND user = ? AND conversation = ?");
  bind_key(&query, job);
  if (lt_query_row(&query)) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
  }
  LT_TRY(lt_query_end(&query, err));
  return lt_parts_check_out(job->out, err);
}

static lt_status replace_state(struct sqlite3 *sql, void *arg, lt_err *err) {
  const state_job *job = arg;
  lt_query query = lt_query_on(sql,
                               "INSERT OR REPLACE INTO plugin_state(plugin, user, conversation, json, changed_at) "
                               "VALUES(?, ?, ?, ?, ?)");
  bind_key(&query, job);
  lt_query_text(&query, job->json);
  lt_query_text(&query, lt_str_of(job->changed_at));
  return lt_query_run(&query, err);
}

static lt_status delete_state(struct sqlite3 *sql, void *arg, lt_err *err) {
  lt_query query = lt_query_on(sql, "DELETE FROM plugin_state WHERE plugin = ? AND user = ? AND conversation = ?");
  bind_key(&query, arg);
  return lt_query_run(&query, err);
}

static lt_status run_state(lt_db *db, lt_db_sync sync, lt_db_work work, state_job *job, lt_err *err) LT_YIELDS {
  lt_str *texts[] = {&job->plugin, &job->user, &job->conversation, &job->json};
  char *copy = NULL;
  LT_TRY(lt_parts_copy(texts, sizeof texts / sizeof texts[0], &copy, err));
  lt_clock_stamp(job->changed_at);
  lt_status status = lt_db_run(db, sync, work, job, err);
  lt_mem_free(copy);
  return status;
}

lt_status lt_store_state_get(lt_db *db, lt_str plugin, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) {
  state_job job = {.plugin = plugin, .user = user, .conversation = conversation, .out = out, .start = out->n};
  LT_TRY(lt_parts_check_out(out, err));
  lt_status status = run_state(db, LT_DB_READ, select_state, &job, err);
  if (status != LT_OK) {
    lt_parts_rewind(out, job.start);
  }
  return status;
}

lt_status lt_store_state_put(lt_db *db, lt_str plugin, lt_str user, lt_str conversation, lt_str json, lt_err *err) {
  if (json.n > LT_STATE_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "a plugin's state has %lu KiB at most, this one %zu: keep large things in tables",
                   LT_STATE_MAX_BYTES / LT_KIB, json.n / LT_KIB);
  }
  state_job job = {.plugin = plugin, .user = user, .conversation = conversation, .json = json};
  return run_state(db, LT_DB_LAZY, json.n > 0 ? replace_state : delete_state, &job, err);
}
