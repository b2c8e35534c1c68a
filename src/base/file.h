/* Reads whole files, with a ceiling and an error that names the file. These functions block the thread: use them before
 * the loop starts. */
#ifndef LT_BASE_FILE_H
#define LT_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Appends a file to `out`, up to its ceiling. Errors: LT_E_NOTFOUND, LT_E_IO, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_file_read(const char *path, lt_buf *out, lt_err *err);
/* The same for an open descriptor, to its end; `name` is for messages. */
lt_status lt_file_read_fd(int fd, const char *name, lt_buf *out, lt_err *err);

#endif
