/* Makes outputs of a turn's calls and of the files that tools return. Internal to agent/. */
#ifndef LT_AGENT_TURN_CALLS_H
#define LT_AGENT_TURN_CALLS_H

#include "agent/turn.h"

/* Makes a tool output of a call by a program or a plugin. `turn`: an lt_turn. */
void lt_turn_on_call(void *turn, const lt_call_event *event);
/* Stores a file that a tool returned, and puts it out. `self` is the turn's. LT_YIELDS. */
lt_status lt_turn_put_artifact(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) LT_YIELDS;

#endif
