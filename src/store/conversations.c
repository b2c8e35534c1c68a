/* Conversations: whose they are, what they are called, when they were last used. */
#include <sqlite3.h>

#include "base/mem.h"
#include "store/parts.h"
#include "store/prompts.h"
#include "store/sql.h"

typedef struct title_job {
  lt_str user;
  lt_str id;
  lt_str title;
} title_job;

#define SELECT_ROWS                                               \
  "SELECT id, title IS NOT NULL, title, created_at, updated_at, " \
  "(SELECT count(*) FROM prompts WHERE conversation = c.number) FROM conversations c "

static void put_row(lt_json_writer *w, const lt_query *query) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, lt_query_get(query, 0));
  lt_json_key(w, "title");
  if (lt_query_get_int(query, 1) != 0) {
    lt_json_put_str(w, lt_query_get(query, 2));
  } else {
    lt_json_put_null(w);
  }
  lt_json_key(w, "createdAt");
  lt_json_put_str(w, lt_query_get(query, 3));
  lt_json_key(w, "updatedAt");
  lt_json_put_str(w, lt_query_get(query, 4));
  lt_json_key(w, "prompts");
  lt_json_put_int(w, lt_query_get_int(query, 5));
  lt_json_end_object(w);
}

static lt_status no_conversation(lt_str id, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "there is no conversation \"%.*s\": list them to see their ids",
                 LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

static lt_status select_one(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_read *job = arg;
  lt_parts_rewind(job->out, job->start);
  lt_query query = lt_query_on(sql, SELECT_ROWS "WHERE id = ? AND user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  lt_json_writer w = lt_json_writer_on(job->out);
  bool found = lt_query_row(&query);
  if (found) {
    put_row(&w, &query);
  }
  LT_TRY(lt_query_end(&query, err));
  return found ? lt_parts_check_out(job->out, err) : no_conversation(job->id, err);
}

static lt_status select_many(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_read *job = arg;
  lt_parts_rewind(job->out, job->start);
  lt_query query = lt_query_on(sql, SELECT_ROWS "WHERE user = ? ORDER BY updated_at DESC, number DESC LIMIT ?");
  lt_query_text(&query, job->user);
  lt_query_int(&query, job->max < INT64_MAX ? (int64_t)job->max : INT64_MAX);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    put_row(&w, &query);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_parts_check_out(job->out, err);
}

/* A title is no use of the conversation: its place in the list stays. */
static lt_status update_title(struct sqlite3 *sql, void *arg, lt_err *err) {
  const title_job *job = arg;
  lt_query query = lt_query_on(sql, "UPDATE conversations SET title = ? WHERE id = ? AND user = ?");
  lt_query_text(&query, job->title);
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  LT_TRY(lt_query_run(&query, err));
  return sqlite3_changes(sql) > 0 ? LT_OK : no_conversation(job->id, err);
}

lt_status lt_store_conversation_get(lt_db *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) {
  lt_read job = {.user = user, .id = id, .out = out};
  return lt_parts_read(db, select_one, &job, err);
}

lt_status lt_store_conversation_list(lt_db *db, lt_str user, size_t max, lt_buf *out, lt_err *err) {
  lt_read job = {.user = user, .max = max, .out = out};
  return lt_parts_read(db, select_many, &job, err);
}

lt_status lt_store_conversation_set_title(lt_db *db, lt_str user, lt_str id, lt_str title, lt_err *err) {
  title_job job = {.user = user, .id = id, .title = title};
  lt_str *texts[] = {&job.user, &job.id, &job.title};
  char *copy = NULL;
  LT_TRY(lt_parts_copy(texts, sizeof texts / sizeof texts[0], &copy, err));
  lt_status status = lt_db_run(db, LT_DB_LAZY, update_title, &job, err);
  lt_mem_free(copy);
  return status;
}
