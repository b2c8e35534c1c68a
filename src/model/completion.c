/* Asks a model: makes attempts until one succeeds or another attempt cannot help. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/random.h"
#include "text/sse.h"
#include "model/dialect.h"
#include "model/attempt_failure.h"
#include "model/completion_wire.h"
#include "model/model_extras.h"
#include "model/model_names.h"

void lt_completion_init(lt_completion *completion) {
  *completion = (lt_completion){.finish = LT_FINISH_STOP};
  lt_buf_init(&completion->text, LT_MODEL_TEXT_MAX_BYTES);
  lt_buf_init(&completion->reasoning, LT_MODEL_TEXT_MAX_BYTES);
  lt_buf_init(&completion->kept, 2 * LT_MODEL_KEPT_MAX_BYTES);
  lt_arena_init(&completion->arena, LT_MODEL_MEMORY_BYTES);
}

void lt_completion_release(lt_completion *completion) {
  lt_buf_release(&completion->text);
  lt_buf_release(&completion->reasoning);
  lt_buf_release(&completion->kept);
  lt_arena_release(&completion->arena);
}

lt_str lt_completion_incomplete_reason(lt_finish finish) {
  return finish == LT_FINISH_LENGTH     ? LT_STR("The answer was cut off at the model's limit of tokens: maxTokens")
         : finish == LT_FINISH_FILTERED ? LT_STR("The answer was refused, or ended by the provider's filter")
                                        : LT_STR("");
}

double lt_model_cost(const lt_usage *usage, const lt_price *price) {
  int64_t fresh = usage->input_tokens - usage->cached_input_tokens - usage->cache_write_tokens;
  double millionths = (double)fresh * price->input + (double)usage->cached_input_tokens * price->cached_input +
                      (double)usage->cache_write_tokens * price->cache_write +
                      (double)usage->output_tokens * price->output;
  return isfinite(millionths) && millionths > 0 ? millionths / 1e6 : 0;
}

/* --- One attempt--------------------------------------------------------------------------------------------------- */

typedef struct completion_attempts {
  lt_http *http;
  const lt_completion_wire *wire;
  const lt_completion_request *request;
  lt_buf url;
  lt_buf body;
  lt_buf authorization;
  unsigned quirks;
  unsigned body_quirks; /* the quirks with which `body` was written */
  lt_assembly assembly;
  lt_attempt_failure fault;
  uint64_t began_us;
} completion_attempts;

typedef enum answer_form { FORM_UNKNOWN, FORM_EVENTS, FORM_WHOLE, FORM_PAGE } answer_form;

/* The content decides, not its declared type: servers send JSON as events and events as plain text. */
static answer_form completion_form_of(lt_str piece) {
  lt_str text = lt_str_trim(piece);
  if (text.n == 0) {
    return FORM_UNKNOWN;
  }
  return text.p[0] == '{' || text.p[0] == '[' ? FORM_WHOLE : text.p[0] == '<' ? FORM_PAGE : FORM_EVENTS;
}

static bool completion_is_complete(const lt_assembly *a) {
  return a->done || a->finished;
}

static lt_status completion_check_event(lt_status status, lt_err *err) {
  return lt_fail_if(err, status, "an event is longer than %lu MiB", LT_MODEL_EVENT_MAX_BYTES / LT_MIB);
}

static lt_status completion_take_events(completion_attempts *k, lt_sse *sse, lt_str piece, lt_err *err) {
  LT_TRY(completion_check_event(lt_sse_add(sse, piece), err));
  lt_sse_event event;
  while (lt_sse_next(sse, &event)) {
    LT_TRY(lt_assembly_event(&k->assembly, event.event, event.data, err));
  }
  return completion_check_event(lt_sse_add(sse, LT_STR_NULL), err);
}

typedef struct answer_reader {
  lt_http_stream *stream;
  answer_form form;
  lt_sse sse;
  lt_buf whole;
  size_t size;       /* of the answer when it last grew ... */
  uint64_t since_ms; /* ... and when that was */
  bool has_message;  /* the error's message is complete */
} answer_reader;

