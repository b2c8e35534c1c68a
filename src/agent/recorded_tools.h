/* Stores the list of tools that a prompt saw, so that `lathe replay` can provide the same tools. Internal to agent/. */
#ifndef LT_AGENT_RECORDED_TOOLS_H
#define LT_AGENT_RECORDED_TOOLS_H

#include "agent/turn.h"

/* Stores the tools of the turn's prompt. Returns the name of the blob, empty on failure. LT_YIELDS. */
lt_str lt_recorded_tools_keep(lt_turn *turn, lt_catalog *tools) LT_YIELDS;

#endif
