/* Replies of code mode that are no programs. Internal to agent/.
 *
 * Models answer in prose, in JSON, or with a tool call as text. Such a reply is not run: prose would fail as a program,
 * and JSON would be a program that does nothing. The model is told what to write, once; a second such reply in a row is
 * taken as the answer.
 */
#ifndef LT_AGENT_MODES_CODE_PROSE_H
#define LT_AGENT_MODES_CODE_PROSE_H

#include "agent/turn.h"

/* Whether the reply is no program. Then `ret_why` gets the message for the model, which depends on the reply and the
 * turn's tools only. A reply with a fenced block is a program, unless the block has JSON. */
bool lt_code_prose_is(const lt_turn *turn, lt_str reply, lt_buf *ret_why);

#endif
