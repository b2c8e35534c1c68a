#include "trace/otlp.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"

/* opentelemetry.proto.trace.v1: SpanFlags, Status.StatusCode */
enum { OTLP_FLAG_SAMPLED = 1, OTLP_FLAG_HAS_IS_REMOTE = 0x100, OTLP_FLAG_IS_REMOTE = 0x200, OTLP_STATUS_ERROR = 2 };

static void otlp_put_hex(lt_json_writer *w, const char *key, const uint8_t *bytes, size_t n) {
  char text[2 * LT_TRACE_ID_BYTES + 1];
  for (size_t i = 0; i < n; i++) {
    snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  }
  lt_json_key(w, key);
  lt_json_put_cstr(w, text);
}

/* "64-bit integer numbers in JSON-encoded payloads are encoded as decimal strings" */
static void otlp_put_number(lt_json_writer *w, const char *key, uint64_t n) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, n);
  lt_json_key(w, key);
  lt_json_put_cstr(w, text);
}

/* --- Attributes --------------------------------------------------------------------------------------------------- */
static void otlp_begin_value(lt_json_writer *w, lt_str key, const char *type) {
  lt_json_begin_object(w);
  lt_json_key(w, "key");
  lt_json_put_str(w, key);
  lt_json_key(w, "value");
  lt_json_begin_object(w);
  lt_json_key(w, type);
}

static void otlp_end_value(lt_json_writer *w) {
  lt_json_end_object(w);
  lt_json_end_object(w);
}

/* Cut in front of a character, not inside it. */
static lt_str otlp_cut(lt_str text) {
  size_t n = text.n < LT_TRACE_TEXT_BYTES ? text.n : LT_TRACE_TEXT_BYTES;
  while (n > 0 && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80) {
    n--;
  }
  return lt_str_sub(text, 0, n);
}

void lt_otlp_put_resource_text(lt_json_writer *w, lt_str key, lt_str value) {
  otlp_begin_value(w, key, "stringValue");
  lt_json_put_str(w, otlp_cut(value));
  otlp_end_value(w);
}

void lt_otlp_put_resource_int(lt_json_writer *w, const char *key, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  otlp_begin_value(w, lt_str_of(key), "intValue");
  lt_json_put_cstr(w, text);
  otlp_end_value(w);
}

void lt_otlp_put_text(lt_otlp_writer *writer, const char *key, lt_str value) {
  if (value.n > 0) {
    lt_otlp_put_resource_text(&writer->w, lt_str_of(key), value);
  }
}

void lt_otlp_put_int(lt_otlp_writer *writer, const char *key, int64_t value) {
  lt_otlp_put_resource_int(&writer->w, key, value);
}

void lt_otlp_put_bool(lt_otlp_writer *writer, const char *key, bool value) {
  otlp_begin_value(&writer->w, lt_str_of(key), "boolValue");
  lt_json_put_bool(&writer->w, value);
  otlp_end_value(&writer->w);
}

void lt_otlp_put_list(lt_otlp_writer *writer, const char *key, lt_str value) {
  lt_json_writer *w = &writer->w;
  otlp_begin_value(w, lt_str_of(key), "arrayValue");
  lt_json_begin_object(w);
  lt_json_key(w, "values");
  lt_json_begin_array(w);
  lt_json_begin_object(w);
  lt_json_key(w, "stringValue");
  lt_json_put_str(w, otlp_cut(value));
  lt_json_end_object(w);
  lt_json_end_array(w);
  lt_json_end_object(w);
  otlp_end_value(w);
}

/* --- Spans -------------------------------------------------------------------------------------------------------- */
static void otlp_put_ids(lt_json_writer *w, const lt_trace_context *context) {
  otlp_put_hex(w, "traceId", context->trace_id, LT_TRACE_ID_BYTES);
  otlp_put_hex(w, "spanId", context->span_id, LT_SPAN_ID_BYTES);
  if (context->state.n > 0) {
    lt_json_key(w, "traceState");
    lt_json_put_str(w, context->state);
  }
}

