/* Finding a prompt by its name, and copying it with all that is recorded of it into another database. */
#include "store/store_prompts.h"

#include <stdio.h>

#include "base/mem.h"
#include "store/sqlite/connection_cache.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_open.h"

/* --- Finding ------------------------------------------------------------------------------------------------------ */
typedef struct prompt_find_job {
  lt_str user, wanted;
  char id[LT_STORE_ID_BYTES + 1];
  char others[3 * (LT_STORE_ID_BYTES + 2) + 1]; /* ", ID" for each further one */
  int64_t found;
} prompt_find_job;

#define FIND   "SELECT p.id FROM prompts p JOIN conversations c ON c.number = p.conversation WHERE c.user = ?1 AND "
#define NEWEST " ORDER BY p.number DESC LIMIT 4"

static lt_status prompt_find_select(struct sqlite3 *sql, const char *text, prompt_find_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql, text);
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->wanted);
  while (lt_query_row(&query)) {
    if (job->found++ == 0) {
      snprintf(job->id, sizeof job->id, "%.*s", LT_STR_ARG(lt_query_get(&query, 0)));
    } else {
      size_t used = strlen(job->others);
      snprintf(job->others + used, sizeof job->others - used, ", %.*s", LT_STR_ARG(lt_query_get(&query, 0)));
    }
  }
  return lt_query_end(&query, err);
}

static lt_status prompt_find(struct sqlite3 *sql, void *arg, lt_err *err) {
  prompt_find_job *job = arg;
  job->found = 0;
  job->others[0] = '\0';
  LT_TRY(prompt_find_select(sql, FIND "(?2 = 'last' OR substr(p.id, 1, length(?2)) = ?2)" NEWEST, job, err));
  return job->found > 0 ? LT_OK
                        : prompt_find_select(sql,
                                             FIND
                                             "substr(c.id, 1, length(?2)) = ?2 AND p.number ="
                                             " (SELECT max(number) FROM prompts WHERE conversation = c.number)" NEWEST,
                                             job, err);
}

lt_status lt_store_prompt_find(lt_store *db, lt_str user, lt_str wanted, char ret_id[LT_STORE_ID_BYTES + 1],
                               lt_err *err) {
  prompt_find_job job = {.user = user, .wanted = wanted};
  lt_str *texts[] = {&job.user, &job.wanted};
  lt_str shown = lt_str_sub(wanted, 0, LT_STORE_ID_BYTES);
  bool last = lt_str_eqc(wanted, "last");
  lt_status status = lt_db_job_run(db, LT_DB_READ, prompt_find, &job, texts, 2, err);
  LT_TRY(status);
  if (job.found == 0) {
    return last ? lt_fail(err, LT_E_NOTFOUND, "there is no prompt yet")
                : lt_fail(err, LT_E_NOTFOUND, "no prompt and no conversation begins with \"%.*s\"", LT_STR_ARG(shown));
  }
  if (job.found > 1 && !last) {
    return lt_fail(err, LT_E_INVALID, "several begin with \"%.*s\": say more of the id (%s%s%s)", LT_STR_ARG(shown),
                   job.id, job.others, job.found > 3 ? ", ..." : "");
  }
  memcpy(ret_id, job.id, sizeof job.id);
  return LT_OK;
}

/* --- Copying ------------------------------------------------------------------------------------------------------ */
/* ?1 is the prompt's id, ?2 the id and a slash, ?3 the id and the character after a slash. Later prompts are left
 * out. */
#define PROMPT       "(SELECT number FROM prompts WHERE id = ?1)"
#define CONVERSATION "(SELECT conversation FROM prompts WHERE id = ?1)"
/* What the prompt's model was told of, and the prompt itself. */
#define SEEN                                                  \
  "p.conversation = " CONVERSATION " AND p.number <= " PROMPT \
  " AND (p.id = ?1 OR p.undone_at IS NULL OR p.undone_at >"   \
  " (SELECT created_at FROM prompts WHERE id = ?1))"
