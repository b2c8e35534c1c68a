/* The prompts of a conversation as text: messages, answers, programs and calls. */
#ifndef LT_CLI_CONVERSATION_TEXT_H
#define LT_CLI_CONVERSATION_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef enum lt_conversation_form {
  LT_CONVERSATION_LINES,    /* for `conversations show`: a line for each call */
  LT_CONVERSATION_MARKDOWN, /* for an export: programs as blocks of code */
  LT_CONVERSATION_TALK,     /* Markdown of messages and answers alone, of an open prompt the message */
} lt_conversation_form;

/* Appends prompts, JSON as lt_store_history has it. Messages are quotes ("> "). `summary` is JSON as
 * lt_store_summary_get has it, and stands behind the last prompt that it covers; empty: none does. Errors: LT_E_INVALID
 * (not that JSON), LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_conversation_text_put(lt_str history, lt_str summary, lt_conversation_form form, lt_buf *out, lt_err *err);

#endif
