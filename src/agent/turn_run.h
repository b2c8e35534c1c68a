/* Creates a prompt's turn and carries it out. Internal to agent/. */
#ifndef LT_AGENT_TURN_RUN_H
#define LT_AGENT_TURN_RUN_H

#include "agent/turn_state.h"

/* Creates the turn of a stored prompt; copies the strings. Errors: LT_E_NOMEM. Owns: the caller, lt_turn_free. */
lt_status lt_turn_new(lt_agent *agent, const lt_prompt_row *row, const lt_model *model, const lt_mode *mode,
                      lt_turn_state **ret_turn, lt_err *err);
void lt_turn_free(lt_turn_state *turn_state);
/* When a program of the prompt has saved one since the last preparation, takes the tools that there are now, for the
 * programs that begin from now on. LT_YIELDS. Errors: those of lt_host_prepare_again and lt_recorded_tools_follow. */
lt_status lt_turn_follow_saves(lt_turn *turn, lt_err *err) LT_YIELDS;
/* Lets plugins prepare, reads the history, runs the mode, and waits until all outputs are stored. LT_YIELDS. */
lt_status lt_turn_carry_out(lt_turn_state *turn_state, lt_err *err) LT_YIELDS;
/* Writes {inputTokens, outputTokens, totalTokens, requests, cachedInputTokens?, reasoningTokens?, estimated?,
 * resolvedModel?}. */
void lt_turn_put_usage(const lt_turn_state *turn_state, lt_json_writer *w);

#endif
