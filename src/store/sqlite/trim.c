/* Removing what is old, some rows at a time. */
#include <stdio.h>

#include "base/limits.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_upkeep.h"
#include "store/sqlite/sqlite_open.h"

const char *lt_store_kind_name(lt_store_kind kind) {
  static const char *const names[] = {
      [LT_STORE_CONVERSATIONS] = "conversations", [LT_STORE_CALLS] = "calls", [LT_STORE_ARTIFACTS] = "artifacts"};
  return names[kind];
}

/* --- What is old -------------------------------------------------------------------------------------------------- */
/* ?1 is the stamp that older rows are below; for notes, whose runs are named after the time, the beginning of such a
 * name. The name of a run begins with its prompt's id. */
#define OPEN       "(SELECT id FROM prompts WHERE completed_at IS NULL)"
#define IS_OF_OPEN "substr(run, 1, 32) IN " OPEN
#define OLD_CALLS  " FROM calls WHERE started_at < ?1 AND NOT " IS_OF_OPEN
#define OLD_NOTES  " FROM notes WHERE run < ?1 AND NOT " IS_OF_OPEN
#define OLD_BLOBS                                 \
  " FROM blobs WHERE used_at < substr(?1, 1, 10)" \
  " AND used_at < ifnull((SELECT min(substr(created_at, 1, 10)) FROM prompts WHERE completed_at IS NULL), '9')"
/* An artifact of an unknown run may belong to any conversation with an open prompt that had begun by then. */
#define OLD_ARTIFACTS                                                                                  \
  " FROM artifacts WHERE created_at < ?1 AND run NOT IN (SELECT q.id FROM prompts p JOIN prompts q"    \
  " ON q.conversation = p.conversation WHERE p.completed_at IS NULL) AND (run <> '' OR created_at <"   \
  " ifnull((SELECT min(c.created_at) FROM prompts p JOIN conversations c ON c.number = p.conversation" \
  " WHERE p.completed_at IS NULL), '9'))"
#define OLD_CONVERSATIONS                                    \
  " FROM conversations WHERE updated_at < ?1 AND NOT EXISTS" \
  " (SELECT 1 FROM prompts WHERE conversation = conversations.number AND completed_at IS NULL)"

typedef struct trim_job {
  lt_store_ages ages;
  size_t max_rows;
  lt_store_trimmed trimmed;
  char stamp[64], run[64]; /* of the kind that is being removed */
} trim_job;

static void trim_copy_text(const lt_query *query, int column, char *to, size_t size) {
  snprintf(to, size, "%.*s", LT_STR_ARG(lt_query_get(query, column)));
}

static lt_status trim_set_time(struct sqlite3 *sql, trim_job *job, lt_store_kind kind, lt_err *err) {
  char ago[32];
  snprintf(ago, sizeof ago, "-%lld days", (long long)job->ages.days[kind]);
  lt_query query = lt_query_prepare(sql,
                                    "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?1),"
                                    " printf('%012x', strftime('%s', 'now', ?1) * 1000)");
  lt_query_text(&query, lt_str_of(ago));
  if (lt_query_row(&query)) {
    trim_copy_text(&query, 0, job->stamp, sizeof job->stamp);
    trim_copy_text(&query, 1, job->run, sizeof job->run);
  }
  return lt_query_end(&query, err);
}

static size_t trim_room(const trim_job *job) {
  return job->trimmed.rows < job->max_rows ? job->max_rows - (size_t)job->trimmed.rows : 0;
}

/* Runs a DELETE whose ?1 is a text and whose ?2 is the greatest number of rows. */
static lt_status trim_delete(struct sqlite3 *sql, trim_job *job, const char *text, lt_str first, uint64_t *ret_count,
                             lt_err *err) {
  *ret_count = 0;
  if (trim_room(job) == 0) {
    return LT_OK;
  }
  lt_query query = lt_query_prepare(sql, text);
  lt_query_text(&query, first);
  lt_query_int(&query, (int64_t)trim_room(job));
  LT_TRY(lt_query_run(&query, err));
  *ret_count = (uint64_t)lt_sqlite.changes(sql);
  job->trimmed.rows += *ret_count;
  return LT_OK;
}