/* `remote`: the context whose being remote is told, the parent's or the link's own. */
static void otlp_put_flags(lt_json_writer *w, const lt_trace_context *context, const lt_trace_context *remote) {
  bool is_remote = lt_trace_context_has_span(remote) && remote->is_remote;
  lt_json_key(w, "flags");
  lt_json_put_int(w, OTLP_FLAG_HAS_IS_REMOTE | (context->is_sampled ? OTLP_FLAG_SAMPLED : 0) |
                         (is_remote ? OTLP_FLAG_IS_REMOTE : 0));
}

static void otlp_put_link(lt_json_writer *w, const lt_trace_context *link) {
  if (!lt_trace_context_has_span(link)) {
    return;
  }
  lt_json_key(w, "links");
  lt_json_begin_array(w);
  lt_json_begin_object(w);
  otlp_put_ids(w, link);
  otlp_put_flags(w, link, link);
  lt_json_end_object(w);
  lt_json_end_array(w);
}

void lt_otlp_begin_span(lt_otlp_writer *writer, lt_buf *out, const lt_otlp_span *span) {
  *writer = (lt_otlp_writer){.w = lt_json_writer_on(out), .place = LT_OTLP_IN_SPAN};
  lt_json_writer *w = &writer->w;
  lt_json_begin_object(w);
  otlp_put_ids(w, span->context);
  if (lt_trace_context_has_span(span->parent)) {
    otlp_put_hex(w, "parentSpanId", span->parent->span_id, LT_SPAN_ID_BYTES);
  }
  otlp_put_link(w, span->link);
  otlp_put_flags(w, span->context, span->parent);
  lt_json_key(w, "name");
  lt_json_put_str(w, otlp_cut(span->name));
  lt_json_key(w, "kind");
  lt_json_put_int(w, span->kind);
  otlp_put_number(w, "startTimeUnixNano", span->begin_ns);
  otlp_put_number(w, "endTimeUnixNano", span->end_ns);
  lt_json_key(w, "attributes");
  lt_json_begin_array(w);
}

/* An event, or the span's attributes. */
static void otlp_end_part(lt_otlp_writer *writer) {
  lt_json_end_array(&writer->w);
  if (writer->place != LT_OTLP_IN_SPAN) {
    lt_json_end_object(&writer->w);
  }
}

void lt_otlp_begin_event(lt_otlp_writer *writer, const char *name, uint64_t time_ns) {
  lt_json_writer *w = &writer->w;
  otlp_end_part(writer);
  if (writer->place == LT_OTLP_IN_SPAN) {
    lt_json_key(w, "events");
    lt_json_begin_array(w);
  }
  writer->place = LT_OTLP_IN_EVENT;
  lt_json_begin_object(w);
  otlp_put_number(w, "timeUnixNano", time_ns);
  lt_json_key(w, "name");
  lt_json_put_cstr(w, name);
  lt_json_key(w, "attributes");
  lt_json_begin_array(w);
}

void lt_otlp_end_span(lt_otlp_writer *writer, bool is_error, lt_str message) {
  lt_json_writer *w = &writer->w;
  otlp_end_part(writer);
  if (writer->place != LT_OTLP_IN_SPAN) {
    lt_json_end_array(w);
  }
  if (is_error) {
    lt_json_key(w, "status");
    lt_json_begin_object(w);
    lt_json_key(w, "code");
    lt_json_put_int(w, OTLP_STATUS_ERROR);
    if (message.n > 0) {
      lt_json_key(w, "message");
      lt_json_put_str(w, otlp_cut(message));
    }
    lt_json_end_object(w);
  }
  lt_json_end_object(w);
}

/* --- A request ---------------------------------------------------------------------------------------------------- */
void lt_otlp_put_request(lt_buf *out, lt_str resource, lt_str spans) {
  lt_buf_addc(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":");
  lt_buf_add(out, resource);
  lt_buf_addc(out, "},\"scopeSpans\":[{\"scope\":{\"name\":\"lathe\",\"version\":\"" LT_VERSION "\"},\"spans\":[");
  lt_buf_add(out, spans);
  lt_buf_addc(out, "]}]}]}");
}
