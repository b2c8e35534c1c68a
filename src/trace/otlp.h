/* Spans as JSON text of OTLP ("OTLP/HTTP", JSON Protobuf Encoding): ids in hexadecimal digits, 64-bit numbers as
 * strings, enumerations as numbers. Writes text only.
 *
 *   lt_otlp_begin_span      the span's head
 *   lt_otlp_put_...         its attributes
 *   lt_otlp_begin_event     an event, and its attributes; any number of times
 *   lt_otlp_end_span
 */
#ifndef LT_TRACE_OTLP_H
#define LT_TRACE_OTLP_H

#include "json/json.h"
#include "trace/trace_context.h"

/* opentelemetry.proto.trace.v1.Span.SpanKind */
typedef enum lt_span_kind { LT_SPAN_INTERNAL = 1, LT_SPAN_SERVER = 2, LT_SPAN_CLIENT = 3 } lt_span_kind;

typedef struct lt_otlp_span {
  const lt_trace_context *context; /* has a span */
  const lt_trace_context *parent;  /* NULL, or without a span: the span is its trace's first */
  const lt_trace_context *link;    /* another span that it belongs to; NULL, or without a span: none */
  lt_str name;
  lt_span_kind kind;
  uint64_t begin_ns, end_ns; /* since 1970 */
} lt_otlp_span;

typedef struct lt_otlp_writer {
  lt_json_writer w;
  enum { LT_OTLP_IN_SPAN, LT_OTLP_IN_EVENT } place;
} lt_otlp_writer;

/* A failure sticks in the buffer's status. */
void lt_otlp_begin_span(lt_otlp_writer *writer, lt_buf *out, const lt_otlp_span *span);
/* An attribute of what was begun last. An empty text is left out; a longer one than LT_TRACE_TEXT_BYTES is cut. */
void lt_otlp_put_text(lt_otlp_writer *writer, const char *key, lt_str value);
void lt_otlp_put_int(lt_otlp_writer *writer, const char *key, int64_t value);
void lt_otlp_put_bool(lt_otlp_writer *writer, const char *key, bool value);
/* A list of one text. */
void lt_otlp_put_list(lt_otlp_writer *writer, const char *key, lt_str value);
void lt_otlp_begin_event(lt_otlp_writer *writer, const char *name, uint64_t time_ns);
/* `is_error`: the span's status. `message` may be empty. */
void lt_otlp_end_span(lt_otlp_writer *writer, bool is_error, lt_str message);

/* One attribute as an object: {"key", "value"}, of a resource. */
void lt_otlp_put_resource_text(lt_json_writer *w, lt_str key, lt_str value);
void lt_otlp_put_resource_int(lt_json_writer *w, const char *key, int64_t value);

/* A whole request: `resource` is the array of its attributes, `spans` are spans with commas between them. */
void lt_otlp_put_request(lt_buf *out, lt_str resource, lt_str spans);

#endif
