/* Prompts as they are made, go on and end. */
#include "store/prompts.h"

#include <sqlite3.h>
#include <time.h>

#include "base/mem.h"
#include "store/lease.h"
#include "store/parts.h"
#include "store/sql.h"

enum { TIME_DIGITS = 12 };

lt_status lt_store_new_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) {
  _Static_assert(LT_STORE_ID_BYTES == LT_PARTS_ID_BYTES, "ids are alike");
  LT_TRY(lt_parts_make_id(ret_id, err));
  ret_id[LT_STORE_ID_BYTES] = '\0';
  return LT_OK;
}

/* Milliseconds in the first 12 digits. */
lt_status lt_store_new_prompt_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) {
  struct timespec now;
  LT_TRY(lt_store_new_id(ret_id, err));
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
  for (int i = TIME_DIGITS - 1; i >= 0; i--) {
    ret_id[i] = "0123456789abcdef"[ms & 15];
    ms >>= 4;
  }
  return LT_OK;
}

static const char *const state_names[] = {
    [LT_PROMPT_RUNNING] = "running", [LT_PROMPT_WAITING] = "waiting_for_approval", [LT_PROMPT_COMPLETED] = "completed",
    [LT_PROMPT_FAILED] = "failed",   [LT_PROMPT_CANCELLED] = "cancelled",
};

const char *lt_prompt_state_name(lt_prompt_state state) {
  return state_names[state];
}

static bool is_end(lt_prompt_state state) {
  return state != LT_PROMPT_RUNNING && state != LT_PROMPT_WAITING;
}