/* --- Calls and artifacts ------------------------------------------------------------------------------------------ */
static lt_status trim_calls(struct sqlite3 *sql, trim_job *job, lt_err *err) {
  uint64_t calls, ignored;
  LT_TRY(trim_delete(sql, job, "DELETE FROM calls WHERE id IN (SELECT id" OLD_CALLS " ORDER BY started_at LIMIT ?2)",
                     lt_str_of(job->stamp), &calls, err));
  job->trimmed.removed[LT_STORE_CALLS] += calls;
  LT_TRY(trim_delete(sql, job, "DELETE FROM notes WHERE (run, number) IN (SELECT run, number" OLD_NOTES " LIMIT ?2)",
                     lt_str_of(job->run), &ignored, err));
  return trim_delete(sql, job, "DELETE FROM blobs WHERE hash IN (SELECT hash" OLD_BLOBS " LIMIT ?2)",
                     lt_str_of(job->stamp), &ignored, err);
}

/* Large artifacts count as many rows, because each of their pages is written. */
static lt_status trim_artifacts(struct sqlite3 *sql, trim_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql,
      "DELETE FROM artifacts WHERE number IN (SELECT number FROM (SELECT number, bytes,"
      " sum(bytes) OVER (ORDER BY created_at, number) AS sum FROM (SELECT number, bytes, created_at" OLD_ARTIFACTS
      " ORDER BY created_at LIMIT ?2)) WHERE sum - bytes < ?3) RETURNING bytes");
  if (trim_room(job) == 0) {
    return LT_OK;
  }
  lt_query_text(&query, lt_str_of(job->stamp));
  lt_query_int(&query, (int64_t)trim_room(job));
  lt_query_int(&query, (int64_t)LT_TRIM_BYTES);
  while (lt_query_row(&query)) {
    job->trimmed.removed[LT_STORE_ARTIFACTS]++;
    job->trimmed.artifact_bytes += (uint64_t)lt_query_get_int(&query, 0);
    job->trimmed.rows++;
  }
  return lt_query_end(&query, err);
}

/* --- Conversations ------------------------------------------------------------------------------------------------ */
#define OF_RUN " WHERE run >= ?1 AND run < ?1 || '0' AND (run = ?1 OR substr(run, 33, 1) = '/')"

/* Removes what belongs to a prompt, and the prompt when nothing of it is left. */
static lt_status trim_prompt(struct sqlite3 *sql, trim_job *job, lt_str id, lt_err *err) {
  static const char *const texts[] = {
      "DELETE FROM calls WHERE id IN (SELECT id FROM calls" OF_RUN " LIMIT ?2)",
      "DELETE FROM notes WHERE (run, number) IN (SELECT run, number FROM notes" OF_RUN " LIMIT ?2)",
      "DELETE FROM prompt_outputs WHERE (prompt, number) IN (SELECT o.prompt, o.number FROM prompts p"
      " JOIN prompt_outputs o ON o.prompt = p.number WHERE p.id = ?1 LIMIT ?2)",
      "DELETE FROM decisions WHERE id IN (SELECT id FROM decisions WHERE prompt = ?1 LIMIT ?2)",
      "DELETE FROM prompt_shown WHERE prompt IN (SELECT number FROM prompts WHERE id = ?1 LIMIT ?2)",
      "DELETE FROM prompts WHERE number IN (SELECT number FROM prompts WHERE id = ?1 LIMIT ?2)",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0] && trim_room(job) > 0; i++) {
    uint64_t count;
    LT_TRY(trim_delete(sql, job, texts[i], id, &count, err));
    job->trimmed.removed[LT_STORE_CALLS] += i == 0 ? count : 0;
  }
  return LT_OK;
}

