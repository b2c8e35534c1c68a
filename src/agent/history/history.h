/* Writes a conversation's earlier prompts as messages for a model. Internal to agent/.
 *
 * These are pure functions on JSON text. Stored prompts (seed 014) become messages in the form of the current mode.
 * Actions in that mode appear in the form in which the model performed them; actions in another mode appear as text.
 * Invalid stored text is left out and never fails the conversation.
 *
 * A history that is too long is shortened, oldest parts first: answers of calls and feedback of programs are shortened,
 * then calls and programs are left out with a note, then the model's texts. The user's texts are never shortened.
 */
#ifndef LT_AGENT_HISTORY_HISTORY_H
#define LT_AGENT_HISTORY_HISTORY_H

#include "agent/conversation_summary.h"
#include "agent/tool_definitions.h"
#include "json/json.h"

struct lt_mode;

/* The actions that are written as the model's own; all others are described in text. */
typedef enum lt_history_form {
  LT_HISTORY_CLASSIC,    /* calls of tools */
  LT_HISTORY_TYPESCRIPT, /* programs that the model hands to a tool */
  LT_HISTORY_CODEX,      /* all calls of a prompt in mode codex: programs, and waiting for them */
  LT_HISTORY_CODE,       /* programs that are the model's replies */
} lt_history_form;

typedef struct lt_history {
  lt_str prompts;                  /* a JSON array, oldest first; empty: none */
  lt_str current;                  /* the id of the running prompt, which is left out; may be empty */
  lt_conversation_summary summary; /* stands in the place of the prompts that it covers; empty: nothing does */
  bool can_search;                 /* the model has the tool conversation.search */
  lt_str until;                    /* the id of the last prompt that is written; empty: all are */
  lt_history_form form;
  const struct lt_mode *const *modes; /* the built-in ones: how their prompts are stored */
  size_t mode_count;
  const lt_tool_definitions *definitions; /* the names that tools have for the model; may be NULL */
  size_t max_tokens;                      /* estimated (text/tokens.h); 0: no limit */
  lt_str *ret_data; /* CODE, CODEX: the data that the last program of that mode left; borrows `prompts`; may be NULL */
} lt_history;

/* How many tokens the earlier prompts may have in a request: half of the model's context. */
size_t lt_history_max_tokens(const lt_model *model);

/* Appends the messages to an open array. `ret_user` (may be NULL): when the last message is the user's, its text is
 * appended here instead, so that the user's new input can join it, and the parts of its files (media_parts.h) to
 * `ret_parts`. Errors: LT_E_NOMEM, LT_E_LIMIT (the buffer's
 * ceiling), LT_E_SYNTAX (`prompts` is not a JSON array). */
lt_status lt_history_put(const lt_history *history, lt_json_writer *w, lt_buf *ret_user, lt_buf *ret_parts,
                         lt_err *err);

#endif
