/* Events and keys of requests (store/store_events.h). */
#include "store/store_events.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

/* --- Writing ------------------------------------------------------------------------------------------------------ */
typedef struct events_put_job {
  lt_event_row *rows;
  size_t count;
  char now[LT_CLOCK_STAMP_BYTES];
} events_put_job;

bool lt_store_event_is_end(lt_str name) {
  return lt_str_eqc(name, "prompt.completed") || lt_str_eqc(name, "prompt.cancelled") ||
         lt_str_eqc(name, "prompt.error");
}

/* 0: no event says that the prompt has ended. */
static lt_status event_find_end(struct sqlite3 *sql, lt_str prompt, int64_t *ret_id, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT ifnull(max(id), 0) FROM events WHERE subject = ?1 AND name IN"
                                    " ('prompt.completed', 'prompt.cancelled', 'prompt.error')"
                                    " AND NOT EXISTS (SELECT 1 FROM unended_prompts WHERE prompt = ?1)");
  lt_query_text(&query, prompt);
  *ret_id = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  return lt_query_end(&query, err);
}

/* Another server may have told the end (lt_store_events_unended): a prompt has one. */
static lt_status event_insert(struct sqlite3 *sql, lt_event_row *row, const char *now, lt_err *err) {
  if (lt_store_event_is_end(row->name)) {
    LT_TRY(event_find_end(sql, row->subject, &row->id, err));
    if (row->id > 0) {
      return LT_OK;
    }
  }
  lt_query query =
      lt_query_prepare(sql, "INSERT INTO events(user, subject, created_at, name, data) VALUES(?, ?, ?, ?, ?)");
  lt_query_text(&query, row->user);
  lt_query_text(&query, row->subject);
  lt_query_text(&query, lt_str_of(now));
  lt_query_text(&query, row->name);
  lt_query_text(&query, row->data);
  LT_TRY(lt_query_run(&query, err));
  row->id = lt_sqlite.last_insert_rowid(sql); /* RETURNING would make a table for it */
  return LT_OK;
}

static lt_status events_forget_old(struct sqlite3 *sql, int64_t last, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "DELETE FROM events WHERE id <= ?");
  lt_query_int(&query, last - (int64_t)LT_EVENTS_KEPT);
  return lt_query_run(&query, err);
}

static lt_status events_put(struct sqlite3 *sql, void *arg, lt_err *err) {
  const events_put_job *job = arg;
  int64_t last = 0;
  for (size_t i = 0; i < job->count; i++) {
    LT_TRY(event_insert(sql, &job->rows[i], job->now, err));
    last = job->rows[i].id > last ? job->rows[i].id : last;
  }
  return events_forget_old(sql, last, err);
}

lt_status lt_store_events_put(lt_store *store, lt_event_row *rows, size_t count, lt_err *err) {
  events_put_job job = {.rows = rows, .count = count};
  lt_clock_stamp(job.now);
  return count > 0 ? lt_db_run(store, LT_DB_LAZY, events_put, &job, err) : LT_OK;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
typedef struct events_list_job {
  lt_db_read_job read; /* first: id is the subject */
  int64_t after;
} events_list_job;

static void event_put_row(lt_json_writer *w, const lt_query *query) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_int(w, lt_query_get_int(query, 0));
  lt_json_key(w, "event");
  lt_json_put_str(w, lt_query_get(query, 1));
  lt_json_key(w, "data");
  lt_json_put_raw(w, lt_query_get(query, 2));
  lt_json_end_object(w);
}

static lt_status events_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const events_list_job *job = arg;
  lt_buf *out = job->read.out;
  lt_db_job_rewind(out, job->read.start);
  lt_query query = lt_query_prepare(sql, job->read.id.n > 0 ? "SELECT id, name, data FROM events WHERE user = ?"
                                                              " AND id > ? AND subject = ? ORDER BY id LIMIT ?"
                                                            : "SELECT id, name, data FROM events WHERE user = ?"
                                                              " AND id > ? ORDER BY id LIMIT ?");
  lt_query_text(&query, job->read.user);
  lt_query_int(&query, job->after);
  if (job->read.id.n > 0) {
    lt_query_text(&query, job->read.id);
  }
  lt_query_int(&query, (int64_t)job->read.max);
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  while (out->n - job->read.start < LT_EVENTS_READ_BYTES && lt_query_row(&query)) {
    event_put_row(&w, &query);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(out, err);
}

