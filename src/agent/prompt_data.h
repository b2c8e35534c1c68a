/* The data of complete({data}), which later prompts of the conversation read with recall("_lastData"). Internal to
 * agent/.
 *
 * The data is stored beside the result of the program that called complete(). A prompt that is carried out again finds
 * the same data there.
 */
#ifndef LT_AGENT_PROMPT_DATA_H
#define LT_AGENT_PROMPT_DATA_H

#include "agent/turn.h"

/* Gives the turn's programs the data of the last prompt. Call it after the history was written for the model. Errors:
 * LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_prompt_data_find(lt_turn *turn, lt_err *err);
/* Stores the data of this output's program for later prompts. Call it before the output's end. Errors: LT_E_NOMEM. */
lt_status lt_prompt_data_keep(lt_turn *turn, uint32_t number, lt_err *err);

/* The same in mode codex, where the data is all that programs have stored. */
lt_status lt_prompt_values_find(lt_turn *turn, lt_err *err);
lt_status lt_prompt_values_keep(lt_turn *turn, uint32_t number, lt_err *err);

#endif
