/* Watches the store for decisions that other processes write about this agent's prompts. Internal to agent/.
 *
 * One fiber of the agent looks: every LT_DECISION_POLL_MS while a call waits for an approval, every
 * LT_DECISION_IDLE_POLL_MS while a prompt only runs (it may be cancelled), and never otherwise.
 */
#ifndef LT_AGENT_DECISION_WATCH_H
#define LT_AGENT_DECISION_WATCH_H

#include "agent/agent_state.h"
#include "store/store_decisions.h"

/* A decision as the store lists it; its texts are in the arena that it was read with. */
typedef struct lt_watched_decision {
  int64_t id;
  lt_str verb, call, tool, user;
  uint64_t hash;
  bool is_taken;
  lt_decision decision;
} lt_watched_decision;

/* Reads one member of a list of decisions. False: no memory, or not a decision. */
bool lt_decision_watch_read(lt_json json, lt_arena *arena, lt_watched_decision *ret_decision);

/* A prompt has begun to run, or a call to wait: looks more often from now on. Without memory for the fiber, a decision
 * is seen by the next process only. */
void lt_decision_watch_wake(lt_agent *agent);

#endif
