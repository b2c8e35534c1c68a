/* Finds the file of a command before it is started: the file that execvp would run in the child. Where execvp would
 * find none, the error message explains why. Blocks on the file system; nothing here suspends. */
#ifndef LT_IO_COMMAND_PATH_H
#define LT_IO_COMMAND_PATH_H

#include "base/buf.h"

/* Appends to `ret_path` the path to execute in the folder `cwd`: `file` itself when it contains a slash, else the first
 * executable of that name in the PATH of `env`, where relative folders of Lathe's own PATH are left out. The path ends
 * with a NUL and always contains a slash. `env` and `cwd` are as in lt_process_options. Errors: LT_E_NOTFOUND (command
 * or cwd), LT_E_DENIED, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_command_find(const char *file, const char *const *env, const char *cwd, lt_buf *ret_path, lt_err *err);

#endif
