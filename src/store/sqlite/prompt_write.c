/* Making prompts, and changing their states and outputs. */
#include "base/clock.h"
#include "store/store_prompts.h"

#include "base/mem.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/prompt_owner.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/prompt_read.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

static bool prompt_state_is_end(lt_prompt_state state) {
  return state != LT_PROMPT_RUNNING && state != LT_PROMPT_WAITING;
}

/* --- Creating a prompt -------------------------------------------------------------------------------------------- */

typedef struct prompt_create_job {
  lt_prompt_row row;
  char created_at[LT_CLOCK_STAMP_BYTES];
} prompt_create_job;

static lt_status prompt_check_id(const char *what, lt_str id, lt_err *err) {
  bool good = id.n == LT_STORE_ID_BYTES;
  for (size_t i = 0; i < id.n && good; i++) {
    good = (id.p[i] >= '0' && id.p[i] <= '9') || (id.p[i] >= 'a' && id.p[i] <= 'f');
  }
  return good ? LT_OK
              : lt_fail(err, LT_E_INVALID, "a %s's id has %d hexadecimal digits (0-9, a-f), unlike \"%.*s\"", what,
                        LT_STORE_ID_BYTES, LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

/* The conversation's number, 0 when there is none; LT_E_DENIED: another user's. */
static lt_status prompt_find_conversation(struct sqlite3 *sql, const lt_prompt_row *row, int64_t *ret_number,
                                          lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT number, user = ? FROM conversations WHERE id = ?");
  lt_query_text(&query, row->user);
  lt_query_text(&query, row->conversation);
  bool found = lt_query_row(&query);
  int64_t number = found ? lt_query_get_int(&query, 0) : 0;
  bool is_ours = !found || lt_query_get_int(&query, 1) != 0;
  LT_TRY(lt_query_end(&query, err));
  if (!is_ours) {
    return lt_fail(err, LT_E_DENIED, "the conversation %.*s belongs to somebody else: begin a new one",
                   LT_STR_ARG(row->conversation));
  }
  *ret_number = number;
  return LT_OK;
}

static lt_status prompt_check_idle(struct sqlite3 *sql, int64_t conversation, lt_err *err) {
  lt_query query =
      lt_query_prepare(sql, "SELECT id, state FROM prompts WHERE conversation = ? AND completed_at IS NULL");
  lt_query_int(&query, conversation);
  lt_status status = LT_OK;
  if (lt_query_row(&query)) {
    status = lt_fail(err, LT_E_INVALID,
                     "the conversation is busy: its prompt %.*s has not ended (%.*s); wait for it, or cancel it",
                     LT_STR_ARG(lt_query_get(&query, 0)), LT_STR_ARG(lt_query_get(&query, 1)));
  }
  lt_status read = lt_query_end(&query, err);
  return lt_status_first(read, status);
}

static lt_status prompt_check_new(struct sqlite3 *sql, lt_str id, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT 1 FROM prompts WHERE id = ?");
  lt_query_text(&query, id);
  bool found = lt_query_row(&query);
  LT_TRY(lt_query_end(&query, err));
  return found ? lt_fail(err, LT_E_INVALID, "the prompt's id %.*s is taken", LT_STR_ARG(id)) : LT_OK;
}

static lt_status prompt_insert_conversation(struct sqlite3 *sql, const prompt_create_job *job, int64_t *ret_number,
                                            lt_err *err) {
  lt_query query =
      lt_query_prepare(sql, "INSERT INTO conversations(id, user, created_at, updated_at) VALUES(?, ?, ?, ?)");
  lt_query_text(&query, job->row.conversation);
  lt_query_text(&query, job->row.user);
  lt_query_text(&query, lt_str_of(job->created_at));
  lt_query_text(&query, lt_str_of(job->created_at));
  LT_TRY(lt_query_run(&query, err));
  *ret_number = lt_sqlite.last_insert_rowid(sql);
  return LT_OK;
}

static lt_status prompt_use_conversation(struct sqlite3 *sql, int64_t number, const char *now, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "UPDATE conversations SET updated_at = ? WHERE number = ?");
  lt_query_text(&query, lt_str_of(now));
  lt_query_int(&query, number);
  return lt_query_run(&query, err);
}

/* The prompt has its owner from the beginning: another process that looks for orphans would take it otherwise. */
static lt_status prompt_insert(struct sqlite3 *sql, const prompt_create_job *job, lt_prompt_rows *rows, lt_err *err) {
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_prompt_owner_sign(sql, own, err));
  lt_query query =
      lt_query_prepare(sql,
                       "INSERT INTO prompts(id, conversation, state, model, mode, visible, created_at, owner, "
                       "input, origin, attachments) "
                       "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''))");
  lt_query_text(&query, job->row.id);
  lt_query_int(&query, rows->conversation);
  lt_query_text(&query, lt_str_of(lt_store_prompt_state_name(LT_PROMPT_RUNNING)));
  lt_query_text(&query, job->row.model);
  lt_query_text(&query, job->row.mode);
  lt_query_int(&query, job->row.visible);
  lt_query_text(&query, lt_str_of(job->created_at));
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, job->row.input);
  lt_query_text(&query, job->row.origin);
  lt_query_text(&query, job->row.attachments);
  LT_TRY(lt_query_run(&query, err));
  rows->number = lt_sqlite.last_insert_rowid(sql);
  return LT_OK;
}

