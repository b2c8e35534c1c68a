/* Summaries of conversations: a column of theirs, which goes with them. */

#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_summaries.h"
#include "store/sqlite/sqlite_open.h"

typedef struct summary_put_job {
  lt_str user, conversation, json;
} summary_put_job;

static lt_status summary_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  /* Prompts are taken back from the last one on: if any covered one was, so was the last of them. Looked at here, not
   * when a prompt is taken back, as a summary may be in the making meanwhile. */
  lt_query query = lt_query_prepare(sql,
                                    "SELECT iif(EXISTS (SELECT 1 FROM prompts WHERE undone_at IS NOT NULL AND"
                                    " id = json_extract(summary, '$.upTo')), NULL, summary)"
                                    " FROM conversations WHERE id = ? AND user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  bool is_found = lt_query_row(&query);
  lt_buf_add(job->out, is_found ? lt_query_get(&query, 0) : LT_STR(""));
  LT_TRY(lt_query_end(&query, err));
  return is_found ? lt_db_job_check_out(job->out, err) : lt_fail(err, LT_E_NOTFOUND, "there is no such conversation");
}

static lt_status summary_update(struct sqlite3 *sql, void *arg, lt_err *err) {
  const summary_put_job *job = arg;
  lt_query query = lt_query_prepare(sql, "UPDATE conversations SET summary = ? WHERE id = ? AND user = ?");
  lt_query_text(&query, job->json);
  lt_query_text(&query, job->conversation);
  lt_query_text(&query, job->user);
  LT_TRY(lt_query_run(&query, err));
  return lt_sqlite.changes(sql) > 0 ? LT_OK : lt_fail(err, LT_E_NOTFOUND, "there is no such conversation");
}

lt_status lt_store_summary_get(lt_store *db, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = conversation, .out = out};
  return lt_db_job_read(db, summary_select, &job, err);
}

lt_status lt_store_summary_put(lt_store *db, lt_str user, lt_str conversation, lt_str json, lt_err *err) {
  summary_put_job job = {.user = user, .conversation = conversation, .json = json};
  lt_str *texts[] = {&job.user, &job.conversation, &job.json};
  return lt_db_job_run(db, LT_DB_LAZY, summary_update, &job, texts, sizeof texts / sizeof texts[0], err);
}
