#include "store/sqlite/db_job.h"

#include "base/mem.h"
#include "text/base64.h"

/* Copies the texts into one piece of memory and points them there. Owns: the caller, lt_mem_free. */
static lt_status db_job_copy(lt_str *const *texts, size_t count, char **ret_memory, lt_err *err) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    total += texts[i]->n;
  }
  char *memory = lt_mem_alloc(total);
  if (memory == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a record of %zu bytes", total);
  }
  char *to = memory;
  for (size_t i = 0; i < count; i++) {
    if (texts[i]->n > 0) {
      memcpy(to, texts[i]->p, texts[i]->n);
    }
    texts[i]->p = to;
    to += texts[i]->n;
  }
  *ret_memory = memory;
  return LT_OK;
}

lt_status lt_db_job_run(lt_store *db, lt_db_sync sync, lt_db_work work, void *arg, lt_str *const *texts, size_t count,
                        lt_err *err) {
  char *copy = NULL;
  LT_TRY(db_job_copy(texts, count, &copy, err));
  lt_status status = lt_db_run(db, sync, work, arg, err);
  lt_mem_free(copy);
  return status;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
lt_status lt_db_job_check_out(const lt_buf *out, lt_err *err) {
  return lt_buf_check(out, err, "no room for what is read from the database");
}

void lt_db_job_rewind(lt_buf *out, size_t start) {
  out->status = LT_OK;
  if (out->n > start) {
    out->n = start;
    out->p[start] = '\0';
  }
}

lt_status lt_db_job_read(lt_store *db, lt_db_work work, lt_db_read_job *job, lt_err *err) {
  LT_TRY(lt_db_job_check_out(job->out, err));
  job->start = job->out->n;
  lt_status status = lt_db_job_run(db, LT_DB_READ, work, job, (lt_str *[]){&job->user, &job->id}, 2, err);
  if (status != LT_OK) {
    lt_db_job_rewind(job->out, job->start);
  }
  return status;
}

void lt_db_job_put_base64(lt_json_writer *w, lt_str bytes) {
  lt_json_put_raw(w, LT_STR("\"")); /* the writer puts the comma; base64 needs no escapes */
  lt_base64_encode(bytes, w->buf);
  lt_buf_byte(w->buf, '"');
}