static lt_status completion_take_piece(completion_attempts *k, answer_reader *r, lt_str piece, lt_err *err) {
  r->form = r->form == FORM_UNKNOWN ? completion_form_of(piece) : r->form;
  if (r->form == FORM_PAGE) {
    return lt_fail(err, LT_E_PROTOCOL, "a web page, not a completion: check the base URL (most end in /v1)");
  } else if (r->form == FORM_EVENTS) {
    return completion_take_events(k, &r->sse, piece, err);
  }
  lt_buf_add(&r->whole, piece);
  return lt_fail_if(err, r->whole.status, "an answer that is longer than %lu MiB", LT_MODEL_EVENT_MAX_BYTES / LT_MIB);
}

/* How long the answer may grow by nothing. After its end, a short time: the connection can then be used again. */
static uint64_t completion_patience_ms(const completion_attempts *k, const answer_reader *r) {
  const lt_assembly *a = &k->assembly;
  const lt_model *model = k->request->model;
  if (a->done || (a->finished && a->has_usage)) {
    return LT_MODEL_TAIL_MS;
  } else if (a->finished) {
    return LT_MODEL_LAST_MS;
  } else if (r->size == 0) {
    return model->answer_ms != 0 ? model->answer_ms : LT_HTTP_ANSWER_MS;
  }
  return model->idle_ms != 0 ? model->idle_ms : LT_HTTP_IDLE_MS;
}

static void completion_note_first(completion_attempts *k) {
  lt_completion *c = k->assembly.completion;
  c->first_us = c->first_us > 0 ? c->first_us : lt_clock_monotonic_us() - k->began_us;
}

/* A peer can keep a connection busy for ever with comments ("a keep-alive"): only what adds to the answer counts. */
static lt_status completion_check_growth(completion_attempts *k, answer_reader *r, lt_err *err) {
  uint64_t now_ms = lt_loop_now_ms(lt_http_loop(k->http));
  size_t size = lt_assembly_size(&k->assembly) + (r->form == FORM_WHOLE ? r->whole.n : 0);
  uint64_t patience_ms = completion_patience_ms(k, r);
  if (size != r->size) {
    completion_note_first(k);
    r->size = size;
    r->since_ms = now_ms;
    r->sse.read = 0;
    return LT_OK;
  } else if (r->sse.read > LT_MODEL_QUIET_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "%lu MiB of comments and empty events in a row", LT_MODEL_QUIET_MAX_BYTES / LT_MIB);
  } else if (now_ms - r->since_ms >= patience_ms) {
    return lt_fail(err, LT_E_TIMEOUT, "nothing but comments and empty events for %.3g s", (double)patience_ms / 1000);
  }
  return LT_OK;
}

static void completion_set_patience(const completion_attempts *k, const answer_reader *r) {
  if (completion_is_complete(&k->assembly)) {
    lt_http_set_idle(r->stream, completion_patience_ms(k, r));
  }
}

static bool completion_is_cancelled(const completion_attempts *k) {
  return k->request->cancel != NULL && k->request->cancel->why != LT_OK;
}

/* LT_YIELDS until the answer has ended. Events after its last one are ignored. */
static lt_status completion_read_pieces(completion_attempts *k, answer_reader *r, lt_err *err) LT_YIELDS {
  for (;;) {
    lt_str piece;
    lt_status status = lt_http_read(r->stream, &piece, err);
    if (status != LT_OK && completion_is_complete(&k->assembly) && (k->assembly.done || !completion_is_cancelled(k))) {
      return LT_OK;
    } else if (status != LT_OK) {
      r->has_message = true;
      return lt_attempt_failure_of_http(k->request, status, &k->fault, err);
    } else if (piece.n == 0) {
      return LT_OK;
    }
    LT_TRY(completion_take_piece(k, r, piece, err));
    status = completion_check_growth(k, r, err);
    if (status != LT_OK) {
      return completion_is_complete(&k->assembly) ? LT_OK : status;
    }
    completion_set_patience(k, r);
  }
}

