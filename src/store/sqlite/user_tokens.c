/* Tokens of users (store/store_events.h): only their hashes are known here. */

#include "base/clock.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_events.h"
#include "store/sqlite/sqlite_open.h"

typedef struct user_token_job {
  lt_str hash, user;
  char now[LT_CLOCK_STAMP_BYTES];
} user_token_job;

static lt_status user_token_insert(struct sqlite3 *sql, void *arg, lt_err *err) {
  const user_token_job *job = arg;
  lt_query query = lt_query_prepare(sql, "INSERT INTO tokens(hash, user, created_at) VALUES(?, ?, ?)");
  lt_query_text(&query, job->hash);
  lt_query_text(&query, job->user);
  lt_query_text(&query, lt_str_of(job->now));
  return lt_query_run(&query, err);
}

lt_status lt_store_token_add(lt_store *store, lt_str hash, lt_str user, lt_err *err) {
  user_token_job job = {.hash = hash, .user = user};
  lt_clock_stamp(job.now);
  return lt_db_job_run(store, LT_DB_DURABLE, user_token_insert, &job, (lt_str *[]){&job.hash, &job.user}, 2, err);
}

static lt_status user_token_delete(struct sqlite3 *sql, void *arg, lt_err *err) {
  const user_token_job *job = arg;
  lt_query query = lt_query_prepare(sql, "DELETE FROM tokens WHERE user = ? AND substr(hash, 1, ?) = ?");
  lt_query_text(&query, job->user);
  lt_query_int(&query, (int64_t)job->hash.n);
  lt_query_text(&query, job->hash);
  LT_TRY(lt_query_run(&query, err));
  return lt_sqlite.changes(sql) > 0 ? LT_OK
                                    : lt_fail(err, LT_E_NOTFOUND, "the user \"%.*s\" has no %stoken",
                                              LT_STR_ARG(job->user), job->hash.n > 0 ? "such " : "");
}

lt_status lt_store_token_remove(lt_store *store, lt_str user, lt_str hash, lt_err *err) {
  user_token_job job = {.hash = hash, .user = user};
  return lt_db_job_run(store, LT_DB_DURABLE, user_token_delete, &job, (lt_str *[]){&job.hash, &job.user}, 2, err);
}

static lt_status user_token_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  static const char *const names[] = {"hash", "user", "createdAt"};
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, "SELECT hash, user, created_at FROM tokens ORDER BY user, created_at");
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    lt_json_begin_object(&w);
    for (int i = 0; i < 3; i++) {
      lt_json_key(&w, names[i]);
      lt_json_put_str(&w, lt_query_get(&query, i));
    }
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_token_list(lt_store *store, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.out = out};
  return lt_db_job_read(store, user_token_select, &job, err);
}
