/* Runs a program that has the terminal to itself, such as an editor. */
#ifndef LT_IO_TERMINAL_PROGRAM_H
#define LT_IO_TERMINAL_PROGRAM_H

#include "io/loop.h"

/* `argv`: a path and its arguments, then NULL. The controlling terminal is its input and output; it stays in our
 * process group. Waits for its end; a cancel ends it first. `*ret_code`: its exit code, or 128 and the signal's number.
 * LT_YIELDS. Errors: LT_E_NOTFOUND: there is no terminal, or it cannot be started; the cancel's reason. */
lt_status lt_terminal_program_run(lt_loop *loop, const char *const *argv, lt_cancel *cancel, int *ret_code,
                                  lt_err *err) LT_YIELDS;

#endif
