#include "telemetry/span_exporter.h"

#include <stdio.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "json/json.h"
#include "model/attempt_failure.h"
#include "trace/otlp.h"
#include "trace/server_address.h"

/* Spans that are sent together, as JSON with commas between them. */
typedef struct span_batch {
  struct span_batch *next;
  lt_buf spans;
  size_t count;
} span_batch;

struct lt_span_exporter {
  lt_loop *loop;
  const lt_telemetry_settings *settings;
  lt_telemetry_warn_fn *warn;
  void *warn_arg;
  lt_http *http;
  span_batch *first, *last;
  size_t waiting; /* spans in all batches, that which is being sent included */
  uint64_t lost;  /* spans that were dropped, or not taken */
  bool is_running;
  bool is_closing;
  bool has_warned; /* since the last success */
  lt_wait wake;    /* of the fiber: a batch is full, or the exporter closes */
  lt_wait ended;
  lt_cancel cancel; /* the end cannot wait any longer */
};

/* --- Failures ----------------------------------------------------------------------------------------------------- */
/* One line until the next success. The host alone: a path or a query may hold a key. */
static void exporter_warn(lt_span_exporter *x, const char *what) {
  lt_str host = LT_STR_NULL;
  unsigned port = 0;
  char line[2 * LT_ERR_MSG_MAX];
  if (!x->has_warned && lt_server_address_read(x->settings->url, &host, &port)) {
    snprintf(line, sizeof line, "traces cannot be sent to %.*s:%u: %s", LT_STR_ARG(lt_str_sub(host, 0, 200)), port,
             what);
    x->warn(x->warn_arg, lt_str_of(line));
  }
  x->has_warned = true;
}

/* "HTTP response codes 429, 502, 503 and 504 SHOULD be retried; all other 4xx or 5xx MUST NOT be." (OTLP/HTTP) */
static bool exporter_may_retry(int http_status) {
  return http_status == 429 || http_status == 502 || http_status == 503 || http_status == 504;
}

static uint64_t exporter_backoff_ms(unsigned tries) {
  uint32_t random = 0;
  uint64_t ms = (uint64_t)LT_TRACE_BACKOFF_MS << (tries < 5 ? tries - 1 : 4);
  (void)lt_random_fill(&random, sizeof random);
  return ms / 2 + random % (ms / 2 + 1);
}

/* --- One request -------------------------------------------------------------------------------------------------- */
/* "rejected_spans: The number of rejected spans." A collector takes a part, and says so with 200. */
static int64_t exporter_read_count(lt_json count, lt_arena *arena) {
  lt_str text;
  int64_t n = 0;
  if (!lt_json_str(count, arena, &text)) { /* a 64-bit number is a text, as a rule */
    return lt_json_int(count, &n) ? n : 0;
  }
  for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && n < LT_TRACE_QUEUE_SPANS; i++) {
    n = n * 10 + (text.p[i] - '0');
  }
  return n;
}

static void exporter_read_answer(lt_span_exporter *x, lt_http_stream *stream) LT_YIELDS {
  lt_str piece;
  lt_json_doc doc;
  LT_AUTO_BUF(body, LT_TRACE_ANSWER_BYTES);
  LT_AUTO_ARENA(arena, LT_MIB);
  while (body.status == LT_OK && lt_http_read(stream, &piece, NULL) == LT_OK && piece.n > 0) {
    lt_buf_add(&body, piece);
  }
  if (body.status != LT_OK || lt_json_parse(&arena, lt_buf_view(&body), &doc, NULL) != LT_OK) {
    return;
  }
  lt_json partial = lt_json_get(lt_json_root(&doc), "partialSuccess");
  int64_t rejected = exporter_read_count(lt_json_get(partial, "rejectedSpans"), &arena);
  if (rejected > 0) {
    x->lost += (uint64_t)rejected;
    exporter_warn(x, "it rejects some spans");
    return;
  }
  x->has_warned = false;
}

typedef enum export_outcome { EXPORT_TAKEN, EXPORT_REFUSED, EXPORT_LATER } export_outcome;

static export_outcome exporter_judge(lt_span_exporter *x, lt_http_stream *stream, uint64_t *ret_after_ms) LT_YIELDS {
  char what[64];
  int code = lt_http_status(stream);
  if (code >= 200 && code < 300) {
    exporter_read_answer(x, stream);
    return EXPORT_TAKEN;
  }
  snprintf(what, sizeof what, "it answers %d", code);
  exporter_warn(x, what);
  *ret_after_ms = lt_attempt_failure_wait_ms(lt_http_header_of(stream, LT_STR("retry-after")), LT_STR_NULL, time(NULL));
  return exporter_may_retry(code) ? EXPORT_LATER : EXPORT_REFUSED;
}

