/* What an agent is made with, whatever the command: everything that comes of a session and its configuration. */
#ifndef LT_APP_AGENT_OPTIONS_H
#define LT_APP_AGENT_OPTIONS_H

#include "agent/agent.h"
#include "app/models.h"
#include "app/modules.h"
#include "app/session.h"

/* Loop, door, store, plugins, secrets, models, and the world, the bounds and the runners of programs. What makes one
 * command's agent another than the next one's is left to it: HTTP, journal, policy, the default mode, events. Borrows:
 * everything. */
lt_agent_options lt_agent_options_of(lt_session *session, const lt_models *models, const lt_modules *modules);

#endif