/* The first prompt of a conversation; empty: it has none. */
static lt_status trim_find_prompt(struct sqlite3 *sql, int64_t conversation, char id[LT_STORE_ID_BYTES + 1],
                                  lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT id FROM prompts WHERE conversation = ? ORDER BY number LIMIT 1");
  lt_query_int(&query, conversation);
  id[0] = '\0';
  if (lt_query_row(&query)) {
    trim_copy_text(&query, 0, id, LT_STORE_ID_BYTES + 1);
  }
  return lt_query_end(&query, err);
}

static lt_status trim_conversation_row(struct sqlite3 *sql, trim_job *job, int64_t conversation, lt_err *err) {
  lt_query state = lt_query_prepare(
      sql, "DELETE FROM plugin_state WHERE conversation = (SELECT id FROM conversations WHERE number = ?)");
  lt_query_int(&state, conversation);
  LT_TRY(lt_query_run(&state, err));
  lt_query query = lt_query_prepare(sql, "DELETE FROM conversations WHERE number = ?");
  lt_query_int(&query, conversation);
  LT_TRY(lt_query_run(&query, err));
  job->trimmed.rows++;
  job->trimmed.removed[LT_STORE_CONVERSATIONS]++;
  return LT_OK;
}

static lt_status trim_conversation(struct sqlite3 *sql, trim_job *job, int64_t conversation, lt_err *err) {
  char id[LT_STORE_ID_BYTES + 1];
  LT_TRY(trim_find_prompt(sql, conversation, id, err));
  while (id[0] != '\0' && trim_room(job) > 0) {
    LT_TRY(trim_prompt(sql, job, lt_str_of(id), err));
    LT_TRY(trim_find_prompt(sql, conversation, id, err));
  }
  return id[0] == '\0' ? trim_conversation_row(sql, job, conversation, err) : LT_OK;
}

static lt_status trim_find_conversation(struct sqlite3 *sql, const trim_job *job, int64_t *ret_number, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT number" OLD_CONVERSATIONS " ORDER BY updated_at LIMIT 1");
  lt_query_text(&query, lt_str_of(job->stamp));
  *ret_number = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  return lt_query_end(&query, err);
}

static lt_status trim_conversations(struct sqlite3 *sql, trim_job *job, lt_err *err) {
  while (trim_room(job) > 0) {
    int64_t conversation;
    LT_TRY(trim_find_conversation(sql, job, &conversation, err));
    if (conversation == 0) {
      return LT_OK;
    }
    LT_TRY(trim_conversation(sql, job, conversation, err));
  }
  return LT_OK;
}

/* --- One conversation --------------------------------------------------------------------------------------------- */
typedef struct trim_remove_job {
  lt_str user, id;
  trim_job trim; /* only max_rows is used */
  bool is_done;
} trim_remove_job;