static lt_status prompt_create(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_create_job *job = arg;
  lt_prompt_rows rows = {.number = 0};
  LT_TRY(prompt_find_conversation(sql, &job->row, &rows.conversation, err));
  LT_TRY(prompt_check_new(sql, job->row.id, err));
  if (rows.conversation != 0) {
    LT_TRY(prompt_check_idle(sql, rows.conversation, err));
    LT_TRY(prompt_use_conversation(sql, rows.conversation, job->created_at, err));
  } else {
    LT_TRY(prompt_insert_conversation(sql, job, &rows.conversation, err));
  }
  LT_TRY(prompt_insert(sql, job, &rows, err));
  lt_connection_cache_note_own(sql, job->row.id, &rows);
  return LT_OK;
}

lt_status lt_store_prompt_create(lt_store *db, const lt_prompt_row *row, lt_err *err) {
  LT_TRY(prompt_check_id("prompt", row->id, err));
  LT_TRY(prompt_check_id("conversation", row->conversation, err));
  prompt_create_job job = {.row = *row};
  lt_prompt_row *r = &job.row;
  lt_str *texts[] = {&r->id, &r->user, &r->conversation, &r->model, &r->mode, &r->input, &r->origin, &r->attachments};
  lt_clock_stamp(job.created_at);
  lt_db_sync sync = row->is_lazy ? LT_DB_LAZY : LT_DB_DURABLE;
  return lt_db_job_run(db, sync, prompt_create, &job, texts, sizeof texts / sizeof texts[0], err);
}

/* --- Progress of a prompt ----------------------------------------------------------------------------------------- */

typedef struct prompt_change_job {
  lt_str id;
  lt_prompt_state state; /* set_state only */
  lt_str usage, error, incomplete;
  uint32_t number; /* put_output only */
  lt_str json;
  uint64_t change;
  char now[LT_CLOCK_STAMP_BYTES];
} prompt_change_job;

/* Text that is not JSON would break the JSON that it is read with. */
static lt_status prompt_check_json(const char *what, lt_str json, lt_err *err) {
  LT_ERR_VAR(why);
  lt_status status = lt_json_check(json, &why);
  if (status == LT_OK) {
    return LT_OK;
  }
  return lt_fail(err, status == LT_E_SYNTAX ? LT_E_INVALID : status, "a prompt's %s must be JSON: %s", what,
                 lt_err_msg(&why));
}

/* Why no row could be changed. */
static lt_status prompt_fail_change(struct sqlite3 *sql, const prompt_change_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT state FROM prompts WHERE id = ?");
  lt_query_text(&query, job->id);
  lt_status status = LT_OK;
  if (lt_query_row(&query)) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s has ended (%.*s): it cannot be %s again", LT_STR_ARG(job->id),
                     LT_STR_ARG(lt_query_get(&query, 0)), lt_store_prompt_state_name(job->state));
  } else {
    status = lt_prompt_not_found(job->id, err);
  }
  lt_status read = lt_query_end(&query, err);
  return lt_status_first(read, status);
}

/* A prompt that ends has no owner any more. */
static lt_status prompt_update_state(struct sqlite3 *sql, const prompt_change_job *job, int64_t number, bool ends,
                                     bool *ret_found, lt_err *err) {
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_lease_own(own, err));
  lt_query query = lt_query_prepare(
      sql,
      "UPDATE prompts SET state = ?, usage = ifnull(nullif(?, ''), usage),"
      " error = nullif(?, ''), incomplete = nullif(?, ''), completed_at = ifnull(completed_at, nullif(?, '')),"
      " owner = iif(?6, NULL, owner), ended_by = iif(?6, ?, ended_by)"
      " WHERE number = ? AND (completed_at IS NULL OR ?6)");
  lt_query_text(&query, lt_str_of(lt_store_prompt_state_name(job->state)));
  lt_query_text(&query, job->usage);
  lt_query_text(&query, job->error);
  lt_query_text(&query, job->incomplete);
  lt_query_text(&query, ends ? lt_str_of(job->now) : LT_STR_NULL);
  lt_query_int(&query, ends);
  lt_query_text(&query, lt_str_of(own));
  lt_query_int(&query, number);
  LT_TRY(lt_query_run(&query, err));
  *ret_found = lt_sqlite.changes(sql) > 0;
  return LT_OK;
}

