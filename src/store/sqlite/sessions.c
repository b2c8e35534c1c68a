/* Sessions of programs (store/store_sessions.h). */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_sessions.h"

typedef struct session_job {
  lt_session_key key;
  lt_str data;
  bool is_again;
  lt_session_found found;
  char run[LT_STORE_ID_BYTES + 1]; /* that has the session */
  bool is_run_open;
  lt_buf *out;
  size_t start;
  char now[LT_CLOCK_STAMP_BYTES];
} session_job;

static void session_bind(lt_query *query, const session_job *job) {
  lt_query_text(query, job->key.user);
  lt_query_text(query, job->key.name);
}

/* --- Forgetting --------------------------------------------------------------------------------------------------- */
static lt_status session_forget_old(struct sqlite3 *sql, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql, "DELETE FROM program_sessions WHERE used_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ? || ' days')");
  lt_query_int(&query, LT_SESSION_KEPT_DAYS);
  return lt_query_run(&query, err);
}

/* Not one that a run has, such as the new one. */
static lt_status session_forget_most(struct sqlite3 *sql, const session_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql,
      "DELETE FROM program_sessions WHERE user = ?1 AND name IN (SELECT name FROM program_sessions s WHERE user = ?1"
      " AND NOT EXISTS (SELECT 1 FROM prompts WHERE id = s.run AND completed_at IS NULL)"
      " ORDER BY used_at DESC, name LIMIT -1 OFFSET ?2)");
  lt_query_text(&query, job->key.user);
  lt_query_int(&query, LT_SESSIONS_MAX - 1);
  return lt_query_run(&query, err);
}

/* --- Taking ------------------------------------------------------------------------------------------------------- */
static lt_status session_insert(struct sqlite3 *sql, const session_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql, "INSERT INTO program_sessions(user, name, used_at, run, found, kept) VALUES(?, ?, ?, ?, NULL, NULL)");
  session_bind(&query, job);
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, job->key.run);
  LT_TRY(lt_query_run(&query, err));
  return session_forget_most(sql, job, err);
}

static lt_status session_hand_over(struct sqlite3 *sql, const session_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "UPDATE program_sessions SET found = ifnull(kept, found), kept = NULL, used_at = ?,"
                                    " run = ? WHERE user = ? AND name = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, job->key.run);
  session_bind(&query, job);
  return lt_query_run(&query, err);
}

static lt_status session_look(struct sqlite3 *sql, session_job *job, bool *ret_exists, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT run, EXISTS (SELECT 1 FROM prompts WHERE id = s.run AND completed_at IS"
                                    " NULL) FROM program_sessions s WHERE user = ? AND name = ?");
  session_bind(&query, job);
  *ret_exists = lt_query_row(&query);
  if (*ret_exists) {
    snprintf(job->run, sizeof job->run, "%.*s", LT_STR_ARG(lt_query_get(&query, 0)));
    job->is_run_open = lt_query_get_int(&query, 1) != 0;
  }
  return lt_query_end(&query, err);
}

static lt_status session_read(struct sqlite3 *sql, session_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT found FROM program_sessions WHERE user = ? AND name = ?");
  session_bind(&query, job);
  if (lt_query_row(&query)) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
  }
  LT_TRY(lt_query_end(&query, err));
  job->found = job->out->n > job->start ? LT_SESSION_OLD : LT_SESSION_NEW;
  return lt_db_job_check_out(job->out, err);
}

static lt_status session_take(struct sqlite3 *sql, void *arg, lt_err *err) {
  session_job *job = arg;
  bool exists = false;
  lt_db_job_rewind(job->out, job->start);
  LT_TRY(session_forget_old(sql, err));
  LT_TRY(session_look(sql, job, &exists, err));
  bool is_own = exists && lt_str_eq(job->key.run, lt_str_of(job->run));
  if (job->is_again && !is_own) {
    job->found = LT_SESSION_GONE;
    return LT_OK;
  }
  if (!exists) {
    job->found = LT_SESSION_NEW;
    return session_insert(sql, job, err);
  }
  if (!is_own && job->is_run_open) {
    job->found = LT_SESSION_BUSY;
    return LT_OK;
  }
  LT_TRY(is_own ? LT_OK : session_hand_over(sql, job, err));
  return session_read(sql, job, err);
}

