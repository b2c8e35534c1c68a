#include "store/parts.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "base/mem.h"
#include "text/base64.h"

lt_status lt_parts_copy(lt_str *const *texts, size_t count, char **ret_memory, lt_err *err) {
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

lt_status lt_parts_check_out(const lt_buf *out, lt_err *err) {
  return out->status == LT_OK ? LT_OK : lt_fail(err, out->status, "no room for what is read from the database");
}

void lt_parts_rewind(lt_buf *out, size_t start) {
  out->status = LT_OK;
  if (out->n > start) {
    out->n = start;
    out->p[start] = '\0';
  }
}

lt_status lt_parts_read(lt_db *db, lt_db_work work, lt_read *job, lt_err *err) {
  lt_str *texts[] = {&job->user, &job->id};
  char *copy = NULL;
  LT_TRY(lt_parts_check_out(job->out, err));
  LT_TRY(lt_parts_copy(texts, 2, &copy, err));
  job->start = job->out->n;
  lt_status status = lt_db_run(db, LT_DB_READ, work, job, err);
  if (status != LT_OK) {
    lt_parts_rewind(job->out, job->start);
  }
  lt_mem_free(copy);
  return status;
}

void lt_parts_stamp(char stamp[LT_STAMP_BYTES]) {
  struct timespec now;
  struct tm utc;
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  size_t n = strftime(stamp, LT_STAMP_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
  snprintf(stamp + n, LT_STAMP_BYTES - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

lt_status lt_parts_make_id(char id[LT_PARTS_ID_BYTES], lt_err *err) {
  unsigned char bytes[LT_PARTS_ID_BYTES / 2];
  ssize_t n;
  do {
    n = getrandom(bytes, sizeof bytes, 0);
  } while (n < 0 && errno == EINTR);
  if (n != (ssize_t)sizeof bytes) {
    return lt_fail(err, LT_E_IO, "the kernel gives no random numbers for an id");
  }
  for (size_t i = 0; i < sizeof bytes; i++) {
    id[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    id[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  return LT_OK;
}

void lt_parts_put_base64(lt_json_writer *w, lt_str bytes) {
  lt_json_put_raw(w, LT_STR("\"")); /* the comma is the writer's; what follows needs no escapes */
  lt_base64_encode(bytes, w->buf);
  lt_buf_byte(w->buf, '"');
}
