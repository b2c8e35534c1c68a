/* Declares for the compiler what one program's text names: tools, the host's functions, modules. The others cost
 * nothing. Pure. */
#ifndef LT_RUNNER_TYPECHECK_TYPECHECK_DECLARE_H
#define LT_RUNNER_TYPECHECK_TYPECHECK_DECLARE_H

#include "runner/typecheck/typecheck.h"

/* Appends the declarations. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_typecheck_declare(const lt_typecheck_program *program, lt_buf *out, lt_err *err);

#endif
