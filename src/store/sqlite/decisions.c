/* Decisions about prompts (store/store_decisions.h). */
#include "store/store_decisions.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "store/lease.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

static const char *const decision_verbs[] = {"approve", "reject", "cancel"};

typedef struct decision_job {
  lt_decision_row row;
  char now[LT_CLOCK_STAMP_BYTES];
  int64_t id;
  char owner[LT_LEASE_BYTES]; /* empty: no process runs the prompt */
} decision_job;

static lt_status decisions_fail_inactive(lt_str prompt, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "Prompt \"%.*s\" not found or no longer active",
                 LT_STR_ARG(lt_str_sub(prompt, 0, 2 * LT_STORE_ID_BYTES)));
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */
/* Also finds the process that runs the prompt. */
static lt_status decisions_find_prompt(struct sqlite3 *sql, decision_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT p.owner FROM prompts p JOIN conversations c ON c.number = p.conversation"
                                    " WHERE p.id = ? AND c.user = ? AND p.completed_at IS NULL");
  lt_query_text(&query, job->row.prompt);
  lt_query_text(&query, job->row.user);
  bool found = lt_query_row(&query);
  lt_str owner = found ? lt_query_get(&query, 0) : LT_STR_NULL;
  bool has_owner = owner.n > 0 && owner.n < sizeof job->owner && lt_lease_state_of(owner) != LT_LEASE_GONE;
  snprintf(job->owner, sizeof job->owner, "%.*s", has_owner ? (int)owner.n : 0, owner.n > 0 ? owner.p : "");
  LT_TRY(lt_query_end(&query, err));
  return found ? LT_OK : decisions_fail_inactive(job->row.prompt, err);
}

/* The first decision counts, also when a process has taken it. A taken one with an edited input leaves the call open
 * when the tool refused that input. */
static lt_status decision_check_first(struct sqlite3 *sql, const decision_job *job, lt_err *err) {
  lt_query query =
      lt_query_prepare(sql,
                       "SELECT verb, created_at FROM decisions WHERE prompt = ?"
                       " AND (taken_at IS NULL OR input = '') AND (verb = 'cancel' OR (call = ? AND hash = ?))");
  lt_query_text(&query, job->row.prompt);
  lt_query_text(&query, job->row.call);
  lt_query_int(&query, (int64_t)job->row.hash);
  lt_status status = LT_OK;
  if (lt_query_row(&query)) {
    status = lt_fail(err, LT_E_INVALID, "somebody has decided already (%.*s, at %.*s)",
                     LT_STR_ARG(lt_query_get(&query, 0)), LT_STR_ARG(lt_query_get(&query, 1)));
  }
  lt_status read = lt_query_end(&query, err);
  return read == LT_OK ? status : read;
}

static lt_status decision_insert(struct sqlite3 *sql, decision_job *job, lt_err *err) {
  const lt_decision_row *row = &job->row;
  lt_query query = lt_query_prepare(
      sql,
      "INSERT INTO decisions(prompt, conversation, call, hash, verb, user, tool, remember, created_at, reason, input) "
      "SELECT ?1, c.id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM prompts p"
      " JOIN conversations c ON c.number = p.conversation WHERE p.id = ?1 RETURNING id");
  lt_query_text(&query, row->prompt);
  lt_query_text(&query, row->call);
  lt_query_int(&query, (int64_t)row->hash);
  lt_query_text(&query, lt_str_of(decision_verbs[row->verb]));
  lt_query_text(&query, row->user);
  lt_query_text(&query, row->tool);
  lt_query_text(&query, lt_str_of(lt_decision_remember_name(row->decision.remember)));
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, row->decision.reason);
  lt_query_text(&query, row->decision.input);
  job->id = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  lt_query_row(&query); /* to its end: then SQLite counts the statement as done */
  return lt_query_end(&query, err);
}

static lt_status decision_put(struct sqlite3 *sql, void *arg, lt_err *err) {
  decision_job *job = arg;
  LT_TRY(decisions_find_prompt(sql, job, err));
  LT_TRY(decision_check_first(sql, job, err));
  return decision_insert(sql, job, err);
}

lt_status lt_store_decision_put(lt_store *store, const lt_decision_row *row, int64_t *ret_id, lt_err *err) {
  decision_job job = {.row = *row};
  lt_decision_row *r = &job.row;
  lt_str *texts[] = {&r->prompt, &r->user, &r->call, &r->tool, &r->decision.reason, &r->decision.input};
  lt_clock_stamp(job.now);
  LT_TRY(lt_db_job_run(store, LT_DB_DURABLE, decision_put, &job, texts, sizeof texts / sizeof texts[0], err));
  *ret_id = job.id;
  return LT_OK;
}

