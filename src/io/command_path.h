/* Finding the file of a command before it is started: what execvp would run in the child, and a message for a person
 * where it would run nothing. */
#ifndef LT_IO_COMMAND_PATH_H
#define LT_IO_COMMAND_PATH_H

#include "base/buf.h"

/* Appends to `ret_path` what to execute in the folder `cwd`: `file` itself when it has a slash, else the first
 * executable of that name in the PATH of `env`; with a NUL after it and always with a slash in it. `env` and `cwd` are
 * as in lt_process_options. Errors: LT_E_NOTFOUND (command or cwd), LT_E_DENIED, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_command_find(const char *file, const char *const *env, const char *cwd, lt_buf *ret_path, lt_err *err);

#endif
