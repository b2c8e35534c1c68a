/* One Deno that is started ahead. */
#ifndef LT_RUNNER_DENO_DENO_SPARE_H
#define LT_RUNNER_DENO_DENO_SPARE_H

#include "runner/deno/deno_state.h"

/* One that waits, if there is one that will do; whether it still lives shows when it is given the word. Owns:
 * the caller, lt_deno_leave_room. */
bool lt_deno_take_spare(lt_deno *deno, const lt_run_request *request, lt_deno_room *ret_room);
/* A program with these limits has ended: there may be another one soon. Does not yield. */
void lt_deno_keep_spare(lt_deno *deno, const lt_deno_limits *limits);
void lt_deno_end_spare(lt_deno *deno) LT_YIELDS;
/* In the room's folder, for its way: Deno, which waits for the word. */
lt_status lt_deno_fill_room(lt_deno *deno, lt_deno_room *room, lt_err *err);
/* Ends what is in it, and removes it. */
void lt_deno_leave_room(lt_deno *deno, lt_deno_room *room) LT_YIELDS;

#endif
