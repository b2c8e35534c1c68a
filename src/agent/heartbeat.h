/* The heartbeat of a process that runs prompts: from it, processes in other containers know that it lives. Internal to
 * agent/. */
#ifndef LT_AGENT_HEARTBEAT_H
#define LT_AGENT_HEARTBEAT_H

#include "agent/agent_state.h"

/* Starts a fiber that beats while the agent has prompts, unless it runs. Without memory there is no heartbeat. */
void lt_heartbeat_start(lt_agent *agent);
/* A prompt has ended: ends the heartbeat after the last one. */
void lt_heartbeat_check(lt_agent *agent);

#endif
