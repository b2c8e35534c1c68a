/* The functions llm() and llmJson(), with which a program asks the prompt's model (seed 015). Internal to agent/. */
#ifndef LT_AGENT_LLM_FUNCTIONS_H
#define LT_AGENT_LLM_FUNCTIONS_H

#include "agent/turn.h"

/* Appends both to the functions of `world`, in the turn's arena. False: no memory. */
bool lt_llm_functions_add(lt_turn *turn, lt_run_request *world);

#endif
