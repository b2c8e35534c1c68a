/* Blobs: bytes that are kept once, under a name made of them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store.h"

typedef struct blob_job {
  lt_str data;
  char hash[LT_BLOB_HASH_BYTES + 1];
  char now[LT_CLOCK_STAMP_BYTES];
} blob_job;

static lt_status blob_touch(struct sqlite3 *sql, const blob_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "UPDATE blobs SET used_at = ? WHERE hash = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, lt_str_of(job->hash));
  return lt_query_run(&query, err);
}

static lt_status blob_insert(struct sqlite3 *sql, const blob_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "INSERT INTO blobs(hash, used_at, data) VALUES(?, ?, ?)");
  lt_query_text(&query, lt_str_of(job->hash));
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_blob(&query, job->data);
  return lt_query_run(&query, err);
}

/* `used_at` changes once a day at most: a row that changes is written as a whole. */
static lt_status blob_put(struct sqlite3 *sql, void *arg, lt_err *err) {
  blob_job *job = arg;
  lt_store_blob_name(job->data, job->hash);
  lt_query query =
      lt_query_prepare(sql, "SELECT data, substr(used_at, 1, 10) = substr(?, 1, 10) FROM blobs WHERE hash = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, lt_str_of(job->hash));
  bool found = lt_query_row(&query);
  bool same = found && lt_str_eq(lt_query_get(&query, 0), job->data);
  bool today = found && lt_query_get_int(&query, 1) != 0;
  LT_TRY(lt_query_end(&query, err));
  if (!found) {
    return blob_insert(sql, job, err);
  }
  if (!same) {
    return lt_fail(err, LT_E_INVALID, "other bytes than these have the same hash, %s", job->hash);
  }
  return today ? LT_OK : blob_touch(sql, job, err);
}

lt_status lt_store_blob_put(lt_store *db, lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1], lt_err *err) {
  if (data.n > LT_BLOB_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "too large to be kept: %zu MiB, where %lu are allowed", data.n / LT_MIB,
                   LT_BLOB_MAX_BYTES / LT_MIB);
  }
  blob_job job = {.data = data};
  lt_str *texts[] = {&job.data};
  lt_clock_stamp(job.now);
  lt_status status = lt_db_job_run(db, LT_DB_LAZY, blob_put, &job, texts, 1, err);
  if (status == LT_OK) {
    memcpy(ret_hash, job.hash, sizeof job.hash);
  }
  return status;
}

static lt_status blob_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql, "SELECT data FROM blobs WHERE hash = ?");
  lt_query_text(&query, job->id);
  bool found = lt_query_row(&query);
  if (found) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
  }
  LT_TRY(lt_query_end(&query, err));
  if (!found) {
    return lt_fail(err, LT_E_NOTFOUND, "nothing is kept under the hash \"%.*s\"",
                   LT_STR_ARG(lt_str_sub(job->id, 0, (size_t)2 * LT_BLOB_HASH_BYTES)));
  }
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_blob_get(lt_store *db, lt_str hash, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.id = hash, .out = out};
  return lt_db_job_read(db, blob_select, &job, err);
}