#define OF_RUN "(run = ?1 OR (run >= ?2 AND run < ?3))"
static const struct {
  const char *select, *insert;
} prompt_copy_tables[] = {
    {"SELECT number, id, user, created_at, updated_at, title FROM conversations WHERE number = " CONVERSATION,
     "INSERT INTO conversations(number, id, user, created_at, updated_at, title) VALUES(?, ?, ?, ?, ?, ?)"},
    {"SELECT number, id, conversation, iif(id = ?1, 'running', state), model, mode, visible, created_at,"
     " iif(id = ?1, NULL, completed_at), usage, error, input, incomplete, attachments FROM prompts p"
     " WHERE " SEEN,
     "INSERT INTO prompts(number, id, conversation, state, model, mode, visible, created_at, completed_at, usage,"
     " error, input, incomplete, attachments) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
    {"SELECT o.prompt, o.number, o.json FROM prompt_outputs o JOIN prompts p ON p.number = o.prompt"
     " WHERE " SEEN,
     "INSERT INTO prompt_outputs(prompt, number, json) VALUES(?, ?, ?)"},
    {"SELECT run, number, kind, what, time_us, text FROM notes WHERE " OF_RUN,
     "INSERT INTO notes(run, number, kind, what, time_us, text) VALUES(?, ?, ?, ?, ?, ?)"},
    {"SELECT id, run, user, tool, repeatable, started_at, finished_at, status, input, answer, seq, hash,"
     " edited_input FROM calls"
     " WHERE " OF_RUN,
     "INSERT INTO calls(id, run, user, tool, repeatable, started_at, finished_at, status, input, answer, seq, hash,"
     " edited_input) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
    /* lists of tools: notes of the prompt name them */
    {"SELECT hash, used_at, data FROM blobs WHERE hash IN (SELECT json_extract(text, '$.tools') FROM notes"
     " WHERE run = ?1 AND json_valid(text))",
     "INSERT INTO blobs(hash, used_at, data) VALUES(?, ?, ?)"},
};
#define TABLES (sizeof prompt_copy_tables / sizeof prompt_copy_tables[0])

typedef struct prompt_copy_job {
  const char *path;
  char id[LT_STORE_ID_BYTES + 1], from[LT_STORE_ID_BYTES + 2], to[LT_STORE_ID_BYTES + 2];
} prompt_copy_job;

static void prompt_copy_bind(struct sqlite3_stmt *select, const prompt_copy_job *job) {
  const char *const names[] = {job->id, job->from, job->to};
  for (int i = 0; i < lt_sqlite.bind_parameter_count(select); i++) {
    lt_sqlite.bind_text(select, i + 1, names[i], -1, SQLITE_STATIC);
  }
}

/* SQLite's code. */
static int prompt_copy_rows(struct sqlite3_stmt *select, struct sqlite3_stmt *insert) {
  int rc;
  while ((rc = lt_sqlite.step(select)) == SQLITE_ROW) {
    for (int i = 0; i < lt_sqlite.column_count(select); i++) {
      lt_sqlite.bind_value(insert, i + 1, lt_sqlite.column_value(select, i));
    }
    rc = lt_sqlite.step(insert);
    if (rc != SQLITE_DONE) {
      return rc;
    }
    lt_sqlite.reset(insert);
  }
  return rc;
}

static lt_status prompt_copy_table(struct sqlite3 *from, struct sqlite3 *to, size_t table, const prompt_copy_job *job,
                                   lt_err *err) {
  struct sqlite3_stmt *select = NULL, *insert = NULL;
  int rc = lt_sqlite.prepare_v2(from, prompt_copy_tables[table].select, -1, &select, NULL);
  if (rc == SQLITE_OK) {
    prompt_copy_bind(select, job);
    rc = lt_sqlite.prepare_v2(to, prompt_copy_tables[table].insert, -1, &insert, NULL);
  }
  if (rc == SQLITE_OK) {
    rc = prompt_copy_rows(select, insert);
  }
  lt_sqlite.finalize(select);
  lt_sqlite.finalize(insert);
  return rc == SQLITE_DONE ? LT_OK : lt_query_fail(lt_sqlite.errcode(from) == SQLITE_OK ? to : from, rc, err);
}

static lt_status prompt_copy_all(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_copy_job *job = arg;
  struct sqlite3 *from = NULL;
  int rc = lt_sqlite.open_v2(job->path, &from, SQLITE_OPEN_READONLY, NULL);
  lt_status status = rc == SQLITE_OK ? LT_OK : lt_query_fail_at(job->path, rc, 0, lt_sqlite.errmsg(from), err);
  if (status == LT_OK) {
    lt_sqlite.busy_timeout(from, LT_DB_BUSY_MS);
  }
  for (size_t i = 0; status == LT_OK && i < TABLES; i++) {
    status = prompt_copy_table(from, sql, i, job, err);
  }
  lt_connection_cache_forget(sql); /* it may know that there was no such prompt */
  lt_sqlite.close(from);
  return status;
}

lt_status lt_store_prompt_copy(lt_store *to, lt_store *from, lt_str id, lt_err *err) {
  prompt_copy_job job = {.path = lt_store_path(from)};
  snprintf(job.id, sizeof job.id, "%.*s", LT_STR_ARG(id));
  snprintf(job.from, sizeof job.from, "%s/", job.id);
  snprintf(job.to, sizeof job.to, "%s0", job.id); /* '0' comes after '/' */
  return lt_db_run(to, LT_DB_LAZY, prompt_copy_all, &job, err);
}
