/* What a reader has got of a prompt's outputs. */
#include <stdio.h>

#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_prompts.h"

/* --- Noting it ---------------------------------------------------------------------------------------------------- */
typedef struct prompt_shown_job {
  lt_db_post post;
  uint64_t change;
  char id[LT_STORE_ID_BYTES + 1];
} prompt_shown_job;

static lt_status prompt_shown_update(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_shown_job *job = arg;
  lt_query query = lt_query_prepare(sql,
                                    "INSERT INTO prompt_shown(prompt, change) SELECT number, ? FROM prompts"
                                    " WHERE id = ? ON CONFLICT DO UPDATE SET change = max(change, excluded.change)");
  lt_query_int(&query, (int64_t)job->change);
  lt_query_text(&query, lt_str_of(job->id));
  return lt_query_run(&query, err);
}

static void prompt_shown_end(void *arg, lt_status status, const lt_err *err) {
  (void)status;
  (void)err; /* the output is shown again */
  lt_mem_free(arg);
}

lt_status lt_store_prompt_set_shown(lt_store *db, lt_str id, uint64_t change, lt_err *err) {
  prompt_shown_job *job = lt_mem_zalloc(1, sizeof *job);
  if (job == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to note what was shown");
  }
  job->change = change;
  snprintf(job->id, sizeof job->id, "%.*s", LT_STR_ARG(id));
  lt_status status = lt_db_post_job(db, &job->post, LT_DB_LAZY, prompt_shown_update, job, prompt_shown_end, err);
  if (status != LT_OK) {
    lt_mem_free(job);
  }
  return status;
}

lt_status lt_store_prompt_keep_shown(lt_store *db, lt_str id, uint64_t change, lt_err *err) {
  prompt_shown_job job = {.change = change};
  snprintf(job.id, sizeof job.id, "%.*s", LT_STR_ARG(id));
  return lt_db_run(db, LT_DB_LAZY, prompt_shown_update, &job, err);
}

/* --- Reading it --------------------------------------------------------------------------------------------------- */
static lt_status prompt_shown_put_last(struct sqlite3 *sql, lt_str id, lt_json_writer *w, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql, "SELECT max(change) FROM prompt_outputs WHERE prompt = (SELECT number FROM prompts WHERE id = ?)");
  lt_query_text(&query, id);
  lt_json_key(w, "last");
  lt_json_put_int(w, lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0);
  return lt_query_end(&query, err);
}

static lt_status prompt_shown_put_outputs(struct sqlite3 *sql, lt_str id, lt_json_writer *w, lt_err *err) {
  lt_query query =
      lt_query_prepare(sql,
                       "SELECT o.number, o.change FROM prompts p JOIN prompt_outputs o ON o.prompt = p.number"
                       " LEFT JOIN prompt_shown s ON s.prompt = p.number"
                       " WHERE p.id = ? AND o.change > ifnull(s.change, 0) ORDER BY o.change");
  lt_query_text(&query, id);
  lt_json_key(w, "outputs");
  lt_json_begin_array(w);
  while (lt_query_row(&query)) {
    lt_json_begin_object(w);
    lt_json_key(w, "number");
    lt_json_put_int(w, lt_query_get_int(&query, 0));
    lt_json_key(w, "change");
    lt_json_put_int(w, lt_query_get_int(&query, 1));
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
  return lt_query_end(&query, err);
}

static lt_status prompt_shown_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_object(&w);
  LT_TRY(prompt_shown_put_last(sql, job->id, &w, err));
  LT_TRY(prompt_shown_put_outputs(sql, job->id, &w, err));
  lt_json_end_object(&w);
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_prompt_unshown(lt_store *db, lt_str id, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = id, .out = out};
  return lt_db_job_read(db, prompt_shown_select, &job, err);
}