static lt_status session_run(lt_store *store, lt_db_sync sync, lt_db_work work, session_job *job,
                             lt_err *err) LT_YIELDS {
  lt_str *texts[] = {&job->key.user, &job->key.name, &job->key.run, &job->data};
  lt_clock_stamp(job->now);
  return lt_db_job_run(store, sync, work, job, texts, sizeof texts / sizeof texts[0], err);
}

lt_status lt_store_session_take(lt_store *store, const lt_session_key *key, bool is_again, lt_session_found *ret_found,
                                char ret_run[LT_STORE_ID_BYTES + 1], lt_buf *out, lt_err *err) {
  session_job job = {.key = *key, .is_again = is_again, .out = out, .start = out->n};
  LT_TRY(lt_db_job_check_out(out, err));
  LT_TRY(session_run(store, LT_DB_LAZY, session_take, &job, err));
  *ret_found = job.found;
  memcpy(ret_run, job.run, sizeof job.run);
  return LT_OK;
}

/* --- Keeping ------------------------------------------------------------------------------------------------------ */
static lt_status session_keep(struct sqlite3 *sql, void *arg, lt_err *err) {
  const session_job *job = arg;
  lt_query query =
      lt_query_prepare(sql, "UPDATE program_sessions SET kept = ? WHERE user = ? AND name = ? AND run = ?");
  lt_query_blob(&query, job->data);
  session_bind(&query, job);
  lt_query_text(&query, job->key.run);
  return lt_query_run(&query, err);
}

lt_status lt_store_session_keep(lt_store *store, const lt_session_key *key, lt_str data, lt_err *err) {
  session_job job = {.key = *key, .data = data};
  return session_run(store, LT_DB_LAZY, session_keep, &job, err);
}

static lt_status session_drop(struct sqlite3 *sql, void *arg, lt_err *err) {
  const session_job *job = arg;
  lt_query query = lt_query_prepare(sql, "DELETE FROM program_sessions WHERE user = ? AND name = ? AND run = ?");
  session_bind(&query, job);
  lt_query_text(&query, job->key.run);
  return lt_query_run(&query, err);
}

lt_status lt_store_session_drop(lt_store *store, const lt_session_key *key, lt_err *err) {
  session_job job = {.key = *key};
  return session_run(store, LT_DB_LAZY, session_drop, &job, err);
}

/* --- Looking ------------------------------------------------------------------------------------------------------ */
static lt_status session_view(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query =
      lt_query_prepare(sql, "SELECT ifnull(kept, found) FROM program_sessions WHERE user = ? AND name = ?");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id);
  if (lt_query_row(&query)) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
  }
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_session_view(lt_store *store, lt_str user, lt_str name, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = name, .out = out};
  return lt_db_job_read(store, session_view, &job, err);
}

typedef struct session_find_job {
  lt_str user, name;
  bool is_beginning, is_found;
  lt_session_used used;
} session_find_job;

static lt_status session_find(struct sqlite3 *sql, void *arg, lt_err *err) {
  session_find_job *job = arg;
  lt_query query = lt_query_prepare(
      sql,
      "SELECT s.name, s.run, ifnull(c.id, '') FROM program_sessions s LEFT JOIN prompts p ON p.id = s.run"
      " LEFT JOIN conversations c ON c.number = p.conversation WHERE s.user = ?1 AND (s.name = ?2 OR"
      " (?3 AND substr(s.name, 1, length(?2)) = ?2)) ORDER BY s.used_at DESC, s.name LIMIT 1");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->name);
  lt_query_int(&query, job->is_beginning);
  job->is_found = lt_query_row(&query);
  if (job->is_found) {
    snprintf(job->used.name, sizeof job->used.name, "%.*s", LT_STR_ARG(lt_query_get(&query, 0)));
    snprintf(job->used.run, sizeof job->used.run, "%.*s", LT_STR_ARG(lt_query_get(&query, 1)));
    snprintf(job->used.conversation, sizeof job->used.conversation, "%.*s", LT_STR_ARG(lt_query_get(&query, 2)));
  }
  return lt_query_end(&query, err);
}

lt_status lt_store_session_find(lt_store *store, lt_str user, lt_str name, bool is_beginning, lt_session_used *ret,
                                lt_err *err) {
  session_find_job job = {.user = user, .name = name, .is_beginning = is_beginning};
  lt_str *texts[] = {&job.user, &job.name};
  LT_TRY(lt_db_job_run(store, LT_DB_LAZY, session_find, &job, texts, sizeof texts / sizeof texts[0], err));
  *ret = job.used;
  return job.is_found ? LT_OK : lt_fail(err, LT_E_NOTFOUND, "there is no such session");
}
