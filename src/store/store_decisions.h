/* Decisions about prompts: rows that any process may write, and that the process which runs the prompt takes.
 *
 * A decision approves or rejects one tool call that waits for an approval, or cancels the prompt. Rows are never
 * changed, except that `taken` is set once the decision holds, and never deleted before their prompt. Every function
 * LT_YIELDS and may fail with the errors that store.h lists.
 */
#ifndef LT_STORE_STORE_DECISIONS_H
#define LT_STORE_STORE_DECISIONS_H

#include "store/store.h"
#include "tool/decision.h"

typedef enum lt_decision_verb { LT_VERB_APPROVE, LT_VERB_REJECT, LT_VERB_CANCEL } lt_decision_verb;

typedef struct lt_decision_row {
  lt_str prompt;
  lt_decision_verb verb;
  lt_str user;
  lt_str call;          /* the id of the call's output; empty for LT_VERB_CANCEL */
  uint64_t hash;        /* lt_journal_hash of the shown call: a later call with the same id is another call */
  lt_str tool;          /* the id; may be empty for LT_VERB_CANCEL */
  lt_decision decision; /* its reason, input and remember */
} lt_decision_row;

/* Appends a decision. LT_E_NOTFOUND: this user has no such prompt, or it has ended (`Prompt "..." not found or no
 * longer active`); LT_E_INVALID: the same call was decided about, and the decision is not taken yet. Durable. */
lt_status lt_store_decision_put(lt_store *store, const lt_decision_row *row, int64_t *ret_id, lt_err *err) LT_YIELDS;
/* Marks a decision as taken. */
lt_status lt_store_decision_take(lt_store *store, int64_t id, lt_err *err) LT_YIELDS;
/* Appends a JSON array of a prompt's decisions, oldest first: {"id", "verb", "user", "call", "hash" (hexadecimal),
 * "tool", "reason", "input", "remember", "createdAt", "takenAt" (or null)}. */
lt_status lt_store_decision_list(lt_store *store, lt_str prompt, lt_buf *out, lt_err *err) LT_YIELDS;
/* Appends those of `prompts` that have a decision which is not taken. In both, each id has LT_STORE_ID_BYTES and a NUL
 * behind it. */
lt_status lt_store_decision_find_open(lt_store *store, lt_str prompts, lt_buf *out, lt_err *err) LT_YIELDS;
/* Appends the taken decisions that hold until the conversation ends, in the same shape. */
lt_status lt_store_decision_list_session(lt_store *store, lt_str conversation, lt_buf *out, lt_err *err) LT_YIELDS;
/* A number that differs after another process has written to the store. */
lt_status lt_store_decision_version(lt_store *store, int64_t *ret_version, lt_err *err) LT_YIELDS;
/* Appends the name of the process that runs a prompt, for messages; nothing: none is known to live. LT_E_NOTFOUND: this
 * user has no such prompt, or it has ended. */
lt_status lt_store_decision_owner(lt_store *store, lt_str user, lt_str prompt, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
