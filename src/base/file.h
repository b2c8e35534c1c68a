/* Reads and replaces whole files, with errors that name the file. These functions block the thread: use them before the
 * loop starts, or by lt_loop_offload. */
#ifndef LT_BASE_FILE_H
#define LT_BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends a file to `out`, up to its ceiling. Errors: LT_E_NOTFOUND, LT_E_IO, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_file_read(const char *path, lt_buf *out, lt_err *err);
/* The same for an open descriptor, to its end; `name` is for messages. */
lt_status lt_file_read_fd(int fd, const char *name, lt_buf *out, lt_err *err);

typedef struct lt_file_replace_options {
  mode_t mode;    /* exactly; 0: 0600, less what the umask takes */
  bool is_synced; /* the content is on the disk before the new file has the name */
} lt_file_replace_options;

/* Gives a file new content: a reader has the old file or the new one, whole. The text is first written to a file of a
 * random name beside it, so that several processes may do this at once. A link in its place is replaced, and its target
 * stays as it is. After an error nothing has changed and nothing is left beside it; a kill may leave the other file.
 * `options` may be NULL. Errors: LT_E_IO. */
lt_status lt_file_replace(const char *path, lt_str text, const lt_file_replace_options *options, lt_err *err);

/* Writes a new file, mode 0600. An existing one stays as it is. Errors: LT_E_INVALID: there is something of that name;
 * LT_E_IO: then part of the file may be there. */
lt_status lt_file_create(const char *path, lt_str text, lt_err *err);

/* Makes the missing folders above a file, mode 0700. One that cannot be made is no error here: opening the file fails.
 */
void lt_file_make_folders(const char *path);

#endif
