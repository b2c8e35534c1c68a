/* Stores the end of a prompt later, when the store failed. Internal to agent/. */
#ifndef LT_AGENT_DEFERRED_END_H
#define LT_AGENT_DEFERRED_END_H

#include "agent/turn.h"

/* Stores how the turn ended (turn->state) in the background, as soon as the store works again. False: no memory, or the
 * agent ends. */
bool lt_deferred_end_start(const lt_turn *turn, lt_str usage, lt_str error);

#endif
