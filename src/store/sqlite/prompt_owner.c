/* Leases of prompts: which process runs a prompt, and which prompts no living process has (lease.h). */
#include "store/sqlite/prompt_owner.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/prompt_read.h"
#include "store/sqlite/query.h"
#include "store/store_prompts.h"
#include "store/sqlite/sqlite_open.h"

/* --- Heartbeats --------------------------------------------------------------------------------------------------- */
static int64_t prompt_owner_now_ms(void) {
  return (int64_t)(lt_clock_wall_us() / 1000);
}

static lt_status prompt_owner_beat(struct sqlite3 *sql, lt_str own, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "INSERT INTO owner_beats(owner, beat_ms) VALUES(?, ?)"
                                    " ON CONFLICT DO UPDATE SET beat_ms = excluded.beat_ms");
  lt_query_text(&query, own);
  lt_query_int(&query, prompt_owner_now_ms());
  return lt_query_run(&query, err);
}

lt_status lt_prompt_owner_sign(struct sqlite3 *sql, char ret_own[LT_LEASE_BYTES], lt_err *err) {
  LT_TRY(lt_lease_own(ret_own, err));
  return prompt_owner_beat(sql, lt_str_of(ret_own), err);
}

static lt_status prompt_owner_beat_once(struct sqlite3 *sql, void *arg, lt_err *err) {
  char own[LT_LEASE_BYTES];
  (void)arg;
  return lt_prompt_owner_sign(sql, own, err);
}

lt_status lt_store_beat(lt_store *db, lt_err *err) {
  return lt_db_run(db, LT_DB_LAZY, prompt_owner_beat_once, NULL, err);
}

/* Processes that ended long ago, and own nothing. */
static lt_status prompt_owner_forget_beats(struct sqlite3 *sql, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "DELETE FROM owner_beats WHERE beat_ms < ? AND owner NOT IN"
                                    " (SELECT owner FROM prompts WHERE completed_at IS NULL AND owner IS NOT NULL)");
  lt_query_int(&query, prompt_owner_now_ms() - LT_LEASE_FORGET_MS);
  return lt_query_run(&query, err);
}

/* Whether a process elsewhere has shown itself lately. Its clock may be ahead of this one. */
static bool prompt_owner_beats(int64_t beat_ms) {
  int64_t age_ms = prompt_owner_now_ms() - beat_ms;
  return age_ms < LT_LEASE_GONE_MS && age_ms > -LT_LEASE_GONE_MS;
}

/* --- Claiming and releasing --------------------------------------------------------------------------------------- */
/* An owner elsewhere whose heartbeat looks old is watched for a while before its prompt is taken: a clock that was set
 * makes a living process look dead. */
typedef struct prompt_claim {
  lt_str id;
  char watched[LT_LEASE_BYTES]; /* the owner; empty: none */
  int64_t watched_beat_ms;
  bool is_claimed;
} prompt_claim;

static lt_status prompt_owner_fail_busy(lt_str id, lt_str owner, int64_t beat_ms, lt_err *err) {
  LT_AUTO_BUF(name, LT_KIB);
  lt_lease_put_name(owner, &name);
  if (lt_lease_state_of(owner) == LT_LEASE_ELSEWHERE) {
    int64_t age_ms = prompt_owner_now_ms() - beat_ms;
    lt_buf_printf(&name, " (last sign of life %lld s ago)", (long long)(age_ms > 0 ? age_ms / 1000 : 0));
  }
  return lt_fail(err, LT_E_INVALID, "the prompt %.*s runs in another process, %.*s: wait for it, or lathe cancel %.*s",
                 LT_STR_ARG(id), LT_STR_ARG(lt_buf_view(&name)), LT_STR_ARG(id));
}

/* Whether the owner still has the prompt. `*ret_watch`: it seems to be gone, and is to be watched first. */
static bool prompt_owner_has(const prompt_claim *claim, lt_str owner, int64_t beat_ms, bool *ret_watch) {
  switch (lt_lease_state_of(owner)) {
    case LT_LEASE_GONE:
      return false;
    case LT_LEASE_LIVES:
      return true;
    case LT_LEASE_ELSEWHERE:
      break;
  }
  bool was_watched = lt_str_eqc(owner, claim->watched);
  if (was_watched) {
    return beat_ms != claim->watched_beat_ms;
  }
  *ret_watch = !prompt_owner_beats(beat_ms);
  return !*ret_watch;
}

static void prompt_owner_watch(prompt_claim *claim, lt_str owner, int64_t beat_ms) {
  snprintf(claim->watched, sizeof claim->watched, "%.*s", LT_STR_ARG(owner));
  claim->watched_beat_ms = beat_ms;
}

/* Whether this process may take the prompt: not when the prompt has ended, or another living process has it. */
static lt_status prompt_owner_check(struct sqlite3 *sql, prompt_claim *claim, lt_str own, bool *ret_watch,
                                    lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT completed_at IS NOT NULL, p.owner, state, ifnull(beat_ms, 0)"
                                    " FROM prompts p LEFT JOIN owner_beats b ON b.owner = p.owner WHERE id = ?");
  lt_query_text(&query, claim->id);
  lt_status status = LT_OK;
  if (!lt_query_row(&query)) {
    LT_TRY(lt_query_end(&query, err));
    return lt_prompt_not_found(claim->id, err);
  }
  lt_str owner = lt_query_get(&query, 1);
  int64_t beat_ms = lt_query_get_int(&query, 3);
  if (lt_query_get_int(&query, 0) != 0) {
    status = lt_fail(err, LT_E_INVALID, "the prompt %.*s has ended (%.*s)", LT_STR_ARG(claim->id),
                     LT_STR_ARG(lt_query_get(&query, 2)));
  } else if (owner.n > 0 && !lt_str_eq(owner, own) && prompt_owner_has(claim, owner, beat_ms, ret_watch)) {
    status = prompt_owner_fail_busy(claim->id, owner, beat_ms, err);
  } else if (*ret_watch) {
    prompt_owner_watch(claim, owner, beat_ms);
  }
  lt_status read = lt_query_end(&query, err);
  return lt_status_first(read, status);
}

