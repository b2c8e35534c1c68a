/* Events on their way to the host: one queue of the environment, and one of each lathe_run.
 *
 * Any thread takes, under the lock of the environment; so does any thread put, but into the queue of a lathe_run only
 * who holds the loop.
 */
#ifndef LT_EMBED_EMBED_QUEUE_H
#define LT_EMBED_EMBED_QUEUE_H

#include <pthread.h>

#include "base/err.h"
#include "base/str.h"
#include "io/lane.h"
#include "lathe.h"
#include "runner/lane_crew.h"

typedef struct lt_embed_event {
  lathe_event base; /* first: what the host sees */
  struct lt_embed_event *next;
  char *text, *json; /* owned, in place of those behind this struct; NULL: there are none */
  size_t bytes;
} lt_embed_event;

typedef struct lt_embed_queue {
  lt_embed_event *first, **last;
  size_t count, bytes;
  lt_lane *lane;                /* of the lathe_run that takes them; NULL: lathe_next takes them */
  _Atomic(lt_lane_crew *) crew; /* whom a thread in lathe_next may help; NULL: there was no program so far */
  pthread_cond_t has_events;
  unsigned waiting;     /* threads that wait for has_events */
  int fd;               /* -1: there is none */
  bool is_polled;       /* it was asked for: it is readable while there are events that were told of */
  bool has_told_poller; /* it is readable */
} lt_embed_queue;

/* What an event says. */
typedef struct lt_embed_words {
  lt_str tool, text, json;
} lt_embed_words;

/* Errors: LT_E_IO: no descriptor. The queue may be released after an error, too. */
lt_status lt_embed_queue_init(lt_embed_queue *queue, bool has_fd, lt_err *err);
/* Frees the events that nobody has taken. Nobody waits any more. */
void lt_embed_queue_release(lt_embed_queue *queue);

/* Copies the words. NULL: no memory. Owns: the caller, until it is put. */
lt_embed_event *lt_embed_queue_make(lathe_event_type type, const lt_embed_words *words);
/* Adds an event, and tells of it. Owns: the queue. */
void lt_embed_queue_put(lt_embed_queue *queue, lt_embed_event *event);
/* The same in three steps, for a caller that adds several events to the queue of lathe_next. An event that was only
 * added is found by a thread that happens to ask. The last step wakes one thread in lathe_next, and needs no lock. */
void lt_embed_queue_add(lt_embed_queue *queue, lt_embed_event *event);
void lt_embed_queue_tell(lt_embed_queue *queue);
void lt_embed_queue_wake(lt_embed_queue *queue);
/* The descriptor, which is kept readable while there are events from the first such call on. Under the lock. */
int lt_embed_queue_open_fd(lt_embed_queue *queue);
/* Whether there is room for another event that may be refused. */
bool lt_embed_queue_has_room(const lt_embed_queue *queue);
/* NULL: there is none. Owns: the caller, lathe_event_free. */
lt_embed_event *lt_embed_queue_take(lt_embed_queue *queue);

#endif
