/* What a turn reports to the agent's observer (replay/replay_observer.h): a prompt that is carried out again diverges
 * when the observer says so. Internal to agent/. */
#ifndef LT_AGENT_TURN_OBSERVER_H
#define LT_AGENT_TURN_OBSERVER_H

#include "agent/outbox.h"

/* LT_OK: the prompt goes on; LT_E_DIVERGED: it does not. */
/* The record has the next reply. */
lt_status lt_turn_observer_reply(lt_turn *turn, lt_err *err);
/* The record has no answer to what the prompt does next: `what`. */
lt_status lt_turn_observer_record_end(lt_turn *turn, const char *what, lt_err *err);
/* The prompt was not cancelled and has ended; `missing`: an output on record that it did not put out, or NULL. */
lt_status lt_turn_observer_end(lt_turn *turn, const char *missing, lt_err *err);

/* The prompt puts out an output that is on record. The first difference ends the prompt as diverged. */
void lt_turn_observer_text(lt_turn *turn, const lt_output *output, lt_str text);
void lt_turn_observer_call(lt_turn *turn, const lt_output *output, const lt_outbox_tool *tool);
void lt_turn_observer_result(lt_turn *turn, const lt_output *output, lt_status status, lt_str answer);

#endif
