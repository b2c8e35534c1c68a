/* Which Deno and which compiler run the programs. */
#ifndef LT_RUNNER_DENO_DENO_FIND_H
#define LT_RUNNER_DENO_DENO_FIND_H

#include "runner/deno/deno_state.h"

/* The programs that are needed. Errors: LT_E_NOTFOUND, with what to do. */
lt_status lt_deno_find(lt_deno *deno, lt_err *err);
/* The compiler, where it is wanted: NULL in deno->tsc is none. */
lt_status lt_deno_find_tsc(lt_deno *deno, lt_err *err);
/* Why Deno did not begin: too old, or no Deno at all, or what it said. LT_YIELDS. */
lt_status lt_deno_explain(lt_deno *deno, lt_process *process, lt_err *err) LT_YIELDS;

#endif
