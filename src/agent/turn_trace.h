/* A prompt's place in a trace. Internal to agent/.
 *
 * The prompt's span has an id that comes from the prompt's own, and what it is below is noted with the prompt's record:
 * the process that resumes the prompt goes on with the same span, and the one that ends it reports it, once.
 */
#ifndef LT_AGENT_TURN_TRACE_H
#define LT_AGENT_TURN_TRACE_H

#include "agent/turn_state.h"

/* Sets turn->caller.trace, below `parent` (may be NULL), or as the record of a resumed prompt says. Without a parent
 * the trace has the prompt's id. */
void lt_turn_trace_begin(lt_turn *turn, const lt_trace_context *parent);
/* Notes the parent of a prompt that is stored, once. */
void lt_turn_trace_note(const lt_turn *turn);
#endif
