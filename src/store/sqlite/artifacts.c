/* Artifacts: data kept under an id, each for one user. */

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store.h"

_Static_assert(LT_ARTIFACT_ID_BYTES == LT_STORE_ID_BYTES, "artifacts' ids are like others");

typedef struct sqlite_artifacts {
  lt_artifacts base; /* first */
  lt_store *db;
  uint64_t run_bytes, store_bytes; /* ceilings */
} sqlite_artifacts;

/* --- Writing ------------------------------------------------------------------------------------------------------ */

typedef struct artifact_put_job {
  lt_artifact artifact;
  uint64_t run_bytes, store_bytes;
  char id[LT_STORE_ID_BYTES + 1];
  char created_at[LT_CLOCK_STAMP_BYTES];
} artifact_put_job;

static lt_status artifact_read_sum(struct sqlite3 *sql, lt_str run, uint64_t *ret_bytes, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "SELECT bytes FROM artifact_sums WHERE run = ?");
  lt_query_text(&query, run);
  *ret_bytes = lt_query_row(&query) ? (uint64_t)lt_query_get_int(&query, 0) : 0;
  return lt_query_end(&query, err);
}

static lt_status artifact_check_room(struct sqlite3 *sql, const artifact_put_job *job, lt_err *err) {
  uint64_t of_run = 0, of_store = 0, more = job->artifact.data.n;
  if (job->artifact.run.n > 0) {
    LT_TRY(artifact_read_sum(sql, job->artifact.run, &of_run, err));
  }
  if (of_run + more > job->run_bytes) {
    return lt_fail(err, LT_E_LIMIT,
                   "this run has stored %llu bytes of artifacts, and one run may store %llu MiB: store less, or raise "
                   "store.artifactsPerRunMb in the configuration",
                   (unsigned long long)of_run, (unsigned long long)(job->run_bytes / LT_MIB));
  }
  LT_TRY(artifact_read_sum(sql, LT_STR(""), &of_store, err));
  if (of_store + more > job->store_bytes) {
    return lt_fail(err, LT_E_LIMIT,
                   "the database has %llu bytes of artifacts, and %llu MiB are allowed: `lathe store trim --kind "
                   "artifacts` makes room, store.artifactsMb in the configuration allows more",
                   (unsigned long long)of_store, (unsigned long long)(job->store_bytes / LT_MIB));
  }
  return LT_OK;
}

static lt_status artifact_insert(struct sqlite3 *sql, void *arg, lt_err *err) {
  const artifact_put_job *job = arg;
  LT_TRY(artifact_check_room(sql, job, err));
  lt_query query =
      lt_query_prepare(sql,
                       "INSERT INTO artifacts(id, user, type, description, mime_type, bytes, created_at, data, run) "
                       "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  lt_query_text(&query, lt_str_of(job->id));
  lt_query_text(&query, job->artifact.user);
  lt_query_text(&query, job->artifact.type);
  lt_query_text(&query, job->artifact.description);
  lt_query_text(&query, job->artifact.mime_type);
  lt_query_int(&query, (int64_t)job->artifact.data.n);
  lt_query_text(&query, lt_str_of(job->created_at));
  lt_query_blob(&query, job->artifact.data);
  lt_query_text(&query, job->artifact.run);
  return lt_query_run(&query, err);
}

/* A description longer than the ceiling of a list would make its user's list unreadable. */
static lt_status artifact_check_about(const lt_artifact *artifact, lt_err *err) {
  const struct {
    const char *what;
    lt_str text;
  } about[] = {{"description", artifact->description}, {"type", artifact->type}, {"MIME type", artifact->mime_type}};
  for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
    if (about[i].text.n > LT_ARTIFACT_ABOUT_BYTES) {
      return lt_fail(err, LT_E_LIMIT, "an artifact's %s has %lu bytes at most, this one %zu: keep more in its data",
                     about[i].what, LT_ARTIFACT_ABOUT_BYTES, about[i].text.n);
    }
  }
  return LT_OK;
}

/* A run's programs and their tools count together. */
static lt_str artifact_root_run(lt_str run) {
  const char *slash = run.n > 0 ? memchr(run.p, '/', run.n) : NULL;
  return lt_str_sub(run, 0, slash != NULL ? (size_t)(slash - run.p) : run.n);
}

