/* Turns the compiler's answer into a failed program's result. Pure. */
#ifndef LT_RUNNER_TYPECHECK_TYPECHECK_REPORT_H
#define LT_RUNNER_TYPECHECK_TYPECHECK_REPORT_H

#include "runner/typecheck/typecheck.h"

/* `reply`: the response to textDocument/diagnostic. `prefix`: bytes that were put before the program's first line.
 * LT_OK: nothing is wrong. LT_E_PROGRAM: `result` says what. LT_E_INVALID: it is no such response. LT_E_NOMEM. */
lt_status lt_typecheck_report(const lt_typecheck_program *program, size_t prefix, lt_str reply, lt_run_result *result);

#endif
