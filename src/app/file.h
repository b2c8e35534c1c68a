/* Whole files and standard input, with a ceiling and an error that names the file. */
#ifndef LT_APP_FILE_H
#define LT_APP_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Reads a file, or standard input for "-", into `out` up to its ceiling.
 * Errors: LT_E_NOTFOUND, LT_E_IO, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_file_read(const char *path, lt_buf *out, lt_err *err);

#endif
