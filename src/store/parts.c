#include "store/parts.h"

#include "base/mem.h"
#include "base/random.h"
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

lt_status lt_parts_make_id(char id[LT_PARTS_ID_BYTES], lt_err *err) {
  char text[LT_PARTS_ID_BYTES + 1];
  if (!lt_random_hex(text, LT_PARTS_ID_BYTES)) {
    return lt_fail(err, LT_E_IO, "the kernel gives no random numbers for an id");
  }
  memcpy(id, text, LT_PARTS_ID_BYTES);
  return LT_OK;
}

void lt_parts_put_base64(lt_json_writer *w, lt_str bytes) {
  lt_json_put_raw(w, LT_STR("\"")); /* the comma is the writer's; what follows needs no escapes */
  lt_base64_encode(bytes, w->buf);
  lt_buf_byte(w->buf, '"');
}
