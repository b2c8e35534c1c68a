/* Runs that a thread of the host turns, from one event to the next (lathe_turn): lathe_run in pieces. */
#ifndef LT_EMBED_EMBED_TURN_H
#define LT_EMBED_EMBED_TURN_H

#include "embed/embed_run.h"

/* Numbers the run and starts it, to be turned. Owns: the loop, also after an error. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_embed_turn_start(lt_embed_run *run, uint64_t *ret_number, lt_err *err);
/* When the environment closes: the loop's own thread goes on with all runs that were turned. Call it on that thread.
 * False: there were none. */
bool lt_embed_turn_let_all_go(lathe_env *env);

#endif
