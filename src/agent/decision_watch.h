/* Watches the store for decisions that other processes write about this agent's prompts. Internal to agent/.
 *
 * One fiber of the agent looks: every LT_DECISION_POLL_MS while a call waits for an approval, every
 * LT_DECISION_IDLE_POLL_MS while a prompt only runs (it may be cancelled), and never otherwise.
 */
#ifndef LT_AGENT_DECISION_WATCH_H
#define LT_AGENT_DECISION_WATCH_H

#include "agent/agent_state.h"
#include "store/store_decisions.h"

/* A prompt has begun to run, or has ended. Without memory for the fiber, a decision is seen by the next process only.
 */
void lt_decision_watch_wake(lt_agent *agent);
/* Takes what is stored about a prompt now. Errors: the store's; then nothing was taken. LT_YIELDS. */
lt_status lt_decision_watch_look(lt_agent *agent, const char *prompt) LT_YIELDS;

#endif