/* Adds a prefix to the error of an invalid answer, and classifies it. */
static lt_status completion_judge(completion_attempts *k, lt_status status, lt_err *err) {
  const lt_model *model = k->request->model;
  lt_str host = lt_provider_error_host(model->base_url);
  lt_str name = lt_str_sub(model->name, 0, 100);
  if (k->assembly.failed) {
    return lt_attempt_failure_of_answer(k->request, 200, &k->assembly.fault, k->quirks, &k->fault, err);
  }
  return lt_fail(err, status, "model \"%.*s\": %.*s sent %s", LT_STR_ARG(name), LT_STR_ARG(host), err->msg);
}

static lt_status completion_end_answer(completion_attempts *k, answer_reader *r, lt_err *err) {
  if (r->form == FORM_WHOLE && !completion_is_complete(&k->assembly)) {
    LT_TRY(lt_assembly_whole(&k->assembly, lt_buf_view(&r->whole), err));
  }
  if (r->form == FORM_EVENTS && !completion_is_complete(&k->assembly)) {
    (void)completion_take_events(k, &r->sse, LT_STR("\n\n"), NULL); /* a last event without an end */
  }
  if (!completion_is_complete(&k->assembly) && !k->assembly.failed) {
    k->fault.retry = LT_RETRY_LATER;
    return lt_fail(err, LT_E_CLOSED, "%s",
                   r->form == FORM_UNKNOWN ? "an empty answer" : "half an answer: it ended early");
  } else if (k->assembly.failed) {
    return LT_E_TOOL; /* classified by its content */
  }
  return lt_assembly_end(&k->assembly, err);
}

static lt_status completion_read_answer(completion_attempts *k, lt_http_stream *stream, lt_err *err) LT_YIELDS {
  answer_reader r = {.stream = stream, .form = FORM_UNKNOWN, .since_ms = lt_loop_now_ms(lt_http_loop(k->http))};
  lt_sse_init(&r.sse, LT_MODEL_EVENT_MAX_BYTES);
  lt_buf_init(&r.whole, LT_MODEL_EVENT_MAX_BYTES);
  lt_status status = completion_read_pieces(k, &r, err);
  if (status == LT_OK) {
    status = completion_end_answer(k, &r, err);
  }
  lt_sse_release(&r.sse);
  lt_buf_release(&r.whole);
  return status == LT_OK || r.has_message ? status : completion_judge(k, status, err);
}

/* When a body breaks off, the received part is used. */
static void completion_read_error_body(lt_http_stream *stream, lt_buf *body) LT_YIELDS {
  lt_http_set_idle(stream, LT_MODEL_LAST_MS);
  lt_str piece;
  while (body->n < LT_MODEL_ERROR_BYTES && lt_http_read(stream, &piece, NULL) == LT_OK && piece.n > 0) {
    lt_buf_add(body, lt_str_sub(piece, 0, LT_MODEL_ERROR_BYTES - body->n));
  }
}

static lt_status completion_read_error(completion_attempts *k, lt_http_stream *stream, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(body, LT_MODEL_ERROR_BYTES);
  LT_AUTO_ARENA(arena, LT_MODEL_MEMORY_BYTES);
  completion_read_error_body(stream, &body);
  lt_provider_error words = lt_provider_error_parse(&arena, lt_buf_view(&body), k->request->model->api_key);
  k->fault.after_ms = lt_attempt_failure_wait_ms(lt_http_header_of(stream, LT_STR("retry-after")),
                                                 lt_http_header_of(stream, LT_STR("retry-after-ms")), time(NULL));
  lt_status status =
      lt_attempt_failure_of_answer(k->request, lt_http_status(stream), &words, k->quirks, &k->fault, err);
  return status;
}

