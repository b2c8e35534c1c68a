/* The tools that a prompt saw, kept beside its record: `lathe replay` sets up the same. Internal to agent/. */
#ifndef LT_AGENT_RECORDED_TOOLS_H
#define LT_AGENT_RECORDED_TOOLS_H

#include "agent/turn.h"

/* Keeps the tools of the turn's prompt: a blob's name, empty where they cannot be kept. LT_YIELDS. */
lt_str lt_recorded_tools_keep(lt_turn *turn, lt_catalog *tools) LT_YIELDS;

#endif
