/* The options of an agent that come from a session and its configuration. */
#ifndef LT_APP_AGENT_OPTIONS_H
#define LT_APP_AGENT_OPTIONS_H

#include "agent/agent.h"
#include "app/models.h"
#include "app/modules.h"
#include "app/session.h"

/* Sets loop, door, store, plugins, secrets, models, and the world, the bounds and the runners of programs. Each command
 * sets HTTP, journal, policy, the default mode and events itself. Borrows: everything. */
lt_agent_options lt_agent_options_of(lt_session *session, const lt_models *models, const lt_modules *modules);

#endif