static lt_status completion_write_body(completion_attempts *k, lt_err *err) {
  const lt_model *model = k->request->model;
  if (k->body.n == 0 || k->body_quirks != k->quirks) {
    lt_buf_clear(&k->body);
    lt_buf_expect(&k->body, k->request->messages.n + k->request->tools.n + LT_KIB);
    k->wire->write_request(k->request, k->quirks, &k->body);
    k->body_quirks = k->quirks;
    if (model->body.n > 0 && k->body.status == LT_OK) {
      LT_AUTO_BUF(whole, LT_HTTP_BODY_MAX_BYTES);
      LT_TRY(lt_model_extras_put_body(model, lt_buf_view(&k->body), &whole, err));
      lt_buf own = k->body;
      k->body = whole;
      whole = own;
    }
  }
  if (k->body.status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "the conversation is longer than %lu MiB", LT_HTTP_BODY_MAX_BYTES / LT_MIB);
  }
  return lt_buf_check(&k->body, err, "no memory for a request to the model");
}

enum { COMPLETION_HEADERS_MAX = 7 + LT_MODEL_HEADERS_MAX };

/* A model's span is below the one that asks. Returns the number of headers. */
static size_t completion_add_trace(const lt_trace_context *trace, char parent[LT_TRACE_PARENT_LENGTH + 1],
                                   lt_http_header *headers) {
  if (!lt_trace_context_has_span(trace)) {
    return 0;
  }
  lt_trace_context_print(trace, parent);
  headers[0] = (lt_http_header){LT_STR("traceparent"), lt_str_of(parent)};
  headers[1] = (lt_http_header){LT_STR("tracestate"), trace->state};
  return trace->state.n > 0 ? 2 : 1;
}

/* `parent` has the text of a header. Returns the number of headers. */
static size_t completion_put_headers(const completion_attempts *k, char parent[LT_TRACE_PARENT_LENGTH + 1],
                                     lt_http_header headers[COMPLETION_HEADERS_MAX]) {
  size_t count = 3;
  headers[0] = (lt_http_header){LT_STR("Content-Type"), LT_STR("application/json")};
  headers[1] = (lt_http_header){LT_STR("Accept"), LT_STR("text/event-stream, application/json")};
  headers[2] = (lt_http_header){LT_STR("User-Agent"), LT_STR("lathe/" LT_VERSION)};
  if (k->authorization.n > 0) {
    headers[count++] = (lt_http_header){lt_str_of(k->wire->key_header), lt_buf_view(&k->authorization)};
  }
  if (k->wire->header.name.n > 0) {
    headers[count++] = k->wire->header;
  }
  count += completion_add_trace(k->request->trace, parent, headers + count);
  return lt_model_extras_add_headers(k->request->model, headers, count);
}

static lt_status completion_try_once(completion_attempts *k, lt_err *err) LT_YIELDS {
  k->fault = (lt_attempt_failure){.retry = LT_RETRY_NEVER, .after_ms = UINT64_MAX};
  LT_TRY(completion_write_body(k, err));
  char parent[LT_TRACE_PARENT_LENGTH + 1];
  lt_http_header headers[COMPLETION_HEADERS_MAX];
  size_t header_count = completion_put_headers(k, parent, headers);
  const lt_model *model = k->request->model;
  lt_http_request request = {
      .url = lt_buf_view(&k->url),
      .headers = headers,
      .header_count = header_count,
      .body = lt_buf_view(&k->body),
      .first_byte_ms = model->answer_ms,
      .idle_ms = model->idle_ms,
      .cancel = k->request->cancel,
  };
  lt_http_stream *stream = NULL;
  lt_status status = lt_http_open(k->http, &request, &stream, err);
  if (status != LT_OK) {
    return lt_attempt_failure_of_http(k->request, status, &k->fault, err);
  }
  status =
      lt_http_status(stream) == 200 ? completion_read_answer(k, stream, err) : completion_read_error(k, stream, err);
  lt_http_close(stream);
  if (k->fault.is_unknown_model) {
    lt_model_names_put(k->http, k->request, k->wire, headers, header_count, err);
  }
  return status;
}

