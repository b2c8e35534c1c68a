/* A change of a person's file: read, shown as a diff, and written with a backup beside it.
 *
 * The file is replaced at once or not at all and keeps its mode; a link stays a link, its target is replaced. What
 * somebody else wrote meanwhile is not overwritten. These functions block.
 */
#ifndef LT_CLI_FILE_CHANGE_H
#define LT_CLI_FILE_CHANGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "text/secrets.h"

typedef struct lt_file_change {
  lt_buf path;   /* as it was named or found */
  lt_buf target; /* with links resolved */
  bool exists;
  mode_t mode;
  lt_buf old;
  lt_buf text;   /* the caller writes the new text here */
  lt_buf backup; /* after lt_file_change_write: its path; empty: the file is new */
} lt_file_change;

/* Reads the file; one that is missing is empty. Errors: LT_E_CONFIG: it is no regular file, a link to nothing, or
 * cannot be read; LT_E_LIMIT, LT_E_NOMEM. The caller calls lt_file_change_release also after an error. */
lt_status lt_file_change_open(const char *path, lt_file_change *ret, lt_err *err);
void lt_file_change_release(lt_file_change *change);

/* Whether the new text differs from the old one. */
bool lt_file_change_is_any(const lt_file_change *change);
/* Errors: LT_E_CONFIG: the file is read-only, or belongs to somebody else. */
lt_status lt_file_change_check(const lt_file_change *change, lt_err *err);
/* Appends the path and the lines that change, for a person; secrets are masked. */
void lt_file_change_show(const lt_file_change *change, const lt_secrets *secrets, lt_buf *out);
/* Writes the backup, then the file. Errors: LT_E_INVALID: it has changed meanwhile; LT_E_IO. */
lt_status lt_file_change_write(lt_file_change *change, lt_err *err);

#endif
