/* The spare: an instance of Deno that is started ahead and waits for the next program. A fiber owns it. */
#ifndef LT_RUNNER_DENO_DENO_SPARE_H
#define LT_RUNNER_DENO_DENO_SPARE_H

#include "runner/deno/deno_state.h"

/* Takes the spare, if it fits the request. It may end before lt_deno_program_begin. Owns: the caller,
 * lt_deno_instance_release. */
bool lt_deno_spare_take(lt_deno *deno, const lt_run_request *request, lt_deno_instance *ret_instance);
/* Starts a new spare soon: a program with these limits has ended. Does not yield. */
void lt_deno_spare_schedule(lt_deno *deno, const lt_deno_limits *limits);
/* LT_YIELDS until the spare and its fiber are gone. */
void lt_deno_spare_close(lt_deno *deno) LT_YIELDS;

#endif
