/* What a turn's caller has: its events and its artifacts. Internal to agent/. */
#ifndef LT_AGENT_TURN_CALLS_H
#define LT_AGENT_TURN_CALLS_H

#include "agent/turn.h"

/* An event of a call that a program or a plugin of the turn makes: it becomes a tool output. `turn`: an lt_turn. */
void lt_turn_on_call(void *turn, const lt_call_event *event);
/* Puts a file aside that a tool answered with, and makes an output of it. `self` is the turn's. LT_YIELDS. */
lt_status lt_turn_put_artifact(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) LT_YIELDS;

#endif