static lt_status prompt_set_state(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_change_job *job = arg;
  bool ends = prompt_state_is_end(job->state), is_found = false;
  lt_prompt_rows rows;
  if (job->usage.n > 0) {
    LT_TRY(prompt_check_json("usage", job->usage, err));
  }
  LT_TRY(lt_prompt_owner_find_own(sql, job->id, &rows, err));
  LT_TRY(prompt_update_state(sql, job, rows.number, ends, &is_found, err));
  if (!is_found) {
    return prompt_fail_change(sql, job, err);
  }
  return ends ? prompt_use_conversation(sql, rows.conversation, job->now, err) : LT_OK;
}

/* By the number of the prompt's row: for an INSERT ... SELECT by its id, SQLite would keep a journal to undo it. */
static lt_status prompt_put_output(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_change_job *job = arg;
  lt_prompt_rows rows;
  LT_TRY(lt_prompt_owner_find_own(sql, job->id, &rows, err));
  LT_TRY(prompt_check_json("output", job->json, err));
  if (rows.number == 0) {
    return lt_prompt_not_found(job->id, err);
  }
  lt_query query = lt_query_prepare(sql,
                                    "INSERT INTO prompt_outputs(prompt, number, json, change) VALUES(?, ?, ?, ?)"
                                    " ON CONFLICT DO UPDATE SET json = excluded.json, change = excluded.change");
  lt_query_int(&query, rows.number);
  lt_query_int(&query, job->number);
  lt_query_text(&query, job->json);
  lt_query_int(&query, (int64_t)job->change);
  return lt_query_run(&query, err);
}

static lt_status prompt_run_change(lt_store *db, lt_db_work work, prompt_change_job *job, lt_err *err) LT_YIELDS {
  lt_str *texts[] = {&job->id, &job->usage, &job->error, &job->json};
  lt_clock_stamp(job->now);
  return lt_db_job_run(db, LT_DB_LAZY, work, job, texts, sizeof texts / sizeof texts[0], err);
}

lt_status lt_store_prompt_set_state(lt_store *db, lt_str id, lt_prompt_state state, lt_str usage, lt_str error,
                                    lt_err *err) {
  prompt_change_job job = {.id = id, .state = state, .usage = usage, .error = error};
  return prompt_run_change(db, prompt_set_state, &job, err);
}

lt_status lt_store_prompt_put_output(lt_store *db, lt_str id, uint32_t number, lt_str json, lt_err *err) {
  prompt_change_job job = {.id = id, .number = number, .json = json};
  return prompt_run_change(db, prompt_put_output, &job, err);
}

/* --- Several changes in one transaction --------------------------------------------------------------------------- */

typedef struct prompt_update_job {
  prompt_change_job change; /* the id, the time, and the state if `changes` */
  bool changes;
  lt_prompt_output *outputs;
  size_t count;
} prompt_update_job;

static lt_status prompt_update(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_update_job *job = arg;
  for (size_t i = 0; i < job->count; i++) {
    const lt_prompt_output *output = &job->outputs[i];
    prompt_change_job one = {
        .id = job->change.id, .number = output->number, .json = output->json, .change = output->change};
    LT_TRY(prompt_put_output(sql, &one, err));
  }
  prompt_change_job change = job->change;
  return job->changes ? prompt_set_state(sql, &change, err) : LT_OK;
}

/* `texts` and job->outputs have room for all. */
static lt_status prompt_run_update(lt_store *db, prompt_update_job *job, const lt_prompt_output *outputs,
                                   lt_str **texts, lt_err *err) LT_YIELDS {
  size_t n = 0;
  texts[n++] = &job->change.id;
  texts[n++] = &job->change.usage;
  texts[n++] = &job->change.error;
  texts[n++] = &job->change.incomplete;
  for (size_t i = 0; i < job->count; i++) {
    job->outputs[i] = outputs[i];
    texts[n++] = &job->outputs[i].json;
  }
  lt_clock_stamp(job->change.now);
  return lt_db_job_run(db, LT_DB_LAZY, prompt_update, job, texts, n, err);
}

lt_status lt_store_prompt_update(lt_store *db, lt_str id, const lt_prompt_output *outputs, size_t count,
                                 const lt_prompt_change *change, lt_err *err) {
  prompt_update_job job = {.change = {.id = id}, .changes = change != NULL, .count = count};
  if (change != NULL) {
    job.change.state = change->state;
    job.change.usage = change->usage;
    job.change.error = change->error;
    job.change.incomplete = change->incomplete;
  }
  lt_str **texts = lt_mem_zalloc(count + 4, sizeof *texts);
  job.outputs = lt_mem_zalloc(count, sizeof *job.outputs);
  lt_status status = texts != NULL && job.outputs != NULL
                         ? prompt_run_update(db, &job, outputs, texts, err)
                         : lt_fail(err, LT_E_NOMEM, "no memory for %zu outputs of a prompt", count);
  lt_mem_free(job.outputs);
  lt_mem_free(texts);
  return status;
}
