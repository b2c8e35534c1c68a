/* complete({data}): what one prompt leaves to the next ones of its conversation, as recall("_lastData"). Internal to
 * agent/.
 *
 * The data stands beside the result of the program that called complete(), and is read from there. So a prompt that is
 * carried out again finds the same.
 */
#ifndef LT_AGENT_PROMPT_DATA_H
#define LT_AGENT_PROMPT_DATA_H

#include "agent/turn.h"

/* Gives the turn's programs what the last prompt has left; after the history was shown to the model. Errors:
 * LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_prompt_data_find(lt_turn *turn, lt_err *err);
/* Keeps what the program of this output leaves to later prompts; before the output's end. Errors: LT_E_NOMEM. */
lt_status lt_prompt_data_keep(lt_turn *turn, uint32_t number, lt_err *err);

#endif
