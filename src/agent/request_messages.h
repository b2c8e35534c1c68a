/* What a model is sent: the system message, earlier prompts, and this one so far. Internal to agent/.
 *
 * How long a model's context is is not known beforehand. Where it refuses a conversation for its length, earlier
 * prompts are shortened (agent/history/history.h), then what tools and programs have answered in this one, and it is
 * asked again.
 */
#ifndef LT_AGENT_REQUEST_MESSAGES_H
#define LT_AGENT_REQUEST_MESSAGES_H

#include "agent/turn.h"

typedef struct lt_request_messages {
  lt_turn *turn;
  lt_buf system;       /* a message, or nothing */
  lt_buf history;      /* messages as they stand in an array, or nothing */
  lt_buf history_user; /* text of the user's that ends the history, or nothing: what the user says now joins it */
  lt_buf rest;         /* an array that is not closed yet: this prompt's own messages */
  size_t input_end;    /* where its first message ends: what the user says now */
  lt_json_writer w;    /* on the rest: for the messages to come */
} lt_request_messages;

void lt_request_messages_init(lt_request_messages *messages, lt_turn *turn);
void lt_request_messages_release(lt_request_messages *messages);

/* The system message, which may be empty, the history, and what the user says. LT_YIELDS. Errors: LT_E_NOMEM,
 * LT_E_LIMIT, the history's. */
lt_status lt_request_messages_begin(lt_request_messages *messages, lt_str system, lt_err *err) LT_YIELDS;
/* Another system message in place of the one there is. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_request_messages_set_system(lt_request_messages *messages, lt_str system, lt_err *err);
/* Appends a message of text. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_request_messages_put(lt_request_messages *messages, const char *role, lt_str content, lt_err *err);
/* lt_turn_ask with all of them; shortens and asks again while the model refuses them for their length. LT_YIELDS. */
lt_status lt_request_messages_ask(lt_request_messages *messages, lt_str tools, bool stream, lt_completion *completion,
                                  lt_err *err) LT_YIELDS;

#endif
