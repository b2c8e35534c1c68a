/* A runner that runs nothing: a program's result is its own text. */
#ifndef LT_RUNNER_ECHO_ECHO_H
#define LT_RUNNER_ECHO_ECHO_H

#include "runner/runner.h"

/* Errors: LT_E_NOMEM. Owns: the caller, `free`. */
lt_status lt_echo_new(lt_runner **ret_runner, lt_err *err);

#endif
