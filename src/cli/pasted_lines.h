/* Lines that a person types or pastes while a command waits for something else: from the terminal, or from a pipe on
 * standard input. Loop thread only. */
#ifndef LT_CLI_PASTED_LINES_H
#define LT_CLI_PASTED_LINES_H

#include "base/str.h"
#include "io/loop.h"

typedef struct lt_pasted_lines lt_pasted_lines;

/* Begins to read. `on_line` must not yield. NULL where there is nothing to read from: no terminal and no pipe. Owns:
 * the caller, lt_pasted_lines_close. */
lt_pasted_lines *lt_pasted_lines_open(lt_loop *loop, void (*on_line)(void *arg, lt_str line), void *arg);
/* LT_YIELDS. NULL is allowed. */
void lt_pasted_lines_close(lt_pasted_lines *lines) LT_YIELDS;

#endif
