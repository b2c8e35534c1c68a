/* Reads the history of a turn from the store, and writes it for its model. Internal to agent/. */
#ifndef LT_AGENT_HISTORY_HISTORY_TURN_H
#define LT_AGENT_HISTORY_HISTORY_TURN_H

#include "agent/turn.h"

/* Reads the prompts of the conversation, the turn's own included, into turn->history. Of a conversation that is too
 * long for the memory limit only the end is read. LT_YIELDS. Errors: the store's, LT_E_NOMEM. */
lt_status lt_history_turn_read(lt_turn *turn, lt_err *err) LT_YIELDS;

/* Appends the messages of earlier prompts to an open array, in the form of the turn's mode. They are shortened to
 * `max_tokens` (history.h). `ret_user` and `ret_parts`: as in lt_history_put. A long history is processed on another
 * thread. LT_YIELDS. Errors: those of lt_history_put. */
lt_status lt_history_turn_put(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_buf *ret_user,
                              lt_buf *ret_parts, lt_err *err) LT_YIELDS;
/* Writes the stored JSON of the earlier prompts, an array. LT_YIELDS. Errors: LT_E_SYNTAX, LT_E_NOMEM. */
lt_status lt_history_turn_copy(const lt_turn *turn, lt_json_writer *w, lt_err *err) LT_YIELDS;

#endif
