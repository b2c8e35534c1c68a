/* Leases of prompts: which process runs a prompt, and which prompts no living process has (lease.h). */
#include <sqlite3.h>

#include "store/lease.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/prompt_read.h"
#include "store/sqlite/query.h"
#include "store/store_prompts.h"

/* --- Claiming and releasing --------------------------------------------------------------------------------------- */
/* Whether this process may take the prompt: not when the prompt has ended, or another living process has it. */
static lt_status prompt_owner_check(struct sqlite3 *sql, lt_str id, lt_str own, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT completed_at IS NOT NULL, owner, state FROM prompts WHERE id = ?");
  lt_query_text(&query, id);
  lt_status status = LT_OK;
  if (!lt_query_row(&query)) {
    LT_TRY(lt_query_end(&query, err));
    return lt_prompt_not_found(id, err);
  }
  lt_str owner = lt_query_get(&query, 1);
  if (lt_query_get_int(&query, 0) != 0) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s has ended (%.*s)", LT_STR_ARG(id),
                     LT_STR_ARG(lt_query_get(&query, 2)));
  } else if (owner.n > 0 && !lt_str_eq(owner, own) && lt_lease_lives(owner)) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s runs in another process, %ld: wait for it, or end it",
                     LT_STR_ARG(id), lt_lease_pid(owner));
  }
  lt_status read = lt_query_end(&query, err);
  return read == LT_OK ? status : read;
}

static lt_status prompt_owner_claim(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_str *id = arg;
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_lease_own(own, err));
  LT_TRY(prompt_owner_check(sql, *id, lt_str_of(own), err));
  lt_query query = lt_query_prepare(sql, "UPDATE prompts SET owner = ? WHERE id = ?");
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, *id);
  return lt_query_run(&query, err);
}

static lt_status prompt_owner_release(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_str *id = arg;
  char own[LT_LEASE_BYTES];
  LT_TRY(lt_lease_own(own, err));
  lt_query query = lt_query_prepare(sql, "UPDATE prompts SET owner = nullif(owner, ?) WHERE id = ?");
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, *id);
  LT_TRY(lt_query_run(&query, err));
  return sqlite3_changes(sql) > 0 ? LT_OK : lt_prompt_not_found(*id, err);
}

lt_status lt_store_prompt_claim(lt_store *db, lt_str id, lt_err *err) {
  return lt_db_job_run(db, LT_DB_LAZY, prompt_owner_claim, &id, (lt_str *[]){&id}, 1, err);
}

lt_status lt_store_prompt_release(lt_store *db, lt_str id, lt_err *err) {
  return lt_db_job_run(db, LT_DB_LAZY, prompt_owner_release, &id, (lt_str *[]){&id}, 1, err);
}

/* --- Origins ------------------------------------------------------------------------------------------------------ */
static lt_status prompt_owner_select_origin(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, "SELECT origin FROM prompts WHERE id = ?");
  lt_query_text(&query, job->id);
  if (lt_query_row(&query)) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
  }
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_prompt_origin(lt_store *db, lt_str id, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = id, .out = out};
  return lt_db_job_read(db, prompt_owner_select_origin, &job, err);
}

typedef struct origin_job {
  lt_str id, origin;
} origin_job;

static lt_status prompt_owner_update_origin(struct sqlite3 *sql, void *arg, lt_err *err) {
  const origin_job *job = arg;
  lt_query query = lt_query_prepare(sql, "UPDATE prompts SET origin = ? WHERE id = ?");
  lt_query_text(&query, job->origin);
  lt_query_text(&query, job->id);
  return lt_query_run(&query, err);
}

lt_status lt_store_prompt_set_origin(lt_store *db, lt_str id, lt_str origin, lt_err *err) {
  origin_job job = {.id = id, .origin = origin};
  lt_str *texts[] = {&job.id, &job.origin};
  return lt_db_job_run(db, LT_DB_LAZY, prompt_owner_update_origin, &job, texts, 2, err);
}

/* --- Orphans ------------------------------------------------------------------------------------------------------ */
/* The result for the last owner: most open prompts have the same owner. */
typedef struct owner_verdict {
  char owner[LT_LEASE_BYTES];
  bool lives;
} owner_verdict;

static bool prompt_owner_lives(owner_verdict *last, lt_str owner) {
  if (owner.n == 0 || owner.n >= sizeof last->owner) {
    return false;
  }
  if (!lt_str_eqc(owner, last->owner)) {
    memcpy(last->owner, owner.p, owner.n);
    last->owner[owner.n] = '\0';
    last->lives = lt_lease_lives(owner);
  }
  return last->lives;
}

static lt_status prompt_owner_select_orphans(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  owner_verdict last = {.lives = false};
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, "SELECT id, owner FROM prompts WHERE completed_at IS NULL ORDER BY number");
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    if (!prompt_owner_lives(&last, lt_query_get(&query, 1))) {
      lt_json_put_str(&w, lt_query_get(&query, 0));
    }
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_prompt_orphans(lt_store *db, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.out = out};
  return lt_db_job_read(db, prompt_owner_select_orphans, &job, err);
}

static void prompt_owner_put_orphan(lt_json_writer *w, const lt_query *query) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, lt_query_get(query, 1));
  lt_json_key(w, "conversationId");
  lt_json_put_str(w, lt_query_get(query, 2));
  lt_json_key(w, "state");
  lt_json_put_str(w, lt_query_get(query, 3));
  lt_json_end_object(w);
}

static lt_status prompt_owner_select_orphans_of(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  owner_verdict last = {.lives = false};
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql,
                                    "SELECT p.owner, p.id, c.id, p.state FROM prompts p JOIN conversations c"
                                    " ON c.number = p.conversation WHERE p.completed_at IS NULL AND c.user = ?"
                                    " AND ? IN ('', c.id) ORDER BY p.number");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    if (!prompt_owner_lives(&last, lt_query_get(&query, 0))) {
      prompt_owner_put_orphan(&w, &query);
    }
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_prompt_orphans_of(lt_store *db, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = conversation, .out = out};
  return lt_db_job_read(db, prompt_owner_select_orphans_of, &job, err);
}
