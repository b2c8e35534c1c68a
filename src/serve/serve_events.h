/* Events of all prompts: numbered by the store, then sent to their readers. Internal to serve/.
 *
 * Every event but prompt.stream is stored before anybody gets it, so that a reader who comes back with the number of
 * its last event misses none and gets none twice. Pieces of text (prompt.stream) have no number: who is away or slow
 * misses them, and gets the whole text in prompt.output. All events of a user come in one order, that in which they
 * happened.
 *
 * A reader gets events as they happen while its connection takes them. When LT_SERVE_READER_BYTES wait for it, it is
 * behind: nothing more is kept for it, and when the connection has taken what waits, it reads on from the store.
 */
#ifndef LT_SERVE_SERVE_EVENTS_H
#define LT_SERVE_SERVE_EVENTS_H

#include "serve/serve_request.h"

/* Reads the number of the last event. LT_YIELDS. Errors: the store's, LT_E_NOMEM. Owns: the caller,
 * lt_serve_events_close. */
lt_status lt_serve_events_open(lt_serve *serve, lt_serve_events **ret_events, lt_err *err) LT_YIELDS;
/* Waits until all events are stored. All readers must be gone. NULL is allowed. LT_YIELDS. */
void lt_serve_events_close(lt_serve_events *events) LT_YIELDS;

/* Takes an event of the agent (lt_agent_options.on_event). Copies. Does not yield. Events of a prompt that is not
 * stored (lt_agent_is_stored) are held until it is, and forgotten when it ends before. False: it is not stored. */
bool lt_serve_events_take(lt_serve_events *events, lt_str user, const char *name, lt_str data);
/* Takes the ends of prompts that have ended without anybody having told so (lt_store_events_unended): their process was
 * killed, or was no server. Cheap when there are none. LT_YIELDS. Errors: the store's, LT_E_NOMEM. */
lt_status lt_serve_events_tell_unended(lt_serve_events *events, lt_err *err) LT_YIELDS;
/* The prompt is stored now: its events wait no longer for its next one. */
void lt_serve_events_release(lt_serve_events *events, lt_str prompt);

/* What waits, and who reads. */
typedef struct lt_serve_events_counts {
  size_t queued, queued_bytes, readers;
} lt_serve_events_counts;

lt_serve_events_counts lt_serve_events_count(const lt_serve_events *events);

/* A reader, in its fiber's frame. */
typedef struct lt_serve_reader {
  struct lt_serve_reader *next;
  lt_serve_request *request;
  char subject[LT_STORE_ID_BYTES + 1]; /* a prompt's id; "": all events of the user */
  int64_t since;                       /* number of the last event that is not wanted */
  int64_t last;                        /* number of the last event that was sent, or is not wanted */
  bool ends_with_prompt;               /* the stream ends with the prompt */
  bool is_behind;
  bool has_ended;
  bool is_begun; /* the answer: until then, what is sent is held */
  lt_buf held;
  lt_status status; /* the connection's */
  lt_wait wait;
} lt_serve_reader;

/* Adds a reader of what happens from now on, or of everything above `after` when that is not negative. Events are kept
 * for it until lt_serve_events_send, as many as for a slow reader. False: there are too many readers (serve_limits.h),
 * and the answer says so. */
bool lt_serve_events_join(lt_serve_reader *reader, lt_serve_request *request, lt_str subject, int64_t after);
/* Sends events as server-sent events until the client is gone, the server ends, or the prompt has. LT_YIELDS. */
void lt_serve_events_send(lt_serve_reader *reader) LT_YIELDS;
/* Removes the reader. */
void lt_serve_events_leave(lt_serve_reader *reader);

#endif
