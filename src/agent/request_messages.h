/* The messages of a model request: the system message, earlier prompts, and the current prompt so far. Internal to
 * agent/.
 *
 * The length of a model's context is unknown. When a model refuses a conversation for its length, this module shortens
 * earlier prompts (agent/history/history.h), then the answers of tools and programs in the current prompt, and asks
 * again.
 */
#ifndef LT_AGENT_REQUEST_MESSAGES_H
#define LT_AGENT_REQUEST_MESSAGES_H

#include "agent/turn.h"

typedef struct lt_request_messages {
  lt_turn *turn;
  lt_buf system;        /* a message, or empty */
  lt_buf history;       /* messages with commas between them, or empty */
  lt_buf history_user;  /* a user's text that ends the history, or empty: the new input is appended to it ... */
  lt_buf history_parts; /* ... and the parts of files that go with it, with commas between them (media_parts.h) */
  lt_buf rest;          /* the messages of this prompt: a JSON array that is not closed yet */
  size_t input_end;     /* the end of its first message, which is the user's input */
  lt_json_writer w;     /* writes to `rest` */
} lt_request_messages;

void lt_request_messages_init(lt_request_messages *messages, lt_turn *turn);
void lt_request_messages_release(lt_request_messages *messages);

/* Begins the messages: the system message, which may be empty, the history, and the user's input. LT_YIELDS. Errors:
 * LT_E_NOMEM, LT_E_LIMIT, the history's. */
lt_status lt_request_messages_begin(lt_request_messages *messages, lt_str system, lt_err *err) LT_YIELDS;
/* Replaces the system message. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_request_messages_set_system(lt_request_messages *messages, lt_str system, lt_err *err);
/* Appends a text message. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_request_messages_put(lt_request_messages *messages, const char *role, lt_str content, lt_err *err);
/* Calls lt_turn_ask with all messages. Shortens them and asks again while the model refuses them for their length.
 * LT_YIELDS. */
lt_status lt_request_messages_ask(lt_request_messages *messages, lt_str tools, bool stream, lt_completion *completion,
                                  lt_err *err) LT_YIELDS;

#endif
