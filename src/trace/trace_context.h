/* Where a piece of work belongs in a trace (W3C Trace Context, "traceparent" and "tracestate"). Values only: nothing
 * here allocates, suspends or sends anything. What becomes of spans is in telemetry/telemetry.h.
 */
#ifndef LT_TRACE_TRACE_CONTEXT_H
#define LT_TRACE_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define LT_TRACE_ID_BYTES      16
#define LT_SPAN_ID_BYTES       8
#define LT_TRACE_PARENT_LENGTH 55 /* of a traceparent of version 00 */

typedef struct lt_trace_context {
  uint8_t trace_id[LT_TRACE_ID_BYTES]; /* all zero: there is no trace, and nothing of this context is recorded */
  uint8_t span_id[LT_SPAN_ID_BYTES];   /* all zero: the trace has no span yet */
  bool is_sampled;                     /* spans of the trace are recorded */
  bool is_remote;                      /* the span is another process's */
  lt_str state;                        /* the tracestate, passed on unchanged; may be empty. Borrows */
} lt_trace_context;

/* `context` may be NULL. */
bool lt_trace_context_is_set(const lt_trace_context *context);
bool lt_trace_context_has_span(const lt_trace_context *context);
/* Whether work in this context becomes a span. */
bool lt_trace_context_is_recorded(const lt_trace_context *context);

/* Reads both headers. False: `parent` is malformed, and `ret_context` is not set. A malformed or too long `state` is
 * left out. Borrows: `state`. */
bool lt_trace_context_read(lt_str parent, lt_str state, lt_trace_context *ret_context);
/* Writes the traceparent and a NUL. The context has a span. */
void lt_trace_context_print(const lt_trace_context *context, char ret_parent[LT_TRACE_PARENT_LENGTH + 1]);

/* A new span below `parent` (may be NULL), in the same trace. Not set when `parent` is not, or when the kernel has no
 * random bytes. Borrows the parent's state. */
lt_trace_context lt_trace_context_child(const lt_trace_context *parent);

#endif