/* --- Trying again ------------------------------------------------------------------------------------------------- */

/* A random part between half of the wait and all of it, so that clients that were refused together do not retry
 * together. */
static uint64_t completion_with_jitter(uint64_t ms) {
  uint32_t random = 0;
  if (!lt_random_fill(&random, sizeof random)) {
    random = 0;
  }
  return ms / 2 + random % (ms / 2 + 1);
}

static uint64_t completion_backoff_ms(unsigned tries) {
  uint64_t ms = LT_MODEL_BACKOFF_MS;
  for (unsigned i = 1; i < tries && ms < LT_MODEL_BACKOFF_MAX_MS; i++) {
    ms *= 2;
  }
  return completion_with_jitter(ms < LT_MODEL_BACKOFF_MAX_MS ? ms : LT_MODEL_BACKOFF_MAX_MS);
}

static lt_status completion_pause_for(completion_attempts *k, uint64_t ms, lt_err *err) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, lt_http_loop(k->http));
  lt_cancel_add(k->request->cancel, &node, &wait);
  lt_status status = ms > 0 || completion_is_cancelled(k) ? lt_wait_on(&wait, ms) : LT_E_TIMEOUT;
  lt_cancel_remove(k->request->cancel, &node);
  if (completion_is_cancelled(k)) {
    return lt_fail(err, status, "%s while waiting to ask the model again",
                   status == LT_E_CANCELLED ? "cancelled" : "the time was over");
  }
  return LT_OK;
}

static bool completion_has_tries_left(const completion_attempts *k, unsigned tries) {
  switch (k->fault.retry) {
    case LT_RETRY_LATER:
      return tries < LT_MODEL_TRIES_MAX;
    case LT_RETRY_CONNECT:
      return tries < LT_MODEL_CONNECT_TRIES_MAX;
    case LT_RETRY_OTHERWISE:
      return tries < LT_MODEL_TRIES_MAX;
    case LT_RETRY_NEVER:
    default:
      return false;
  }
}

void lt_model_put_retry(const lt_retry_notice *notice, lt_buf *out) {
  lt_buf_printf(out, "%s, trying again in %.*f s, %u of %u", notice->why, notice->wait_ms < 10000 ? 1 : 0,
                (double)notice->wait_ms / 1000, notice->next_try, notice->tries_max);
}

static void completion_tell_retry(const completion_attempts *k, uint64_t wait_ms, unsigned next_try) {
  const lt_retry_notice notice = {
      .why = k->fault.why,
      .wait_ms = wait_ms,
      .next_try = next_try,
      .tries_max = k->fault.retry == LT_RETRY_CONNECT ? LT_MODEL_CONNECT_TRIES_MAX : LT_MODEL_TRIES_MAX};
  if (k->request->on_retry != NULL) {
    k->request->on_retry(k->request->arg, &notice);
  }
}

/* Waits and returns whether to try again; otherwise `err` has the complete message. */
static bool completion_may_go_on(completion_attempts *k, unsigned tries, lt_status *status, lt_err *err) LT_YIELDS {
  uint64_t asked = k->fault.after_ms;
  if (k->assembly.shown) {
    if (*status != LT_E_CANCELLED && *status != LT_E_TIMEOUT) {
      *status = k->fault.retry != LT_RETRY_NEVER ? LT_E_CLOSED : *status;
      lt_fail(err, *status, "the answer broke off after its beginning had been shown: %s", err->msg);
    }
    return false;
  }
  if (!completion_has_tries_left(k, tries)) {
    if (tries > 1 && k->fault.retry != LT_RETRY_NEVER) {
      lt_err_prefix(err, "given up after %u tries", tries);
    }
    return false;
  }
  if (k->fault.retry == LT_RETRY_OTHERWISE) {
    k->quirks = k->fault.quirks;
    return true;
  }
  if (asked != UINT64_MAX && asked > LT_MODEL_RETRY_AFTER_MAX_MS) {
    lt_err_prefix(err, "it asks to wait %llu s, which is too long", (unsigned long long)(asked / 1000));
    return false;
  }
  uint64_t wait_ms = asked != UINT64_MAX ? asked : completion_backoff_ms(tries);
  completion_tell_retry(k, wait_ms, tries + 1);
  lt_status paused = completion_pause_for(k, wait_ms, err);
  *status = paused != LT_OK ? paused : *status;
  return paused == LT_OK;
}

