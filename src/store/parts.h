/* What the files of store/ do alike: copies of what they are given, reading, times, base64. For store/ only. */
#ifndef LT_STORE_PARTS_H
#define LT_STORE_PARTS_H

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "store/db.h"

/* Copies the texts into one piece of memory and points them there. Owns: the caller, lt_mem_free. LT_E_NOMEM. */
lt_status lt_parts_copy(lt_str *const *texts, size_t count, char **ret_memory, lt_err *err);

/* Whether a buffer that is to be appended to is still good. */
lt_status lt_parts_check_out(const lt_buf *out, lt_err *err);
/* Takes what was appended behind `start` out of the buffer again, and what went wrong with it. */
void lt_parts_rewind(lt_buf *out, size_t start);

/* Something of a user's that is read: the `arg` of whatever reads it. */
typedef struct lt_read {
  lt_str user;
  lt_str id;  /* empty where it is a list */
  size_t max; /* rows, where that is asked for */
  lt_buf *out;
  size_t start; /* of what is appended to `out`; whoever reads begins with lt_parts_rewind to there */
} lt_read;

/* Has `work` read; on failure `out` is as it was. LT_YIELDS. Errors: the work's, lt_db_run's, LT_E_NOMEM. */
lt_status lt_parts_read(lt_db *db, lt_db_work work, lt_read *job, lt_err *err) LT_YIELDS;

#define LT_PARTS_ID_BYTES 32 /* an id has so many hexadecimal digits */

/* An id that nobody can guess: 128 bits of the kernel's, without a NUL. Errors: LT_E_IO. */
lt_status lt_parts_make_id(char id[LT_PARTS_ID_BYTES], lt_err *err);

/* Writes bytes as a JSON string in base64 (RFC 4648, section 4). */
void lt_parts_put_base64(lt_json_writer *w, lt_str bytes);

#endif
