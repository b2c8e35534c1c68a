/* Parses server-sent events (WHATWG HTML, section 9.2) from a stream of bytes.
 *
 * The stream may be cut into pieces anywhere. Lines end in LF, CR or CR LF. A byte order mark at the beginning is
 * skipped. Comments and unknown fields are ignored, but counted. An event without an empty line after it is dropped.
 */
#ifndef LT_TEXT_SSE_H
#define LT_TEXT_SSE_H

#include <stdbool.h>

#include "base/buf.h"

typedef struct lt_sse_event {
  lt_str event; /* empty: "message" */
  lt_str data;  /* lines joined by LF */
  lt_str id;    /* the last one seen in the stream */
} lt_sse_event;

typedef struct lt_sse {
  lt_buf bytes;   /* from `at`: not read yet */
  size_t at;      /* where the next line begins */
  size_t scanned; /* no end of line in [at, scanned) */
  size_t max_bytes;
  lt_buf event, data, id;
  bool has_data;
  bool given;    /* `event` and `data` were returned: the next call clears them */
  bool after_cr; /* the last line ended in CR: an LF that follows belongs to it */
  bool begun;
  int64_t retry_ms; /* what the stream asked for; -1: nothing */
  size_t read;      /* bytes of whole lines and of comments so far; the caller may set it to 0 */
} lt_sse;

/* `max_bytes`: of one event. */
void lt_sse_init(lt_sse *sse, size_t max_bytes);
void lt_sse_release(lt_sse *sse);

/* Adds received bytes. Take out all events before the next call. Errors, which stick: LT_E_NOMEM; LT_E_LIMIT (an event
 * over the ceiling). LT_E_LIMIT is returned by the call after the one with the long event, so call once more with empty
 * bytes at the end. */
lt_status lt_sse_add(lt_sse *sse, lt_str bytes);
/* The next complete event. False when there is none. Borrows: until the next call of either function. */
bool lt_sse_next(lt_sse *sse, lt_sse_event *ret_event);

#endif