static lt_status decision_take(struct sqlite3 *sql, void *arg, lt_err *err) {
  const decision_job *job = arg;
  lt_query query = lt_query_prepare(sql, "UPDATE decisions SET taken_at = ifnull(taken_at, ?) WHERE id = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_int(&query, job->id);
  return lt_query_run(&query, err);
}

lt_status lt_store_decision_take(lt_store *store, int64_t id, lt_err *err) {
  decision_job job = {.id = id};
  lt_clock_stamp(job.now);
  return lt_db_run(store, LT_DB_LAZY, decision_take, &job, err);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static void decision_put_row(lt_json_writer *w, const lt_query *query) {
  static const char *const names[] = {"verb",  "user",     "call",      "tool",   "reason",
                                      "input", "remember", "createdAt", "takenAt"};
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, (uint64_t)lt_query_get_int(query, 1));
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_int(w, lt_query_get_int(query, 0));
  lt_json_key(w, "hash");
  lt_json_put_cstr(w, hash);
  for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
    bool is_null = lt_sqlite.column_type(query->stmt, 2 + i) == SQLITE_NULL;
    lt_json_key(w, names[i]);
    if (is_null) {
      lt_json_put_null(w);
    } else {
      lt_json_put_str(w, lt_query_get(query, 2 + i));
    }
  }
  lt_json_end_object(w);
}

static lt_status decision_select(struct sqlite3 *sql, const char *text, const lt_db_read_job *job, lt_err *err) {
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, text);
  lt_query_text(&query, job->id);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    decision_put_row(&w, &query);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

#define SELECT_ROWS \
  "SELECT id, hash, verb, user, call, tool, reason, input, remember, created_at, taken_at FROM decisions"

static lt_status decision_select_of_prompt(struct sqlite3 *sql, void *arg, lt_err *err) {
  return decision_select(sql, SELECT_ROWS " WHERE prompt = ? ORDER BY id", arg, err);
}

static lt_status decision_select_of_session(struct sqlite3 *sql, void *arg, lt_err *err) {
  return decision_select(
      sql, SELECT_ROWS " WHERE conversation = ? AND remember = 'session' AND taken_at IS NOT NULL ORDER BY id", arg,
      err);
}

lt_status lt_store_decision_list(lt_store *store, lt_str prompt, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = prompt, .out = out};
  return lt_db_job_read(store, decision_select_of_prompt, &job, err);
}

lt_status lt_store_decision_list_session(lt_store *store, lt_str conversation, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = conversation, .out = out};
  return lt_db_job_read(store, decision_select_of_session, &job, err);
}

static lt_status decision_has_open(struct sqlite3 *sql, lt_str prompt, bool *ret_has, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT 1 FROM decisions WHERE prompt = ? AND taken_at IS NULL LIMIT 1");
  lt_query_text(&query, prompt);
  *ret_has = lt_query_row(&query);
  return lt_query_end(&query, err);
}

static lt_status decision_select_prompts(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  enum { STEP = LT_STORE_ID_BYTES + 1 };
  lt_db_job_rewind(job->out, job->start);
  for (size_t at = 0; at + STEP <= job->id.n; at += STEP) {
    bool has_open = false;
    LT_TRY(decision_has_open(sql, lt_str_of(job->id.p + at), &has_open, err));
    if (has_open) {
      lt_buf_add(job->out, lt_str_sub(job->id, at, at + STEP));
    }
  }
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_decision_find_open(lt_store *store, lt_str prompts, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = prompts, .out = out};
  return lt_db_job_read(store, decision_select_prompts, &job, err);
}

/* SQLite, PRAGMA data_version: it changes when another connection has committed. */
static lt_status decision_read_version(struct sqlite3 *sql, void *arg, lt_err *err) {
  return lt_query_number(sql, "PRAGMA data_version", arg, err);
}

lt_status lt_store_decision_version(lt_store *store, int64_t *ret_version, lt_err *err) {
  return lt_db_run(store, LT_DB_READ, decision_read_version, ret_version, err);
}

static lt_status decision_find_owner(struct sqlite3 *sql, void *arg, lt_err *err) {
  return decisions_find_prompt(sql, arg, err);
}

lt_status lt_store_decision_owner(lt_store *store, lt_str user, lt_str prompt, lt_buf *out, lt_err *err) {
  decision_job job = {.row = {.prompt = prompt, .user = user}};
  lt_str *texts[] = {&job.row.prompt, &job.row.user};
  LT_TRY(lt_db_job_run(store, LT_DB_READ, decision_find_owner, &job, texts, 2, err));
  if (job.owner[0] != '\0') {
    lt_lease_put_name(lt_str_of(job.owner), out);
  }
  return lt_db_job_check_out(out, err);
}
