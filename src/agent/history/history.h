/* What a model is shown of a conversation's earlier prompts; internal to agent/.
 *
 * Pure functions on JSON text: prompts as the store gives them (seed 014) become messages, in the form of the mode that
 * asks: what was done in that mode as the model itself did it, what was done in another as text. Stored text that makes
 * no sense is left out; it never fails the conversation.
 *
 * Too much is made to fit: the oldest calls' answers and programs' feedback are shortened, then their calls and
 * programs left out with a note, then the model's own texts; never what the user said.
 */
#ifndef LT_AGENT_HISTORY_HISTORY_H
#define LT_AGENT_HISTORY_HISTORY_H

#include "agent/tool_definitions.h"
#include "json/json.h"

struct lt_mode;

/* What is shown as the model's own doing; everything else is described in text. */
typedef enum lt_history_form {
  LT_HISTORY_CLASSIC,    /* calls of tools */
  LT_HISTORY_TYPESCRIPT, /* programs that the model hands to a tool */
  LT_HISTORY_CODE,       /* programs that are the model's replies */
} lt_history_form;

typedef struct lt_history {
  lt_str prompts; /* a JSON array, oldest first; empty: none */
  lt_str current; /* the id of the prompt that is being carried out, which is left out; may be empty */
  lt_history_form form;
  const struct lt_mode *const *modes; /* the built-in ones: how their prompts are stored */
  size_t mode_count;
  const lt_tool_definitions *definitions; /* the names that tools have for the model; may be NULL */
  size_t max_tokens;                      /* estimated, text/tokens.h; 0: all there is */
  lt_str *ret_data; /* CODE: what the last program with complete({data}) left, in `prompts`; may be NULL */
} lt_history;

/* Appends the messages to an array that is being written. `ret_user` (may be NULL): where the last message is the
 * user's, its text is appended to this instead, as what the user says now joins it. Errors: LT_E_NOMEM; LT_E_LIMIT (the
 * buffer's ceiling); and LT_E_SYNTAX when `prompts` as a whole is no JSON array. */
lt_status lt_history_put(const lt_history *history, lt_json_writer *w, lt_buf *ret_user, lt_err *err);

#endif
