/* Inputs that a person edited before approving a call: the model is told, since the result is not that of the call it
 * made. Internal to agent/. */
#ifndef LT_AGENT_TURN_EDITS_H
#define LT_AGENT_TURN_EDITS_H

#include "agent/turn.h"

typedef struct lt_turn_edit lt_turn_edit;

/* Notes an edit, once for each output. `parent`: the mode's output whose program made the call; may be empty. Copies.
 * Without memory the model is not told. */
void lt_turn_edits_add(lt_turn *turn, lt_str output, lt_str parent, lt_str tool, lt_str input);
/* Appends a line for each edit of the output's call, or of the calls of its program. */
void lt_turn_edits_put(const lt_turn *turn, lt_str output, lt_buf *out);

#endif