static lt_status prompt_owner_claim(struct sqlite3 *sql, void *arg, lt_err *err) {
  prompt_claim *claim = arg;
  char own[LT_LEASE_BYTES];
  bool should_watch = false;
  claim->is_claimed = false;
  LT_TRY(lt_lease_own(own, err));
  LT_TRY(prompt_owner_check(sql, claim, lt_str_of(own), &should_watch, err));
  if (should_watch) {
    return LT_OK;
  }
  LT_TRY(prompt_owner_forget_beats(sql, err));
  LT_TRY(prompt_owner_beat(sql, lt_str_of(own), err));
  lt_query query = lt_query_prepare(sql, "UPDATE prompts SET owner = ? WHERE id = ?");
  lt_query_text(&query, lt_str_of(own));
  lt_query_text(&query, claim->id);
  claim->is_claimed = true;
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
  return lt_sqlite.changes(sql) > 0 ? LT_OK : lt_prompt_not_found(*id, err);
}

lt_status lt_store_prompt_claim(lt_store *db, lt_str id, lt_err *err) {
  char copy[LT_STORE_ID_BYTES + 1];
  snprintf(copy, sizeof copy, "%.*s", LT_STR_ARG(id));
  prompt_claim claim = {.id = lt_str_of(copy)};
  for (;;) {
    LT_TRY(lt_db_run(db, LT_DB_LAZY, prompt_owner_claim, &claim, err));
    if (claim.is_claimed) {
      return LT_OK;
    }
    lt_loop_sleep(lt_db_loop(db), LT_LEASE_WATCH_MS);
  }
}

/* --- Prompts that were taken over --------------------------------------------------------------------------------- */
lt_status lt_prompt_owner_find_own(struct sqlite3 *sql, lt_str run, lt_prompt_rows *ret_rows, lt_err *err) {
  char own[LT_LEASE_BYTES];
  lt_prompt_rows rows = {.number = 0};
  lt_status status = LT_OK;
  lt_str id = lt_str_sub(run, 0, LT_STORE_ID_BYTES);
  if (lt_connection_cache_owns(sql, id, ret_rows)) {
    return LT_OK;
  }
  LT_TRY(lt_lease_own(own, err));
  lt_query query =
      lt_query_prepare(sql, "SELECT ifnull(owner, ended_by), number, conversation FROM prompts WHERE id = ?");
  lt_query_text(&query, id);
  if (lt_query_row(&query)) {
    rows = (lt_prompt_rows){.number = lt_query_get_int(&query, 1), .conversation = lt_query_get_int(&query, 2)};
    lt_str owner = lt_query_get(&query, 0);
    if (owner.n > 0 && !lt_str_eqc(owner, own)) {
      status = lt_fail(err, LT_E_CLOSED,
                       "another process has taken the prompt %.*s over, as this one seemed to be gone", LT_STR_ARG(id));
    }
  }
  lt_status read = lt_query_end(&query, err);
  LT_TRY(lt_status_first(read, status));
  lt_connection_cache_note_own(sql, id, &rows);
  *ret_rows = rows;
  return LT_OK;
}

lt_status lt_prompt_owner_check_own(struct sqlite3 *sql, lt_str run, lt_err *err) {
  lt_prompt_rows rows;
  return lt_prompt_owner_find_own(sql, run, &rows, err);
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

static bool prompt_owner_lives(owner_verdict *last, lt_str owner, int64_t beat_ms) {
  if (owner.n == 0 || owner.n >= sizeof last->owner) {
    return false;
  }
  if (!lt_str_eqc(owner, last->owner)) {
    memcpy(last->owner, owner.p, owner.n);
    last->owner[owner.n] = '\0';
    lt_lease_state state = lt_lease_state_of(owner);
    last->lives = state == LT_LEASE_LIVES || (state == LT_LEASE_ELSEWHERE && prompt_owner_beats(beat_ms));
  }
  return last->lives;
}

static lt_status prompt_owner_select_orphans(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  owner_verdict last = {.lives = false};
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql,
                                    "SELECT id, p.owner, ifnull(beat_ms, 0) FROM prompts p LEFT JOIN owner_beats b"
                                    " ON b.owner = p.owner WHERE completed_at IS NULL ORDER BY number");
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    if (!prompt_owner_lives(&last, lt_query_get(&query, 1), lt_query_get_int(&query, 2))) {
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
  lt_json_key(w, "userId");
  lt_json_put_str(w, lt_query_get(query, 5));
  lt_json_key(w, "state");
  lt_json_put_str(w, lt_query_get(query, 3));
  lt_json_end_object(w);
}

static lt_status prompt_owner_select_orphans_of(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  owner_verdict last = {.lives = false};
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql,
                                    "SELECT p.owner, p.id, c.id, p.state, ifnull(b.beat_ms, 0), c.user FROM prompts p"
                                    " JOIN conversations c ON c.number = p.conversation"
                                    " LEFT JOIN owner_beats b ON b.owner = p.owner WHERE p.completed_at IS NULL AND"
                                    " ? IN ('', c.user) AND ? IN ('', c.id) ORDER BY p.number");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    if (!prompt_owner_lives(&last, lt_query_get(&query, 0), lt_query_get_int(&query, 4))) {
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
