/* The history of a turn: read from the store, and shown to its model. Internal to agent/. */
#ifndef LT_AGENT_HISTORY_HISTORY_TURN_H
#define LT_AGENT_HISTORY_HISTORY_TURN_H

#include "agent/turn.h"

/* Reads the prompts of the conversation, the turn's own included, into turn->history. A conversation that is too long
 * for our memory is continued with its end. LT_YIELDS. Errors: the store's, LT_E_NOMEM. */
lt_status lt_history_turn_read(lt_turn *turn, lt_err *err) LT_YIELDS;

/* Appends the messages of earlier prompts, in the form that the turn's mode has for them, to an array that is being
 * written. They are shortened to `max_tokens`, oldest answers first, never the user's own words. `ret_user`: as in
 * lt_history_put. A long history is worked on off the loop. LT_YIELDS. Errors: those of lt_history_put. */
lt_status lt_history_turn_put(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_buf *ret_user,
                              lt_err *err) LT_YIELDS;
/* Writes the earlier prompts as they are stored, an array. LT_YIELDS. Errors: LT_E_SYNTAX, LT_E_NOMEM. */
lt_status lt_history_turn_copy(const lt_turn *turn, lt_json_writer *w, lt_err *err) LT_YIELDS;

#endif
