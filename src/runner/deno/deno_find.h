/* Finds Deno and TypeScript's compiler. */
#ifndef LT_RUNNER_DENO_DENO_FIND_H
#define LT_RUNNER_DENO_DENO_FIND_H

#include "runner/deno/deno_state.h"

/* Finds Deno: deno->exe. Errors: LT_E_NOTFOUND; the message says what to do. */
lt_status lt_deno_find(lt_deno *deno, lt_err *err);
/* Finds the compiler, where types are checked: deno->tsc, or NULL. Errors: LT_E_NOTFOUND when it is required. */
lt_status lt_deno_find_tsc(lt_deno *deno, lt_err *err);
/* Fails with the reason why Deno did not begin: it is too old, no Deno at all, or what it wrote. LT_YIELDS. */
lt_status lt_deno_find_explain(lt_deno *deno, lt_process *process, lt_err *err) LT_YIELDS;

#endif