static lt_status no_prompt(lt_str id, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "there is no prompt \"%.*s\"",
                 LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

typedef struct create_job {
  lt_prompt_row row;
  char created_at[LT_CLOCK_STAMP_BYTES];
} create_job;

static lt_status check_id(const char *what, lt_str id, lt_err *err) {
  bool good = id.n == LT_STORE_ID_BYTES;
  for (size_t i = 0; i < id.n && good; i++) {
    good = (id.p[i] >= '0' && id.p[i] <= '9') || (id.p[i] >= 'a' && id.p[i] <= 'f');
  }
  return good ? LT_OK
              : lt_fail(err, LT_E_INVALID, "a %s's id has %d hexadecimal digits (0-9, a-f), unlike \"%.*s\"", what,
                        LT_STORE_ID_BYTES, LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

/* The conversation's number, 0 when there is none; LT_E_DENIED: another user's. */
static lt_status find_conversation(struct sqlite3 *sql, const lt_prompt_row *row, int64_t *ret_number, lt_err *err) {
  lt_query query = lt_query_on(sql, "SELECT number, user = ? FROM conversations WHERE id = ?");
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

static lt_status check_idle(struct sqlite3 *sql, int64_t conversation, lt_err *err) {
  lt_query query = lt_query_on(sql, "SELECT id, state FROM prompts WHERE conversation = ? AND completed_at IS NULL");
  lt_query_int(&query, conversation);
  lt_status status = LT_OK;
  if (lt_query_row(&query)) {
    status = lt_fail(err, LT_E_INVALID,
                     "the conversation is busy: its prompt %.*s has not ended (%.*s); wait for it, or cancel it",
                     LT_STR_ARG(lt_query_get(&query, 0)), LT_STR_ARG(lt_query_get(&query, 1)));
  }
  lt_status read = lt_query_end(&query, err);
  return read == LT_OK ? status : read;
}

static lt_status check_new(struct sqlite3 *sql, lt_str id, lt_err *err) {
  lt_query query = lt_query_on(sql, "SELECT 1 FROM prompts WHERE id = ?");
  lt_query_text(&query, id);
  bool found = lt_query_row(&query);
  LT_TRY(lt_query_end(&query, err));
  return found ? lt_fail(err, LT_E_INVALID, "the prompt's id %.*s is taken", LT_STR_ARG(id)) : LT_OK;
}

static lt_status insert_conversation(struct sqlite3 *sql, const create_job *job, int64_t *ret_number, lt_err *err) {
  lt_query query = lt_query_on(sql, "INSERT INTO conversations(id, user, created_at, updated_at) VALUES(?, ?, ?, ?)");
  lt_query_text(&query, job->row.conversation);
  lt_query_text(&query, job->row.user);
  lt_query_text(&query, lt_str_of(job->created_at));
  lt_query_text(&query, lt_str_of(job->created_at));
  LT_TRY(lt_query_run(&query, err));
  *ret_number = sqlite3_last_insert_rowid(sql);
  return LT_OK;
}

static lt_status use_conversation(struct sqlite3 *sql, int64_t number, const char *now, lt_err *err) {
  lt_query query = lt_query_on(sql, "UPDATE conversations SET updated_at = ? WHERE number = ?");
  lt_query_text(&query, lt_str_of(now));
  lt_query_int(&query, number);
  return lt_query_run(&query, err);
}

/* It belongs to this process from the beginning: another that looks for orphans would take it otherwise. */
static lt_status insert_row(struct sqlite3 *sql, const create_job *job, int64_t conversation, lt_err *err) {
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_lease_own(own, err));
  lt_query query = lt_query_on(sql,
                               "INSERT INTO prompts(id, conversation, state, model, mode, visible, created_at, owner, "
                               "input) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  lt_query_text(&query, job->row.id);
  lt_query_int(&query, conversation);
  lt_query_text(&query, lt_str_of(state_names[LT_PROMPT_RUNNING]));
  lt_query_text(&query, job->row.model);
  lt_query_text(&query, job->row.mode);
  lt_query_int(&query, job->row.visible);
  lt_query_text(&query, lt_str_of(job->created_at));
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, job->row.input);
  return lt_query_run(&query, err);
}

static lt_status create(struct sqlite3 *sql, void *arg, lt_err *err) {
  const create_job *job = arg;
  int64_t conversation = 0;
  LT_TRY(find_conversation(sql, &job->row, &conversation, err));
  LT_TRY(check_new(sql, job->row.id, err));
  if (conversation != 0) {
    LT_TRY(check_idle(sql, conversation, err));
    LT_TRY(use_conversation(sql, conversation, job->created_at, err));
  } else {
    LT_TRY(insert_conversation(sql, job, &conversation, err));
  }
  return insert_row(sql, job, conversation, err);
}

lt_status lt_store_prompt_create(lt_db *db, const lt_prompt_row *row, lt_err *err) {
  LT_TRY(check_id("prompt", row->id, err));
  LT_TRY(check_id("conversation", row->conversation, err));
  create_job job = {.row = *row};
  lt_prompt_row *r = &job.row;
  lt_str *texts[] = {&r->id, &r->user, &r->conversation, &r->model, &r->mode, &r->input};
  char *copy = NULL;
  LT_TRY(lt_parts_copy(texts, sizeof texts / sizeof texts[0], &copy, err));
  lt_clock_stamp(job.created_at);
  lt_status status = lt_db_run(db, LT_DB_DURABLE, create, &job, err);
  lt_mem_free(copy);
  return status;
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

typedef struct change_job {
  lt_str id;
  lt_prompt_state state; /* set_state only */
  lt_str usage, error;
  uint32_t number; /* put_output only */
  lt_str json;
  char now[LT_CLOCK_STAMP_BYTES];
} change_job;

/* What is not JSON would spoil all that it is read with. */
static lt_status check_json(const char *what, lt_str json, lt_err *err) {
  lt_err why = LT_ERR_INIT;
  lt_status status = lt_json_check(json, &why);
  if (status == LT_OK) {
    return LT_OK;
  }
  return lt_fail(err, status == LT_E_SYNTAX ? LT_E_INVALID : status, "a prompt's %s must be JSON: %s", what,
                 lt_err_msg(&why));
}

/* Why no row could be changed. */
static lt_status fail_change(struct sqlite3 *sql, const change_job *job, lt_err *err) {
  lt_query query = lt_query_on(sql, "SELECT state FROM prompts WHERE id = ?");
  lt_query_text(&query, job->id);
  lt_status status = LT_OK;
  if (lt_query_row(&query)) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s has ended (%.*s): it cannot be %s again", LT_STR_ARG(job->id),
                     LT_STR_ARG(lt_query_get(&query, 0)), state_names[job->state]);
  } else {
    status = no_prompt(job->id, err);
  }
  lt_status read = lt_query_end(&query, err);
  return read == LT_OK ? status : read;
}

static lt_status update_state(struct sqlite3 *sql, const change_job *job, bool ends, int64_t *ret_conversation,
                              lt_err *err) {
  lt_query query = lt_query_on(sql,
                               "UPDATE prompts SET state = ?, usage = ifnull(nullif(?, ''), usage),"
                               " error = nullif(?, ''), completed_at = ifnull(completed_at, nullif(?, ''))"
                               " WHERE id = ? AND (completed_at IS NULL OR ?) RETURNING conversation");
  lt_query_text(&query, lt_str_of(state_names[job->state]));
  lt_query_text(&query, job->usage);
  lt_query_text(&query, job->error);
  lt_query_text(&query, ends ? lt_str_of(job->now) : LT_STR_NULL);
  lt_query_text(&query, job->id);
  lt_query_int(&query, ends);
  *ret_conversation = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  lt_query_row(&query); /* to its end, where it counts as done */
  return lt_query_end(&query, err);
}

/* Nobody runs it any more. */
static lt_status end_prompt(struct sqlite3 *sql, const change_job *job, int64_t conversation, lt_err *err) {
  lt_query query = lt_query_on(sql, "UPDATE prompts SET owner = NULL WHERE id = ?");
  lt_query_text(&query, job->id);
  LT_TRY(lt_query_run(&query, err));
  return use_conversation(sql, conversation, job->now, err);
}

static lt_status set_state(struct sqlite3 *sql, void *arg, lt_err *err) {
  const change_job *job = arg;
  bool ends = is_end(job->state);
  int64_t conversation = 0;
  if (job->usage.n > 0) {
    LT_TRY(check_json("usage", job->usage, err));
  }
  LT_TRY(update_state(sql, job, ends, &conversation, err));
  if (conversation == 0) {
    return fail_change(sql, job, err);
  }
  return ends ? end_prompt(sql, job, conversation, err) : LT_OK;
}

static lt_status put_output(struct sqlite3 *sql, void *arg, lt_err *err) {
  const change_job *job = arg;
  LT_TRY(check_json("output", job->json, err));
  lt_query query = lt_query_on(sql,
                               "INSERT INTO prompt_outputs(prompt, number, json)"
                               " SELECT number, ?, ? FROM prompts WHERE id = ?"
                               " ON CONFLICT DO UPDATE SET json = excluded.json");
  lt_query_int(&query, job->number);
  lt_query_text(&query, job->json);
  lt_query_text(&query, job->id);
  LT_TRY(lt_query_run(&query, err));
  return sqlite3_changes(sql) > 0 ? LT_OK : no_prompt(job->id, err);
}

static lt_status run_change(lt_db *db, lt_db_work work, change_job *job, lt_err *err) LT_YIELDS {
  lt_str *texts[] = {&job->id, &job->usage, &job->error, &job->json};
  char *copy = NULL;
  LT_TRY(lt_parts_copy(texts, sizeof texts / sizeof texts[0], &copy, err));
  lt_clock_stamp(job->now);
  lt_status status = lt_db_run(db, LT_DB_LAZY, work, job, err);
  lt_mem_free(copy);
  return status;
}

lt_status lt_store_prompt_set_state(lt_db *db, lt_str id, lt_prompt_state state, lt_str usage, lt_str error,
                                    lt_err *err) {
  change_job job = {.id = id, .state = state, .usage = usage, .error = error};
  return run_change(db, set_state, &job, err);
}

lt_status lt_store_prompt_put_output(lt_db *db, lt_str id, uint32_t number, lt_str json, lt_err *err) {
  change_job job = {.id = id, .number = number, .json = json};
  return run_change(db, put_output, &job, err);
}

/* --- Several at once ---------------------------------------------------------------------------------------------- */

typedef struct update_job {
  change_job change; /* its id, now, and the state if `changes` */
  bool changes;
  lt_prompt_output *outputs;
  size_t count;
} update_job;

static lt_status update(struct sqlite3 *sql, void *arg, lt_err *err) {
  const update_job *job = arg;
  for (size_t i = 0; i < job->count; i++) {
    change_job one = {.id = job->change.id, .number = job->outputs[i].number, .json = job->outputs[i].json};
    LT_TRY(put_output(sql, &one, err));
  }
  change_job change = job->change;
  return job->changes ? set_state(sql, &change, err) : LT_OK;
}

/* The texts of all outputs and of the change, in one piece of memory. */
static lt_status copy_update(update_job *job, lt_str **texts, char **ret_memory, lt_err *err) {
  size_t n = 0;
  texts[n++] = &job->change.id;
  texts[n++] = &job->change.usage;
  texts[n++] = &job->change.error;
  for (size_t i = 0; i < job->count; i++) {
    texts[n++] = &job->outputs[i].json;
  }
  return lt_parts_copy(texts, n, ret_memory, err);
}

static lt_status run_update(lt_db *db, update_job *job, lt_str **texts, lt_err *err) LT_YIELDS {
  char *copy = NULL;
  LT_TRY(copy_update(job, texts, &copy, err));
  lt_clock_stamp(job->change.now);
  lt_status status = lt_db_run(db, LT_DB_LAZY, update, job, err);
  lt_mem_free(copy);
  return status;
}

lt_status lt_store_prompt_update(lt_db *db, lt_str id, const lt_prompt_output *outputs, size_t count,
                                 const lt_prompt_change *change, lt_err *err) {
  update_job job = {.change = {.id = id}, .changes = change != NULL, .count = count};
  if (change != NULL) {
    job.change.state = change->state;
    job.change.usage = change->usage;
    job.change.error = change->error;
  }
  lt_str **texts = lt_mem_zalloc(count + 3, sizeof *texts);
  job.outputs = lt_mem_zalloc(count, sizeof *job.outputs);
  lt_status status = LT_OK;
  if (texts == NULL || job.outputs == NULL) {
    status = lt_fail(err, LT_E_NOMEM, "no memory for %zu outputs of a prompt", count);
  } else {
    for (size_t i = 0; i < count; i++) {
      job.outputs[i] = outputs[i];
    }
    status = run_update(db, &job, texts, err);
  }
  lt_mem_free(job.outputs);
  lt_mem_free(texts);
  return status;
}
