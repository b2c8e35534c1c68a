#include "telemetry/telemetry.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "telemetry/span_exporter.h"
#include "telemetry/span_texts.h"

struct lt_telemetry {
  lt_arena arena; /* of the settings */
  lt_telemetry_settings settings;
  lt_span_exporter *exporter;
  lt_monitor monitor;
  lt_span_style style;
};

/* Spans of one process fit into each other although the system's clock is corrected; when it is set, or the machine has
 * slept, later spans have the new time. */
static const lt_span_style *telemetry_style(lt_telemetry *t) {
  int64_t offset_us = (int64_t)lt_clock_wall_us() - (int64_t)lt_clock_monotonic_us();
  int64_t change_us = offset_us - t->style.offset_us;
  if (change_us > LT_TRACE_CLOCK_US || change_us < -LT_TRACE_CLOCK_US) {
    t->style.offset_us = offset_us;
  }
  return &t->style;
}

static void telemetry_put(lt_telemetry *t, const lt_buf *span) {
  if (span->status == LT_OK) {
    lt_span_exporter_put(t->exporter, lt_buf_view(span));
  }
}

/* --- The monitor -------------------------------------------------------------------------------------------------- */
static void telemetry_on_prompt(void *arg, const lt_monitor_prompt *prompt) {
  if (prompt->has_ended && lt_trace_context_is_recorded(prompt->trace)) {
    LT_AUTO_BUF(span, LT_TRACE_SPAN_BYTES);
    lt_span_texts_put_prompt(&span, prompt, telemetry_style(arg));
    telemetry_put(arg, &span);
  }
}

static void telemetry_on_question(void *arg, const lt_monitor_question *question) {
  if (question->has_ended && lt_trace_context_is_recorded(question->trace)) {
    LT_AUTO_BUF(span, LT_TRACE_SPAN_BYTES);
    lt_span_texts_put_question(&span, question, telemetry_style(arg));
    telemetry_put(arg, &span);
  }
}

static void telemetry_on_program(void *arg, const lt_monitor_program *program) {
  if (program->has_ended && lt_trace_context_is_recorded(program->trace)) {
    LT_AUTO_BUF(span, LT_TRACE_SPAN_BYTES);
    lt_span_texts_put_program(&span, program, telemetry_style(arg));
    telemetry_put(arg, &span);
  }
}

static void telemetry_on_call(void *arg, const lt_call_event *event) {
  if (event->stage == LT_CALL_FINISHED && event->trace != NULL && lt_trace_context_is_recorded(&event->trace->self)) {
    LT_AUTO_BUF(span, LT_TRACE_SPAN_BYTES);
    lt_span_texts_put_call(&span, event, telemetry_style(arg));
    telemetry_put(arg, &span);
  }
}

lt_monitor *lt_telemetry_monitor(lt_telemetry *t) {
  return t != NULL ? &t->monitor : NULL;
}

const lt_sampler *lt_telemetry_sampler(const lt_telemetry *t) {
  return t != NULL ? &t->settings.sampler : NULL;
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */
/* `parent` may be not set: the trace begins here. */
static lt_trace_context telemetry_begin(const lt_telemetry *t, const lt_trace_context *parent) {
  lt_trace_context trace = lt_sampler_begin(&t->settings.sampler, parent);
  return lt_trace_context_has_span(&trace) ? trace : lt_trace_context_child(&trace);
}

void lt_telemetry_begin_request(const lt_telemetry *t, lt_str traceparent, lt_str tracestate,
                                lt_telemetry_request *request) {
  request->trace = request->parent = (lt_trace_context){.is_sampled = false};
  if (t == NULL) {
    return;
  }
  (void)lt_trace_context_read(traceparent, tracestate, &request->parent); /* "the vendor creates a new traceparent" */
  request->trace = telemetry_begin(t, &request->parent);
  request->begun_us = lt_clock_monotonic_us();
}

void lt_telemetry_end_request(lt_telemetry *t, lt_telemetry_request *request) {
  if (t != NULL && lt_trace_context_is_recorded(&request->trace)) {
    request->ended_us = lt_clock_monotonic_us();
    LT_AUTO_BUF(span, LT_TRACE_SPAN_BYTES);
    lt_span_texts_put_request(&span, request, telemetry_style(t));
    telemetry_put(t, &span);
  }
}

/* "MCP server instrumentation SHOULD, by default, use context extracted from MCP params._meta as a parent for MCP
 * server span and SHOULD link current ambient context, if it's present." */
void lt_telemetry_begin_mcp(const lt_telemetry *t, lt_str traceparent, lt_str tracestate,
                            const lt_trace_context *around, lt_telemetry_mcp *request) {
  bool is_named = lt_trace_context_read(traceparent, tracestate, &request->parent);
  if (is_named) {
    request->link = *around;
  } else {
    request->parent = *around;
  }
  request->trace = telemetry_begin(t, &request->parent);
  request->begun_us = lt_clock_monotonic_us();
}

void lt_telemetry_end_mcp(lt_telemetry *t, lt_telemetry_mcp *request) {
  if (t != NULL && lt_trace_context_is_recorded(&request->trace)) {
    request->ended_us = lt_clock_monotonic_us();
    LT_AUTO_BUF(span, LT_TRACE_SPAN_BYTES);
    lt_span_texts_put_mcp(&span, request, telemetry_style(t));
    telemetry_put(t, &span);
  }
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
static lt_status telemetry_open_exporter(lt_telemetry *t, const lt_telemetry_options *o, lt_err *err) {
  LT_TRY(lt_span_exporter_open(o->loop, &t->settings, o->warn, o->warn_arg, &t->exporter, err));
  t->style = (lt_span_style){.has_content = t->settings.has_content, .secrets = o->secrets};
  t->monitor = (lt_monitor){.on_prompt = telemetry_on_prompt,
                            .on_question = telemetry_on_question,
                            .on_program = telemetry_on_program,
                            .on_call = telemetry_on_call,
                            .arg = t};
  return LT_OK;
}

lt_status lt_telemetry_open(const lt_telemetry_options *o, lt_telemetry **ret_telemetry, lt_err *err) {
  *ret_telemetry = NULL;
  lt_telemetry *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for traces");
  }
  lt_arena_init(&t->arena, LT_MIB);
  lt_status status = lt_telemetry_settings_read(o->config, &t->arena, o->warn, o->warn_arg, &t->settings, err);
  bool is_on = status == LT_OK && t->settings.url.n > 0;
  if (is_on) {
    status = telemetry_open_exporter(t, o, err);
  }
  if (!is_on || status != LT_OK) {
    lt_arena_release(&t->arena);
    lt_mem_free(t);
    return status;
  }
  *ret_telemetry = t;
  return LT_OK;
}

void lt_telemetry_close(lt_telemetry *t) {
  if (t != NULL) {
    lt_span_exporter_close(t->exporter);
    lt_arena_release(&t->arena);
    lt_mem_free(t);
  }
}
