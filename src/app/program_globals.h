/* What every program can use beside the tools, as declarations for those who write programs in an editor. */
#ifndef LT_APP_PROGRAM_GLOBALS_H
#define LT_APP_PROGRAM_GLOBALS_H

#include "plugin/host.h"

/* Appends TypeScript declarations of the globals of JavaScript and TypeScript programs, and of the functions of plugins
 * with their signatures as comments. Errors: the buffer's. */
lt_status lt_program_globals_put(const lt_host *host, lt_buf *out, lt_err *err);

#endif
