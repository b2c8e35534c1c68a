/* Runs modes of plugins (registered in plugin/host_modes.c). Internal to agent/. */
#ifndef LT_AGENT_MODES_PLUGIN_MODE_H
#define LT_AGENT_MODES_PLUGIN_MODE_H

#include "agent/turn.h"

/* Runs the turn's mode, which a plugin has registered. LT_YIELDS. */
lt_status lt_plugin_mode_run(lt_turn *turn, lt_err *err) LT_YIELDS;

#endif