static lt_status trim_check_conversation(struct sqlite3 *sql, const trim_remove_job *job, int64_t *ret_number,
                                         lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT number, EXISTS(SELECT 1 FROM prompts WHERE conversation = c.number"
                                    " AND completed_at IS NULL) FROM conversations c WHERE id = ? AND user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  bool found = lt_query_row(&query);
  *ret_number = found ? lt_query_get_int(&query, 0) : 0;
  bool is_open = found && lt_query_get_int(&query, 1) != 0;
  LT_TRY(lt_query_end(&query, err));
  if (is_open) {
    return lt_fail(err, LT_E_INVALID, "a prompt of the conversation %.*s has not ended: wait for it, or cancel it",
                   LT_STR_ARG(job->id));
  }
  return found ? LT_OK
               : lt_fail(err, LT_E_NOTFOUND, "there is no conversation \"%.*s\"",
                         LT_STR_ARG(lt_str_sub(job->id, 0, 2 * LT_STORE_ID_BYTES)));
}

static lt_status trim_remove_run(struct sqlite3 *sql, void *arg, lt_err *err) {
  trim_remove_job *job = arg;
  int64_t number;
  lt_connection_cache_forget(sql);
  job->trim.trimmed = (lt_store_trimmed){.rows = 0};
  LT_TRY(trim_check_conversation(sql, job, &number, err));
  LT_TRY(trim_conversation(sql, &job->trim, number, err));
  job->is_done = job->trim.trimmed.removed[LT_STORE_CONVERSATIONS] > 0;
  return LT_OK;
}

lt_status lt_store_conversation_remove(lt_store *db, lt_str user, lt_str id, size_t max_rows, bool *ret_done,
                                       lt_err *err) {
  trim_remove_job job = {.user = user, .id = id, .trim = {.max_rows = max_rows}};
  LT_TRY(lt_db_job_run(db, LT_DB_LAZY, trim_remove_run, &job, (lt_str *[]){&job.user, &job.id}, 2, err));
  *ret_done = job.is_done;
  return LT_OK;
}

/* --- All kinds ---------------------------------------------------------------------------------------------------- */
static lt_status trim_run(struct sqlite3 *sql, void *arg, lt_err *err) {
  static lt_status (*const parts[])(struct sqlite3 * sql, trim_job * job, lt_err * err) = {
      [LT_STORE_CONVERSATIONS] = trim_conversations,
      [LT_STORE_CALLS] = trim_calls,
      [LT_STORE_ARTIFACTS] = trim_artifacts,
  };
  trim_job *job = arg;
  job->trimmed = (lt_store_trimmed){.rows = 0};
  lt_connection_cache_forget(sql);
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    if (job->ages.days[kind] >= 0) {
      LT_TRY(trim_set_time(sql, job, kind, err));
      LT_TRY(parts[kind](sql, job, err));
    }
  }
  return LT_OK;
}

lt_status lt_store_trim(lt_store *db, const lt_store_ages *ages, size_t max_rows, bool is_patient,
                        lt_store_trimmed *ret_trimmed, lt_err *err) {
  trim_job job = {.ages = *ages, .max_rows = max_rows};
  LT_TRY(lt_db_run(db, is_patient ? LT_DB_LAZY : LT_DB_SPARE, trim_run, &job, err));
  *ret_trimmed = job.trimmed;
  return LT_OK;
}

/* --- Counting ----------------------------------------------------------------------------------------------------- */
static lt_status trim_count_rows(struct sqlite3 *sql, const char *text, const char *first, uint64_t *count,
                                 uint64_t *bytes, lt_err *err) {
  lt_query query = lt_query_prepare(sql, text);
  lt_query_text(&query, lt_str_of(first));
  if (lt_query_row(&query)) {
    *count += (uint64_t)lt_query_get_int(&query, 0);
    *bytes += (uint64_t)lt_query_get_int(&query, 1);
  }
  return lt_query_end(&query, err);
}

static lt_status trim_count(struct sqlite3 *sql, void *arg, lt_err *err) {
  static const char *const texts[] = {
      [LT_STORE_CONVERSATIONS] = "SELECT count(*), 0" OLD_CONVERSATIONS,
      [LT_STORE_CALLS] = "SELECT count(*), 0" OLD_CALLS,
      [LT_STORE_ARTIFACTS] = "SELECT count(*), sum(bytes)" OLD_ARTIFACTS,
  };
  trim_job *job = arg;
  lt_store_trimmed *trimmed = &job->trimmed;
  *trimmed = (lt_store_trimmed){.rows = 0};
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    if (job->ages.days[kind] >= 0) {
      LT_TRY(trim_set_time(sql, job, kind, err));
      LT_TRY(trim_count_rows(sql, texts[kind], job->stamp, &trimmed->removed[kind], &trimmed->artifact_bytes, err));
      trimmed->rows += trimmed->removed[kind];
    }
  }
  return LT_OK;
}

lt_status lt_store_trim_count(lt_store *db, const lt_store_ages *ages, lt_store_trimmed *ret_trimmed, lt_err *err) {
  trim_job job = {.ages = *ages};
  LT_TRY(lt_db_run(db, LT_DB_READ, trim_count, &job, err));
  *ret_trimmed = job.trimmed;
  return LT_OK;
}