/* `ret_after_ms`: when to try again; UINT64_MAX: the collector does not say. */
static export_outcome exporter_try(lt_span_exporter *x, lt_str body, uint64_t *ret_after_ms) LT_YIELDS {
  const lt_telemetry_settings *s = x->settings;
  const lt_http_request request = {.method = LT_STR("POST"),
                                   .url = s->url,
                                   .headers = s->headers,
                                   .header_count = s->header_count,
                                   .body = body,
                                   .connect_timeout_ms = s->timeout_ms,
                                   .first_byte_ms = s->timeout_ms,
                                   .idle_ms = s->timeout_ms,
                                   .cancel = &x->cancel};
  LT_ERR_VAR(err);
  lt_http_stream *stream = NULL;
  *ret_after_ms = UINT64_MAX;
  lt_status status = lt_http_open(x->http, &request, &stream, &err);
  if (status != LT_OK) {
    exporter_warn(x, lt_err_msg(&err));
    bool is_passing = lt_status_retryable(status) || status == LT_E_NOTFOUND; /* the name may be known later */
    return is_passing ? EXPORT_LATER : EXPORT_REFUSED;
  }
  export_outcome outcome = exporter_judge(x, stream, ret_after_ms);
  lt_http_close(stream);
  return outcome;
}

/* Waits until it is time, or the exporter closes. */
static void exporter_pause(lt_span_exporter *x, uint64_t ms) LT_YIELDS {
  uint64_t until_ms = lt_loop_now_ms(x->loop) + ms, now_ms;
  while (!x->is_closing && (now_ms = lt_loop_now_ms(x->loop)) < until_ms) {
    (void)lt_wait_on(&x->wake, until_ms - now_ms);
  }
}

/* False: the spans are lost. */
static bool exporter_send(lt_span_exporter *x, const span_batch *batch) LT_YIELDS {
  LT_AUTO_BUF(body, LT_TRACE_RESOURCE_BYTES + 2 * LT_TRACE_BATCH_BYTES);
  lt_otlp_put_request(&body, x->settings->resource, lt_buf_view(&batch->spans));
  if (body.status != LT_OK) {
    return false;
  }
  for (unsigned tries = 1;; tries++) {
    uint64_t after_ms;
    export_outcome outcome = exporter_try(x, lt_buf_view(&body), &after_ms);
    if (outcome != EXPORT_LATER || tries == LT_TRACE_TRIES_MAX || x->is_closing) {
      return outcome == EXPORT_TAKEN;
    }
    after_ms = after_ms == UINT64_MAX ? exporter_backoff_ms(tries) : after_ms;
    exporter_pause(x, after_ms < LT_TRACE_RETRY_AFTER_MAX_MS ? after_ms : LT_TRACE_RETRY_AFTER_MAX_MS);
  }
}

/* --- The fiber ---------------------------------------------------------------------------------------------------- */
static span_batch *exporter_take_first(lt_span_exporter *x) {
  span_batch *batch = x->first;
  x->first = batch->next;
  x->last = x->first == NULL ? NULL : x->last;
  return batch;
}

static void exporter_free_batch(lt_span_exporter *x, span_batch *batch, bool is_taken) {
  x->lost += is_taken ? 0 : batch->count;
  x->waiting -= batch->count;
  lt_buf_release(&batch->spans);
  lt_mem_free(batch);
}

/* Spans are collected for a while, unless a batch is full. */
static void exporter_collect(lt_span_exporter *x) LT_YIELDS {
  uint64_t until_ms = lt_loop_now_ms(x->loop) + x->settings->delay_ms, now_ms;
  while (!x->is_closing && x->first->next == NULL && x->first->count < LT_TRACE_BATCH_SPANS &&
         (now_ms = lt_loop_now_ms(x->loop)) < until_ms) {
    (void)lt_wait_on(&x->wake, until_ms - now_ms);
  }
}

