/* Helpers for jobs of the database: copies of their texts, and a buffer for their result. For sqlite/ only.
 */
#ifndef LT_STORE_SQLITE_DB_JOB_H
#define LT_STORE_SQLITE_DB_JOB_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "store/sqlite/db.h"

/* lt_db_run, with copies of the texts: `texts` points to the members of `arg` that hold them. Afterwards those members
 * must not be read any more. LT_YIELDS. Errors: lt_db_run's, LT_E_NOMEM. */
lt_status lt_db_job_run(lt_store *db, lt_db_sync sync, lt_db_work work, void *arg, lt_str *const *texts, size_t count,
                        lt_err *err) LT_YIELDS;

/* --- Reading ------------------------------------------------------------------------------------------------------ */
/* The `arg` of a job that reads. */
typedef struct lt_db_read_job {
  lt_str user;
  lt_str id;  /* empty for a list */
  size_t max; /* rows, for a list */
  lt_buf *out;
  size_t start; /* offset of the job's text in `out`; the job first calls lt_db_job_rewind with it */
} lt_db_read_job;

/* Runs `work`, which appends to job->out; on failure `out` is as it was. LT_YIELDS. Errors: the work's, lt_db_run's,
 * LT_E_NOMEM. */
lt_status lt_db_job_read(lt_store *db, lt_db_work work, lt_db_read_job *job, lt_err *err) LT_YIELDS;

/* LT_OK, or fails with the buffer's status. */
lt_status lt_db_job_check_out(const lt_buf *out, lt_err *err);
/* Removes what was appended behind `start`, and clears the status. */
void lt_db_job_rewind(lt_buf *out, size_t start);

/* Writes bytes as a JSON string in base64 (RFC 4648, section 4). */
void lt_db_job_put_base64(lt_json_writer *w, lt_str bytes);

#endif
