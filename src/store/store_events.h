/* Events of prompts, numbered and kept, so that a reader who was away goes on where it stopped; the tokens of those who
 * may read; and which prompts were asked for under a key of the asker's.
 *
 * A user sees only what belongs to that user. Events and keys go when their prompt or conversation does. Every function
 * LT_YIELDS and may fail with the errors that store.h lists.
 */
#ifndef LT_STORE_STORE_EVENTS_H
#define LT_STORE_STORE_EVENTS_H

#include "store/store.h"

/* --- Events ------------------------------------------------------------------------------------------------------- */
typedef struct lt_event_row {
  lt_str user;
  lt_str subject; /* the id of the prompt, or of the conversation */
  lt_str name;    /* "prompt.output" */
  lt_str data;    /* JSON */
  int64_t id;     /* set by lt_store_events_put */
} lt_event_row;

/* Whether an event of that name says that its prompt has ended: prompt.completed, .cancelled or .error. */
bool lt_store_event_is_end(lt_str name);
/* Stores events and numbers them, in their order; the numbers of a store only grow. Those before the last
 * LT_EVENTS_KEPT are removed. A prompt has one end: an end that is stored already is not stored again, and the row gets
 * its number. The rows must stay until it returns. */
lt_status lt_store_events_put(lt_store *store, lt_event_row *rows, size_t count, lt_err *err) LT_YIELDS;
/* Appends a user's events with a number above `after`, in order, as [{"id", "event", "data"}]: at most `max`, and no
 * more than about LT_EVENTS_READ_BYTES. `subject`: only those about it; empty: all. */
lt_status lt_store_events_list(lt_store *store, lt_str user, lt_str subject, int64_t after, size_t max, lt_buf *out,
                               lt_err *err) LT_YIELDS;
/* The number of the last event that was stored, whoever's it is; 0: none was. */
lt_status lt_store_events_last(lt_store *store, int64_t *ret_id, lt_err *err) LT_YIELDS;
/* Appends the prompts that have ended although no event says so, as [{"id", "userId"}], oldest first; LT_EVENTS_READ at
 * most. Their process was killed between the two, or was no server. Not those that have ended within
 * LT_EVENTS_UNENDED_MS: their process may be about to say so; and none without any event. Cheap, however many events
 * there are. */
lt_status lt_store_events_unended(lt_store *store, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Tokens ------------------------------------------------------------------------------------------------------- */
/* Keeps the hash of a token for a user. */
lt_status lt_store_token_add(lt_store *store, lt_str hash, lt_str user, lt_err *err) LT_YIELDS;
/* Removes the tokens of a user whose hash begins with `hash`; empty: all of them. LT_E_NOTFOUND: there is none. */
lt_status lt_store_token_remove(lt_store *store, lt_str user, lt_str hash, lt_err *err) LT_YIELDS;
/* Appends all tokens as [{"hash", "user", "createdAt"}], by user and age. */
lt_status lt_store_token_list(lt_store *store, lt_buf *out, lt_err *err) LT_YIELDS;

/* --- Keys of requests --------------------------------------------------------------------------------------------- */
/* Notes that a user asks for this prompt under a key. `ret_prompt` is the prompt that was first noted under the key,
 * which may be another one. LT_E_INVALID: it was noted with another `hash`. */
lt_status lt_store_key_note(lt_store *store, lt_str user, lt_str key, lt_str hash, lt_str prompt,
                            char ret_prompt[LT_STORE_ID_BYTES + 1], lt_err *err) LT_YIELDS;

#endif