static void completion_start_over(completion_attempts *k) {
  lt_completion *c = k->assembly.completion;
  unsigned retries = c->retries;
  lt_assembly_draft_again(&k->assembly);
  lt_completion_release(c);
  lt_completion_init(c);
  c->retries = retries + 1;
  lt_assembly_release(&k->assembly);
  lt_assembly_init(&k->assembly, k->wire, k->request, c);
  k->assembly.expects_unopened = (k->quirks & LT_QUIRK_OPEN_THOUGHTS) != 0;
}

static lt_status completion_ask(completion_attempts *k, lt_err *err) LT_YIELDS {
  unsigned remembered = k->quirks;
  for (unsigned tries = 1;; tries++) {
    lt_status status = completion_try_once(k, err);
    if (status == LT_OK) {
      k->quirks |= k->assembly.has_unopened ? LT_QUIRK_OPEN_THOUGHTS : 0;
      if (k->quirks != remembered) {
        lt_dialect_learn(k->request->model, k->quirks);
      }
      return LT_OK;
    }
    if (!completion_may_go_on(k, tries, &status, err)) {
      return status;
    }
    completion_start_over(k);
  }
}

static lt_status completion_prepare(completion_attempts *k, lt_err *err) {
  const lt_model *model = k->request->model;
  lt_str key = lt_str_trim(model->api_key);
  lt_completion_wire_put_url(k->wire, model->base_url, &k->url);
  if (key.n > 0) {
    lt_buf_addc(&k->authorization, k->wire->key_prefix);
    lt_buf_add(&k->authorization, key);
  }
  for (size_t i = 0; i < key.n; i++) {
    if ((unsigned char)key.p[i] <= ' ' || key.p[i] == 0x7f) {
      return lt_fail(err, LT_E_CONFIG,
                     "the API key for model \"%.*s\" has a blank or a line break in it: copy it again",
                     LT_STR_ARG(model->ref));
    }
  }
  if (k->url.status == LT_OK && k->authorization.status == LT_OK) {
    return LT_OK;
  }
  return lt_fail(err, k->url.status != LT_OK ? k->url.status : k->authorization.status,
                 "no memory for a request to the model, or its base URL or key is too long");
}

lt_status lt_model_complete(lt_http *http, const lt_completion_request *request, lt_completion *completion,
                            lt_err *err) {
  LT_ERR_VAR(unseen);
  completion_attempts k = {.http = http,
                           .wire = lt_completion_wire_of(request->model),
                           .request = request,
                           .began_us = lt_clock_monotonic_us(),
                           .quirks = lt_dialect_quirks(request->model)};
  lt_buf_init(&k.url, LT_HTTP_URL_MAX_BYTES);
  lt_buf_init(&k.body, LT_HTTP_BODY_MAX_BYTES);
  lt_buf_init(&k.authorization, LT_HTTP_HEADERS_MAX_BYTES / 2);
  lt_assembly_init(&k.assembly, k.wire, request, completion);
  k.assembly.expects_unopened = (k.quirks & LT_QUIRK_OPEN_THOUGHTS) != 0;
  lt_status status = completion_prepare(&k, err);
  if (status == LT_OK) {
    status = completion_ask(&k, err != NULL ? err : &unseen);
  }
  completion->too_long = status != LT_OK && k.fault.too_long;
  completion->no_media = status != LT_OK && k.fault.no_media;
  lt_assembly_release(&k.assembly);
  lt_buf_release(&k.url);
  lt_buf_release(&k.body);
  lt_buf_release(&k.authorization);
  return status;
}
