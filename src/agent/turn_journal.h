/* The agent's journal as one turn uses it. Internal to agent/. */
#ifndef LT_AGENT_TURN_JOURNAL_H
#define LT_AGENT_TURN_JOURNAL_H

#include "agent/turn_state.h"

/* Sets up the turn's own journal; NULL: the agent has none. */
lt_journal *lt_turn_journal_init(lt_turn_state *turn_state);

#endif
