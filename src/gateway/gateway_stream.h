/* The messages to a client that belong to one request, or to none, in the order in which they are to be read. Internal
 * to gateway/.
 *
 * A stream collects what a request sends until somebody reads it: the handler of the POST, or later the one of a GET
 * that resumes it. It is shared by those who write, read and keep it (users). Loop thread only.
 */
#ifndef LT_GATEWAY_GATEWAY_STREAM_H
#define LT_GATEWAY_GATEWAY_STREAM_H

#include "gateway/gateway.h"
#include "io/loop.h"

typedef struct lt_gateway_event {
  struct lt_gateway_event *next;
  uint64_t number; /* in its stream, from 1 */
  size_t n;
  char message[]; /* n bytes of JSON */
} lt_gateway_event;

typedef struct lt_gateway_stream {
  struct lt_gateway_stream *prev, *next; /* of who keeps it */
  lt_loop *loop;
  unsigned users;
  uint32_t number; /* among the streams of a session */
  lt_gateway_event *first, *newest;
  uint64_t count;  /* of all events so far */
  size_t bytes;    /* of those that are still there */
  bool is_ended;   /* nothing more comes */
  int code;        /* ended: of the answer that is an error, or 0 */
  lt_wait *reader; /* of the fiber that reads, or NULL */
} lt_gateway_stream;

/* Has one user, the caller. Errors: LT_E_NOMEM. */
lt_status lt_gateway_stream_new(lt_loop *loop, lt_gateway_stream **ret_stream, lt_err *err);
/* The last user frees it. */
void lt_gateway_stream_drop(lt_gateway_stream *stream);

/* A way of one request into the stream. It is a user until `end` is called. */
lt_gateway_way lt_gateway_stream_way(lt_gateway_stream *stream);
/* Adds a message. One that comes when LT_GATEWAY_STREAM_BYTES are unread is left out. Does not yield. */
void lt_gateway_stream_add(lt_gateway_stream *stream, lt_str message);
void lt_gateway_stream_end(lt_gateway_stream *stream);

/* The first event behind the one of this number, or NULL. Borrows: until the next yield. */
const lt_gateway_event *lt_gateway_stream_after(const lt_gateway_stream *stream, uint64_t number);
/* Frees the events up to this number. */
void lt_gateway_stream_forget(lt_gateway_stream *stream, uint64_t number);
/* LT_YIELDS until there is an event behind `number`, or the stream has ended. Errors: LT_E_TIMEOUT, LT_E_CLOSED
 * (another reader has come), the reason of `cancel`. */
lt_status lt_gateway_stream_wait(lt_gateway_stream *stream, uint64_t number, uint64_t timeout_ms,
                                 lt_cancel *cancel) LT_YIELDS;

#endif