lt_status lt_store_events_list(lt_store *store, lt_str user, lt_str subject, int64_t after, size_t max, lt_buf *out,
                               lt_err *err) {
  events_list_job job = {.read = {.user = user, .id = subject, .max = max, .out = out}, .after = after};
  return lt_db_job_read(store, events_select, &job.read, err);
}

/* Rows that were removed count, too: the numbers only grow. */
static lt_status events_read_last(struct sqlite3 *sql, void *arg, lt_err *err) {
  return lt_query_number(sql, "SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)", arg, err);
}

lt_status lt_store_events_last(lt_store *store, int64_t *ret_id, lt_err *err) {
  return lt_db_run(store, LT_DB_READ, events_read_last, ret_id, err);
}

static lt_status events_select_unended(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  char before[32];
  snprintf(before, sizeof before, "-%d.%03d seconds", LT_EVENTS_UNENDED_MS / 1000, LT_EVENTS_UNENDED_MS % 1000);
  lt_db_job_rewind(job->out, job->start);
  lt_query query =
      lt_query_prepare(sql,
                       "SELECT p.id, c.user FROM unended_prompts u CROSS JOIN prompts p ON p.id = u.prompt"
                       " JOIN conversations c ON c.number = p.conversation"
                       " WHERE p.completed_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?) ORDER BY p.number LIMIT ?");
  lt_query_text(&query, lt_str_of(before));
  lt_query_int(&query, LT_EVENTS_READ);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    lt_json_begin_object(&w);
    lt_json_key(&w, "id");
    lt_json_put_str(&w, lt_query_get(&query, 0));
    lt_json_key(&w, "userId");
    lt_json_put_str(&w, lt_query_get(&query, 1));
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_events_unended(lt_store *store, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.out = out};
  return lt_db_job_read(store, events_select_unended, &job, err);
}

/* --- Keys of requests --------------------------------------------------------------------------------------------- */
typedef struct key_note_job {
  lt_str user, key, hash, prompt;
  char now[LT_CLOCK_STAMP_BYTES];
  char found[LT_STORE_ID_BYTES + 1];
} key_note_job;

static lt_status key_insert(struct sqlite3 *sql, const key_note_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "INSERT OR IGNORE INTO prompt_keys(user, key, hash, prompt, created_at)"
                                    " VALUES(?, ?, ?, ?, ?)");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->key);
  lt_query_text(&query, job->hash);
  lt_query_text(&query, job->prompt);
  lt_query_text(&query, lt_str_of(job->now));
  return lt_query_run(&query, err);
}

static lt_status key_note(struct sqlite3 *sql, void *arg, lt_err *err) {
  key_note_job *job = arg;
  LT_TRY(key_insert(sql, job, err));
  lt_query query = lt_query_prepare(sql, "SELECT prompt, hash FROM prompt_keys WHERE user = ? AND key = ?");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->key);
  bool is_same = lt_query_row(&query) && lt_str_eq(lt_query_get(&query, 1), job->hash);
  lt_str prompt = is_same ? lt_query_get(&query, 0) : LT_STR_NULL;
  snprintf(job->found, sizeof job->found, "%.*s", LT_STR_ARG(prompt));
  LT_TRY(lt_query_end(&query, err));
  return is_same ? LT_OK
                 : lt_fail(err, LT_E_INVALID, "the Idempotency-Key was used with another request: take a new one");
}

lt_status lt_store_key_note(lt_store *store, lt_str user, lt_str key, lt_str hash, lt_str prompt,
                            char ret_prompt[LT_STORE_ID_BYTES + 1], lt_err *err) {
  key_note_job job = {.user = user, .key = key, .hash = hash, .prompt = prompt};
  lt_str *texts[] = {&job.user, &job.key, &job.hash, &job.prompt};
  lt_clock_stamp(job.now);
  LT_TRY(lt_db_job_run(store, LT_DB_DURABLE, key_note, &job, texts, sizeof texts / sizeof texts[0], err));
  snprintf(ret_prompt, LT_STORE_ID_BYTES + 1, "%s", job.found);
  return LT_OK;
}
