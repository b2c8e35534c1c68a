/* Conversations, their prompts, and the prompts' outputs. They are stored before they are shown.
 *
 * Ids are 32 hexadecimal digits; the caller makes the id before it creates a thing. Results are JSON text, in the shape
 * that each function names. A user sees only what belongs to that user. Every function but those that make and name ids
 * LT_YIELDS and may fail with the errors that store.h lists; LT_E_NOTFOUND: no such thing belongs to the user.
 */
#ifndef LT_STORE_STORE_PROMPTS_H
#define LT_STORE_STORE_PROMPTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "store/store.h"

/* lt_store_new_id for a prompt: the id begins with the time. The records of a prompt are sorted by its id, so records
 * of the same moment are neighbours, and a thousand prompts at once write far fewer pages. */
lt_status lt_store_new_prompt_id(char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err);

/* --- Conversations ------------------------------------------------------------------------------------------------ */
/* Appends {"id", "title" (or null), "createdAt", "updatedAt", "prompts": how many}. */
lt_status lt_store_conversation_get(lt_store *store, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* Appends the user's conversations as an array of the same, last used first; at most `max`. */
lt_status lt_store_conversation_list(lt_store *store, lt_str user, size_t max, lt_buf *out, lt_err *err) LT_YIELDS;
typedef struct lt_conversation_page {
  lt_str user;
  lt_str text; /* only conversations that have it in their title, a message or an answer; empty: all */
  /* Those that were last used before `used_at`, the `updatedAt` of the conversation `id` that the page before ended
   * with; empty: the first page. */
  lt_str used_at, id;
  size_t max;
} lt_conversation_page;
/* The same, in pages. Letters of ASCII match in either case. */
lt_status lt_store_conversation_page(lt_store *store, const lt_conversation_page *page, lt_buf *out,
                                     lt_err *err) LT_YIELDS;
lt_status lt_store_conversation_set_title(lt_store *store, lt_str user, lt_str id, lt_str title, lt_err *err) LT_YIELDS;

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
/* running, waiting_for_approval, completed, failed, cancelled */
typedef enum lt_prompt_state {
  LT_PROMPT_RUNNING,
  LT_PROMPT_WAITING,
  LT_PROMPT_COMPLETED,
  LT_PROMPT_FAILED,
  LT_PROMPT_CANCELLED,
} lt_prompt_state;
const char *lt_store_prompt_state_name(lt_prompt_state state);

typedef struct lt_prompt_row {
  lt_str id;
  lt_str user;
  lt_str conversation; /* created with the prompt if it does not exist */
  lt_str model;        /* the ref */
  lt_str mode;
  lt_str input;
  lt_str origin; /* the configuration of the process, as JSON; may be empty */
  /* What the user has sent with the input, as JSON: [{"id" of the artifact, "name", "mimeType", "bytes"}]; or empty. */
  lt_str attachments;
  bool visible;
  bool is_lazy; /* a power failure may take it back, unless something durable was stored after it */
} lt_prompt_row;

/* Creates a running prompt, and its conversation if that is new. The prompt belongs to this process, as after
 * lt_store_prompt_claim. LT_E_INVALID: the conversation has a prompt that has not ended, the prompt's id is taken, or
 * an id is malformed. LT_E_DENIED: the conversation belongs to another user. Durable, but for `is_lazy`. */
lt_status lt_store_prompt_create(lt_store *store, const lt_prompt_row *row, lt_err *err) LT_YIELDS;
/* Sets the state. The first final state also sets the time of the end and releases the lease.
 * `usage`: JSON text, or empty to keep what is there; `error`: why it failed, or empty. LT_E_INVALID: the prompt has
 * ended and the new state is not final, or `usage` is not JSON. */
lt_status lt_store_prompt_set_state(lt_store *store, lt_str id, lt_prompt_state state, lt_str usage, lt_str error,
                                    lt_err *err) LT_YIELDS;
/* Writes a prompt's output with the zero-based index `number`, or replaces it in place. LT_E_INVALID: not JSON. */
lt_status lt_store_prompt_put_output(lt_store *store, lt_str id, uint32_t number, lt_str json, lt_err *err) LT_YIELDS;
/* Writes outputs in their order and then sets the state, all or nothing, in one job. So a round of an agent with a
 * text, a new call and an approval is one transaction instead of three. `change` may be NULL. */
typedef struct lt_prompt_output {
  uint32_t number;
  lt_str json;
  uint64_t change; /* number of this change among all changes of the prompt's outputs, from 1; 0: it counts as shown */
} lt_prompt_output;
typedef struct lt_prompt_change {
  lt_prompt_state state;
  lt_str usage;      /* may be empty */
  lt_str error;      /* may be empty */
  lt_str incomplete; /* why a completed prompt has no whole answer; may be empty */
} lt_prompt_change;
lt_status lt_store_prompt_update(lt_store *store, lt_str id, const lt_prompt_output *outputs, size_t count,
                                 const lt_prompt_change *change, lt_err *err) LT_YIELDS;
/* Appends {"id", "userId", "conversationId", "model", "mode", "visible", "state", "input", "attachments"?, "output":
 * [...], "usage"?, "error"?, "incomplete"?: {"reason"}, "createdAt", "completedAt"?}. */
lt_status lt_store_prompt_get(lt_store *store, lt_str user, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
/* The last `max` prompts of a conversation as an array of the same, oldest first, without those that were taken back.
 * An unknown conversation has none. */
lt_status lt_store_history(lt_store *store, lt_str user, lt_str conversation, size_t max, lt_buf *out,
                           lt_err *err) LT_YIELDS;
/* The same, of the prompts before the prompt `before`; empty: of all. */
lt_status lt_store_history_before(lt_store *store, lt_str user, lt_str conversation, lt_str before, size_t max,
                                  lt_buf *out, lt_err *err) LT_YIELDS;
/* Takes back a conversation's last prompt: from now on histories, lists of conversations and searches are without it,
 * and so is what a model is told. A summary that covers it counts no more. The prompt is still found by its id, and its
 * calls stay on record. LT_E_INVALID: it has not ended, a later one follows, or it has been taken back already. */
lt_status lt_store_prompt_undo(lt_store *store, lt_str user, lt_str id, lt_err *err) LT_YIELDS;

/* --- What a reader has got ---------------------------------------------------------------------------------------- */
/* Notes that a reader has got the outputs of a prompt up to this change. Lower numbers change nothing. Does not yield
 * or wait, and is not durable: what a power failure takes back is shown again. Copies. A failure to write is ignored.
 * Errors: LT_E_NOMEM, LT_E_CLOSED. */
lt_status lt_store_prompt_set_shown(lt_store *store, lt_str id, uint64_t change, lt_err *err);
/* The same, and waits until it is written. LT_YIELDS. */
lt_status lt_store_prompt_keep_shown(lt_store *store, lt_str id, uint64_t change, lt_err *err) LT_YIELDS;
/* Appends the outputs of a prompt that no reader has got, in the order of their changes, and the number of the last
 * change of all: {"last", "outputs": [{"number", "change"}]}. */
lt_status lt_store_prompt_unshown(lt_store *store, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;

/* The origin of a prompt: appends what it was created with, or what was set since; nothing for an older Lathe's. */
lt_status lt_store_prompt_origin(lt_store *store, lt_str id, lt_buf *out, lt_err *err) LT_YIELDS;
lt_status lt_store_prompt_set_origin(lt_store *store, lt_str id, lt_str origin, lt_err *err) LT_YIELDS;

/* --- Leases: which process runs a prompt -------------------------------------------------------------------------- */
/* Takes the lease of a prompt for this process, if no other living process has it (lease.h). A process elsewhere whose
 * heartbeat has stopped is watched for LT_LEASE_WATCH_MS first. LT_E_INVALID: another process runs it, named by its
 * pid; or the prompt has ended. */
lt_status lt_store_prompt_claim(lt_store *store, lt_str id, lt_err *err) LT_YIELDS;
/* Releases the lease of this process. A prompt that has not ended is then an orphan. The lease of another process
 * stays. */
lt_status lt_store_prompt_release(lt_store *store, lt_str id, lt_err *err) LT_YIELDS;
/* Shows other containers that this process lives: to be called every LT_LEASE_BEAT_MS while it has prompts. A prompt
 * that another process has taken over can be changed no more: LT_E_CLOSED. */
lt_status lt_store_beat(lt_store *store, lt_err *err) LT_YIELDS;
/* Appends a JSON array of the ids of all orphans, oldest first. An orphan is a prompt that has not ended and has no
 * living process. */
lt_status lt_store_prompt_orphans(lt_store *store, lt_buf *out, lt_err *err) LT_YIELDS;
/* The orphans of one user or (empty) of all, in one conversation or (empty) in any, as an array of {"id",
 * "conversationId", "userId", "state"}. */
lt_status lt_store_prompt_orphans_of(lt_store *store, lt_str user, lt_str conversation, lt_buf *out,
                                     lt_err *err) LT_YIELDS;

/* --- Copies of prompts, for replay ------------------------------------------------------------ */
/* Finds the user's prompt whose id begins with `wanted`, or the newest one for "last"; else the newest prompt of the
 * conversation whose id begins with `wanted`. LT_E_NOTFOUND: no prompt; LT_E_INVALID: several,
 * which the message lists. */
lt_status lt_store_prompt_find(lt_store *store, lt_str user, lt_str wanted, char ret_id[LT_STORE_ID_BYTES + 1],
                               lt_err *err) LT_YIELDS;
/* Copies a prompt into an empty store, in the state "running" and without a process, with its records and the earlier
 * prompts of its conversation that had not been taken back when it began. `from` is only read. */
lt_status lt_store_prompt_copy(lt_store *to, lt_store *from, lt_str id, lt_err *err) LT_YIELDS;

#endif
