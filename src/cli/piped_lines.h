/* Lines of standard input where it is no terminal: a pipe, a socket or a file. Loop thread only. */
#ifndef LT_CLI_PIPED_LINES_H
#define LT_CLI_PIPED_LINES_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

typedef struct lt_piped_lines lt_piped_lines;

/* Owns: the caller, lt_piped_lines_close. Errors: LT_E_NOMEM. */
lt_status lt_piped_lines_open(lt_loop *loop, lt_piped_lines **ret_lines, lt_err *err);
void lt_piped_lines_close(lt_piped_lines *lines); /* NULL is allowed; no fiber may be reading */
/* Appends a line without its end. LT_YIELDS until there is one. Errors: LT_E_CLOSED (the end), LT_E_LIMIT (a line over
 * LT_INPUT_LINE_BYTES, which is dropped), the cancel's reason, the buffer's own. */
lt_status lt_piped_lines_read(lt_piped_lines *lines, lt_cancel *cancel, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
