/* Prompts whose end could not be stored. Internal to agent/. */
#ifndef LT_AGENT_DEFERRED_END_H
#define LT_AGENT_DEFERRED_END_H

#include "agent/turn.h"

/* Stores how the turn ended (turn->state) as soon as the store works again, in the background. False: there
 * is no memory for that, or the agent ends. */
bool lt_deferred_end_start(const lt_turn *turn, lt_str usage, lt_str error);

#endif