/* Ends when nothing waits any more: a process that does nothing has no such fiber. */
static void exporter_on_fiber(void *arg) {
  lt_span_exporter *x = arg;
  while (x->first != NULL && x->cancel.why == LT_OK) {
    exporter_collect(x);
    span_batch *batch = exporter_take_first(x);
    exporter_free_batch(x, batch, exporter_send(x, batch));
  }
  x->is_running = false;
  lt_wait_wake(&x->ended, LT_OK);
}

static void exporter_start(lt_span_exporter *x) {
  if (!x->is_running && x->first != NULL) {
    x->is_running = lt_loop_spawn(x->loop, exporter_on_fiber, x, NULL) == LT_OK;
  }
}

/* --- Queueing ----------------------------------------------------------------------------------------------------- */
static span_batch *exporter_add_batch(lt_span_exporter *x) {
  span_batch *batch = lt_mem_zalloc(1, sizeof *batch);
  if (batch == NULL) {
    return NULL;
  }
  lt_buf_init(&batch->spans, 2 * LT_TRACE_BATCH_BYTES);
  *(x->last != NULL ? &x->last->next : &x->first) = batch;
  x->last = batch;
  return batch;
}

void lt_span_exporter_put(lt_span_exporter *x, lt_str span) {
  span_batch *batch = x->last;
  bool is_full =
      batch == NULL || batch->count >= LT_TRACE_BATCH_SPANS || batch->spans.n + span.n > LT_TRACE_BATCH_BYTES;
  if (x->waiting >= LT_TRACE_QUEUE_SPANS || x->is_closing || span.n > LT_TRACE_BATCH_BYTES) {
    x->lost++;
    return;
  }
  batch = is_full ? exporter_add_batch(x) : batch;
  if (batch == NULL) {
    x->lost++;
    return;
  }
  size_t before = batch->spans.n;
  lt_buf_addc(&batch->spans, before > 0 ? "," : "");
  lt_buf_add(&batch->spans, span);
  if (batch->spans.status != LT_OK) { /* what is in it already is whole */
    lt_buf_cut(&batch->spans, before);
    batch->spans.status = LT_OK;
    x->lost++;
  } else {
    batch->count++;
    x->waiting++;
  }
  if (batch->count >= LT_TRACE_BATCH_SPANS) {
    lt_wait_wake(&x->wake, LT_OK);
  }
  exporter_start(x);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
lt_status lt_span_exporter_open(lt_loop *loop, const lt_telemetry_settings *settings, lt_telemetry_warn_fn *warn,
                                void *warn_arg, lt_span_exporter **ret_exporter, lt_err *err) {
  lt_span_exporter *x = lt_mem_zalloc(1, sizeof *x);
  if (x == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for traces");
  }
  *x = (lt_span_exporter){.loop = loop, .settings = settings, .warn = warn, .warn_arg = warn_arg};
  lt_wait_init(&x->wake, loop);
  lt_wait_init(&x->ended, loop);
  lt_cancel_init(&x->cancel);
  lt_status status = lt_http_new(loop, &x->http, err);
  if (status != LT_OK) {
    lt_mem_free(x);
    return status;
  }
  *ret_exporter = x;
  return LT_OK;
}

static void exporter_on_timeout(void *arg) {
  lt_cancel_fire(arg, LT_E_TIMEOUT);
}

static void exporter_flush(lt_span_exporter *x) LT_YIELDS {
  lt_timer *timer = NULL;
  x->is_closing = true;
  lt_wait_wake(&x->wake, LT_OK);
  if (lt_timer_new(x->loop, exporter_on_timeout, &x->cancel, &timer, NULL) == LT_OK) {
    lt_timer_start(timer, LT_TRACE_FLUSH_MS);
  } else {
    lt_cancel_fire(&x->cancel, LT_E_TIMEOUT);
  }
  while (x->is_running) {
    lt_wait_on(&x->ended, UINT64_MAX);
  }
  lt_timer_free(timer);
}

static void exporter_tell_lost(const lt_span_exporter *x) {
  char line[128];
  if (x->lost > 0) {
    snprintf(line, sizeof line, "traces: %llu spans were not sent", (unsigned long long)x->lost);
    x->warn(x->warn_arg, lt_str_of(line));
  }
}

void lt_span_exporter_close(lt_span_exporter *x) {
  if (x == NULL) {
    return;
  }
  exporter_flush(x);
  while (x->first != NULL) {
    exporter_free_batch(x, exporter_take_first(x), false);
  }
  exporter_tell_lost(x);
  lt_http_free(x->http);
  lt_mem_free(x);
}
