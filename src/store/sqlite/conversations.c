/* Conversations: their users, titles and last uses. */

#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/store_prompts.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

typedef struct conversation_title_job {
  lt_str user;
  lt_str id;
  lt_str title;
} conversation_title_job;

#define SELECT_ROWS                                                                                 \
  "SELECT id, title IS NOT NULL, title, created_at, updated_at, "                                   \
  "(SELECT count(*) FROM prompts WHERE conversation = c.number AND undone_at IS NULL), "            \
  "(SELECT substr(input, 1, 200) FROM prompts WHERE conversation = c.number AND undone_at IS NULL " \
  "ORDER BY number LIMIT 1) "                                                                       \
  "FROM conversations c "

static void conversation_put_row(lt_json_writer *w, const lt_query *query) {
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
  if (lt_query_get_int(query, 1) == 0) {
    lt_json_key(w, "firstMessage"); /* what a person may know it by */
    lt_json_put_str(w, lt_query_get(query, 6));
  }
  lt_json_key(w, "updatedAt");
  lt_json_put_str(w, lt_query_get(query, 4));
  lt_json_key(w, "prompts");
  lt_json_put_int(w, lt_query_get_int(query, 5));
  lt_json_end_object(w);
}

static lt_status conversation_fail_missing(lt_str id, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "there is no conversation \"%.*s\": list them to see their ids",
                 LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

static lt_status conversation_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, SELECT_ROWS "WHERE id = ? AND user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  lt_json_writer w = lt_json_writer_on(job->out);
  bool found = lt_query_row(&query);
  if (found) {
    conversation_put_row(&w, &query);
  }
  LT_TRY(lt_query_end(&query, err));
  return found ? lt_db_job_check_out(job->out, err) : conversation_fail_missing(job->id, err);
}

static lt_status conversation_put_rows(lt_query *query, const lt_db_read_job *job, lt_err *err) {
  lt_query_int(query, job->max < INT64_MAX ? (int64_t)job->max : INT64_MAX);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(query)) {
    conversation_put_row(&w, query);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(query, err));
  return lt_db_job_check_out(job->out, err);
}

static lt_status conversation_select_list(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, SELECT_ROWS "WHERE user = ? ORDER BY updated_at DESC, number DESC LIMIT ?");
  lt_query_text(&query, job->user);
  return conversation_put_rows(&query, job, err);
}

typedef struct conversation_page_job {
  lt_db_read_job read; /* first: id is the conversation that the page before ended with */
  lt_str used_at;
  lt_str text; /* that is looked for; empty: none */
} conversation_page_job;

/* In the title, a message or an answer, whatever the case of its ASCII letters. */
#define HAS_TEXT                                                                                    \
  "(?4 = '' OR instr(lower(c.title), lower(?4)) > 0 OR EXISTS (SELECT 1 FROM prompts p WHERE "      \
  "p.conversation = c.number AND p.undone_at IS NULL AND (instr(lower(p.input), lower(?4)) > 0 OR " \
  "EXISTS (SELECT 1 FROM prompt_outputs o WHERE o.prompt = p.number AND json_valid(o.json) AND "    \
  "json_extract(o.json, '$.type') "                                                                 \
  "= 'text' AND instr(lower(json_extract(o.json, '$.content')), lower(?4)) > 0))))"

static lt_status conversation_select_page(struct sqlite3 *sql, void *arg, lt_err *err) {
  const conversation_page_job *job = arg;
  lt_db_job_rewind(job->read.out, job->read.start);
  lt_query query = lt_query_prepare(
      sql, SELECT_ROWS
      "WHERE user = ?1 AND (updated_at < ?2 OR (updated_at = ?2 AND number < (SELECT number FROM"
      " conversations WHERE id = ?3))) AND " HAS_TEXT " ORDER BY updated_at DESC, number DESC LIMIT ?5");
  lt_query_text(&query, job->read.user);
  lt_query_text(&query, job->used_at);
  lt_query_text(&query, job->read.id);
  lt_query_text(&query, job->text);
  return conversation_put_rows(&query, &job->read, err);
}

/* A new title is no use of the conversation: its place in the list stays. */
static lt_status conversation_update_title(struct sqlite3 *sql, void *arg, lt_err *err) {
  const conversation_title_job *job = arg;
  lt_query query = lt_query_prepare(sql, "UPDATE conversations SET title = ? WHERE id = ? AND user = ?");
  lt_query_text(&query, job->title);
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  LT_TRY(lt_query_run(&query, err));
  return lt_sqlite.changes(sql) > 0 ? LT_OK : conversation_fail_missing(job->id, err);
}

lt_status lt_store_conversation_get(lt_store *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = id, .out = out};
  return lt_db_job_read(db, conversation_select, &job, err);
}

lt_status lt_store_conversation_list(lt_store *db, lt_str user, size_t max, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .max = max, .out = out};
  return lt_db_job_read(db, conversation_select_list, &job, err);
}

lt_status lt_store_conversation_page(lt_store *db, const lt_conversation_page *page, lt_buf *out, lt_err *err) {
  lt_str used_at = page->used_at;
  char last[64]; /* later than any time */
  lt_str before = used_at.n > 0 && used_at.n < sizeof last ? used_at : LT_STR("9");
  memcpy(last, before.p, before.n);
  conversation_page_job job = {.read = {.user = page->user, .id = page->id, .max = page->max, .out = out},
                               .used_at = lt_str_from(last, before.n),
                               .text = page->text.n > 0 ? page->text : LT_STR("")};
  return lt_db_job_read(db, conversation_select_page, &job.read, err);
}

lt_status lt_store_conversation_set_title(lt_store *db, lt_str user, lt_str id, lt_str title, lt_err *err) {
  conversation_title_job job = {.user = user, .id = id, .title = title};
  lt_str *texts[] = {&job.user, &job.id, &job.title};
  return lt_db_job_run(db, LT_DB_LAZY, conversation_update_title, &job, texts, sizeof texts / sizeof texts[0], err);
}
