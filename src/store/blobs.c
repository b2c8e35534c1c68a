/* Bytes that are kept once, under a name made of them. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/parts.h"
#include "store/sql.h"
#include "store/store.h"

typedef struct blob_job {
  lt_str data;
  char hash[LT_BLOB_HASH_BYTES + 1];
  char now[LT_CLOCK_STAMP_BYTES];
} blob_job;

/* Another 64 bits than lt_str_hash's, eight bytes at a time. Both can be made to collide by who tries: that is found,
 * and refused, when it happens. */
static uint64_t hash_words(lt_str s) {
  uint64_t hash = s.n;
  for (size_t at = 0; at < s.n; at += 8) {
    uint64_t word = 0;
    memcpy(&word, s.p + at, s.n - at < 8 ? s.n - at : 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash;
}

void lt_store_blob_name(lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1]) {
  snprintf(ret_hash, LT_BLOB_HASH_BYTES + 1, "%016" PRIx64 "%016" PRIx64, lt_str_hash(data), hash_words(data));
}

static lt_status touch(struct sqlite3 *sql, const blob_job *job, lt_err *err) {
  lt_query query = lt_query_on(sql, "UPDATE blobs SET used_at = ? WHERE hash = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, lt_str_of(job->hash));
  return lt_query_run(&query, err);
}

static lt_status insert_blob(struct sqlite3 *sql, const blob_job *job, lt_err *err) {
  lt_query query = lt_query_on(sql, "INSERT INTO blobs(hash, used_at, data) VALUES(?, ?, ?)");
  lt_query_text(&query, lt_str_of(job->hash));
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_blob(&query, job->data);
  return lt_query_run(&query, err);
}

/* To the day: a row that changes is written as a whole. */
static lt_status put_blob(struct sqlite3 *sql, void *arg, lt_err *err) {
  blob_job *job = arg;
  lt_store_blob_name(job->data, job->hash);
  lt_query query = lt_query_on(sql, "SELECT data, substr(used_at, 1, 10) = substr(?, 1, 10) FROM blobs WHERE hash = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, lt_str_of(job->hash));
  bool found = lt_query_row(&query);
  bool same = found && lt_str_eq(lt_query_get(&query, 0), job->data);
  bool today = found && lt_query_get_int(&query, 1) != 0;
  LT_TRY(lt_query_end(&query, err));
  if (!found) {
    return insert_blob(sql, job, err);
  }
  if (!same) {
    return lt_fail(err, LT_E_INVALID, "other bytes than these have the same hash, %s", job->hash);
  }
  return today ? LT_OK : touch(sql, job, err);
}

lt_status lt_store_blob_put(lt_db *db, lt_str data, char ret_hash[LT_BLOB_HASH_BYTES + 1], lt_err *err) {
  if (data.n > LT_BLOB_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "too large to be kept: %zu MiB, where %lu are allowed", data.n / LT_MIB,
                   LT_BLOB_MAX_BYTES / LT_MIB);
  }
  blob_job job = {.data = data};
  lt_str *texts[] = {&job.data};
  char *copy = NULL;
  LT_TRY(lt_parts_copy(texts, 1, &copy, err));
  lt_clock_stamp(job.now);
  lt_status status = lt_db_run(db, LT_DB_LAZY, put_blob, &job, err);
  lt_mem_free(copy);
  if (status == LT_OK) {
    memcpy(ret_hash, job.hash, sizeof job.hash);
  }
  return status;
}

static lt_status select_blob(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_read *job = arg;
  lt_parts_rewind(job->out, job->start);
  lt_query query = lt_query_on(sql, "SELECT data FROM blobs WHERE hash = ?");
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
  return lt_parts_check_out(job->out, err);
}

lt_status lt_store_blob_get(lt_db *db, lt_str hash, lt_buf *out, lt_err *err) {
  lt_read job = {.id = hash, .out = out};
  return lt_parts_read(db, select_blob, &job, err);
}
