/* Conversations, their prompts, and what these put out; stored before anybody is shown it.
 *
 * Ids are 32 hexadecimal digits, made by whoever creates (lt_store_new_id). Texts come back as JSON, in the shapes that
 * the functions tell. Everybody sees only what belongs to the user they name. Every function LT_YIELDS and fails with
 * lt_db_run's errors; LT_E_NOTFOUND: there is no such thing that belongs to the user.
 */
#ifndef LT_STORE_PROMPTS_H
#define LT_STORE_PROMPTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "store/db.h"

#define LT_STORE_ID_BYTES 32
/* 32 random hexadecimal digits. Errors: LT_E_IO. */
lt_status lt_store_new_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err);
/* The same for a prompt, whose id begins with the time: what is recorded of a prompt is found by its id, and so lies
 * beside what is recorded at the same time. A thousand prompts at once write far fewer pages then. */
lt_status lt_store_new_prompt_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err);

/* --- Conversations ------------------------------------------------------------------------------------------------ */
/* Appends {"id", "title" (or null), "createdAt", "updatedAt", "prompts": how many}. */
lt_status lt_store_conversation_get(lt_db *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* The user's, last used first, as an array of the same; at most `max`. */
lt_status lt_store_conversation_list(lt_db *db, lt_str user, size_t max, lt_buf *out, lt_err *err) LT_YIELDS;
lt_status lt_store_conversation_set_title(lt_db *db, lt_str user, lt_str id, lt_str title, lt_err *err) LT_YIELDS;

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
/* running, waiting_for_approval, completed, failed, cancelled */
typedef enum lt_prompt_state {
  LT_PROMPT_RUNNING,
  LT_PROMPT_WAITING,
  LT_PROMPT_COMPLETED,
  LT_PROMPT_FAILED,
  LT_PROMPT_CANCELLED,
} lt_prompt_state;
const char *lt_prompt_state_name(lt_prompt_state state);

typedef struct lt_prompt_row {
  lt_str id;
  lt_str user;
  lt_str conversation; /* made with the prompt when it is not there */
  lt_str model;        /* the ref */
  lt_str mode;
  lt_str input;
  bool visible;
} lt_prompt_row;

/* A new prompt, running, and its conversation if that is new. It belongs to this process from the beginning, as after
 * lt_store_prompt_claim. LT_E_INVALID: the conversation has a prompt that has not ended, a prompt's id is taken, or an
 * id is none. LT_E_DENIED: the conversation belongs to somebody else. Durable. */
lt_status lt_store_prompt_create(lt_db *db, const lt_prompt_row *row, lt_err *err) LT_YIELDS;
/* Its state; with the first that is an end, also when it ended, and it belongs to nobody any more. `usage`: JSON text,
 * or empty: as it was; `error`: why it failed, or empty. LT_E_INVALID: it has ended and is to go on, or `usage` is not
 * JSON. */
lt_status lt_store_prompt_set_state(lt_db *db, lt_str id, lt_prompt_state state, lt_str usage, lt_str error,
                                    lt_err *err) LT_YIELDS;
/* Output `number` (from 0) of a prompt, JSON text; one that is there is replaced in place. LT_E_INVALID: it is not
 * JSON.
 */
lt_status lt_store_prompt_put_output(lt_db *db, lt_str id, uint32_t number, lt_str json, lt_err *err) LT_YIELDS;
/* Several of both in one job, of which all is kept or nothing: the outputs in their order, then the state, as the two
 * functions above do. A round of an agent that says something, begins a call and waits for an approval is one
 * transaction instead of three. `change` may be NULL. */
typedef struct lt_prompt_output {
  uint32_t number;
  lt_str json;
} lt_prompt_output;
typedef struct lt_prompt_change {
  lt_prompt_state state;
  lt_str usage; /* may be empty */
  lt_str error; /* may be empty */
} lt_prompt_change;
lt_status lt_store_prompt_update(lt_db *db, lt_str id, const lt_prompt_output *outputs, size_t count,
                                 const lt_prompt_change *change, lt_err *err) LT_YIELDS;
/* Appends {"id", "userId", "conversationId", "model", "mode", "visible", "state", "input", "output": [...], "usage"?,
 * "error"?, "createdAt", "completedAt"?}. */
lt_status lt_store_prompt_get(lt_db *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* The conversation's prompts as an array of the same, oldest first: the last `max` of them. An unknown conversation has
 * none. */
lt_status lt_store_history(lt_db *db, lt_str user, lt_str conversation, size_t max, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Whose a running prompt is ------------------------------------------------------------------------------------ */
/* A prompt belongs to the process that runs it. Takes it, if it belongs to nobody, to a process that is gone (its pid
 * on this machine, with its start time, so that a pid used again is no confusion), or to us. LT_E_INVALID: it runs in
 * another process, with its pid; or it has ended. */
lt_status lt_store_prompt_claim(lt_db *db, lt_str id, lt_err *err) LT_YIELDS;
/* Gives it back: it is an orphan then, unless it has ended. What belongs to another process stays there. */
lt_status lt_store_prompt_release(lt_db *db, lt_str id, lt_err *err) LT_YIELDS;
/* The ids of prompts that have not ended and belong to no living process, oldest first, as a JSON array. */
lt_status lt_store_prompt_orphans(lt_db *db, lt_buf *out, lt_err *err) LT_YIELDS;
/* Those of a user, in one conversation or (empty) in any, as an array of {"id", "conversationId", "state"}. */
lt_status lt_store_prompt_orphans_of(lt_db *db, lt_str user, lt_str conversation, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
