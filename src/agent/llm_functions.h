/* llm() and llmJson() of programs: a program asks the prompt's model itself (seed 015). Internal to agent/. */
#ifndef LT_AGENT_LLM_FUNCTIONS_H
#define LT_AGENT_LLM_FUNCTIONS_H

#include "agent/turn.h"

/* Adds both behind the functions of `world`, in the turn's arena. False: no memory. */
bool lt_llm_functions_add(lt_turn *turn, lt_run_request *world);

#endif