static lt_status artifact_put(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) LT_YIELDS {
  const sqlite_artifacts *artifacts = (const sqlite_artifacts *)self;
  artifact_put_job job = {
      .artifact = *artifact, .run_bytes = artifacts->run_bytes, .store_bytes = artifacts->store_bytes};
  job.artifact.run = artifact_root_run(artifact->run);
  LT_TRY(artifact_check_about(artifact, err));
  LT_TRY(lt_store_new_id(job.id, err));
  if (lt_buf_reserve(ret_id, LT_STORE_ID_BYTES) ==
      NULL) { /* now: afterwards the artifact would be kept without an id */
    return lt_fail(err, ret_id->status, "no room for an artifact's id");
  }
  lt_artifact *a = &job.artifact;
  lt_str *texts[] = {&a->user, &a->run, &a->type, &a->description, &a->mime_type, &a->data};
  lt_clock_stamp(job.created_at);
  lt_status status =
      lt_db_job_run(artifacts->db, LT_DB_LAZY, artifact_insert, &job, texts, sizeof texts / sizeof texts[0], err);
  if (status == LT_OK) {
    lt_buf_add(ret_id, lt_str_of(job.id));
  }
  return status;
}

lt_artifacts *lt_store_artifacts_new(lt_store *db) {
  sqlite_artifacts *self = lt_mem_zalloc(1, sizeof *self);
  if (self == NULL) {
    return NULL;
  }
  *self = (sqlite_artifacts){.base = {.put = artifact_put}, .db = db};
  lt_store_artifacts_set_limits(&self->base, LT_ARTIFACTS_RUN_MB * LT_MIB, LT_ARTIFACTS_STORE_MB * LT_MIB);
  return &self->base;
}

void lt_store_artifacts_set_limits(lt_artifacts *artifacts, uint64_t run_bytes, uint64_t store_bytes) {
  sqlite_artifacts *self = (sqlite_artifacts *)artifacts;
  self->run_bytes = run_bytes;
  self->store_bytes = store_bytes;
}

void lt_store_artifacts_free(lt_artifacts *self) {
  lt_mem_free(self);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* The columns of both queries below. The one that gets an artifact has `data` behind them. */
#define COLUMNS "id, type, description, mime_type, bytes, created_at"
enum { COLUMN_MIME_TYPE = 3, COLUMN_DATA = 6 };

static void artifact_put_columns(lt_json_writer *w, const lt_query *query) {
  static const char *const keys[] = {"id", "type", "description", "mimeType"};
  for (int i = 0; i < 4; i++) {
    lt_json_key(w, keys[i]);
    lt_json_put_str(w, lt_query_get(query, i));
  }
  lt_json_key(w, "bytes");
  lt_json_put_int(w, lt_query_get_int(query, 4));
  lt_json_key(w, "createdAt");
  lt_json_put_str(w, lt_query_get(query, 5));
}

/* Data with a JSON type that is no JSON is shown as text: the answer must stay JSON. */
static void artifact_put_data(lt_json_writer *w, const lt_query *query) {
  lt_str mime_type = lt_query_get(query, COLUMN_MIME_TYPE);
  lt_str data = lt_query_get(query, COLUMN_DATA);
  bool says_json = lt_str_starts(mime_type, LT_STR("application/json"));
  lt_json_key(w, "data");
  if (says_json && lt_json_check(data, NULL) == LT_OK) {
    lt_json_put_raw(w, data);
  } else if (says_json || lt_str_starts(mime_type, LT_STR("text/"))) {
    lt_json_put_str(w, data);
  } else {
    lt_db_job_put_base64(w, data);
  }
}

static lt_status artifact_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, "SELECT " COLUMNS ", data FROM artifacts WHERE id = ? AND user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  bool found = lt_query_row(&query);
  if (found) {
    lt_json_writer w = lt_json_writer_on(job->out);
    lt_json_begin_object(&w);
    artifact_put_columns(&w, &query);
    artifact_put_data(&w, &query);
    lt_json_end_object(&w);
  }
  LT_TRY(lt_query_end(&query, err));
  if (!found) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no artifact \"%.*s\": list them to see their ids",
                   LT_STR_ARG(lt_str_sub(job->id, 0, 2 * LT_ARTIFACT_ID_BYTES)));
  }
  return lt_db_job_check_out(job->out, err);
}

static lt_status artifact_select_list(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, "SELECT " COLUMNS
                                         " FROM artifacts WHERE user = ?1 AND (?2 = '' OR number < (SELECT number"
                                         " FROM artifacts WHERE id = ?2 AND user = ?1)) ORDER BY number DESC LIMIT ?3");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id);
  lt_query_int(&query, (int64_t)job->max);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    lt_json_begin_object(&w);
    artifact_put_columns(&w, &query);
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_artifact_get(lt_store *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = id, .out = out};
  return lt_db_job_read(db, artifact_select, &job, err);
}

lt_status lt_store_artifact_list(lt_store *db, lt_str user, lt_buf *out, lt_err *err) {
  return lt_store_artifact_page(db, user, LT_STR(""), LT_ARTIFACTS_LISTED_MAX, out, err);
}

lt_status lt_store_artifact_page(lt_store *db, lt_str user, lt_str id, size_t max, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = id, .max = max, .out = out};
  return lt_db_job_read(db, artifact_select_list, &job, err);
}
