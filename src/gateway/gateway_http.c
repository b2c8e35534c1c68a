#include "gateway/gateway_http.h"

#include "base/limits.h"
#include "base/mem.h"
#include "gateway/gateway_http_headers.h"
#include "gateway/gateway_http_session.h"
#include "gateway/gateway_request.h"

/* One HTTP request that is being answered, in its handler's frame. */
typedef struct gateway_exchange {
  lt_gateway_http *http;
  const lt_http_call *call;
  lt_str user;
  const lt_trace_context *trace; /* its span */
  lt_http_answer *answer;
  bool takes_events; /* the client accepts an event stream */
  bool is_modern;    /* of 2026-07-28 */
  lt_gateway_message *message;
  lt_gateway_http_session *session; /* entered; NULL: none */
} gateway_exchange;

/* --- Opening, closing --------------------------------------------------------------------------------------------- */
lt_status lt_gateway_http_open(lt_gateway *gateway, lt_gateway_http **ret_http, lt_err *err) {
  lt_gateway_http *http = lt_mem_zalloc(1, sizeof *http);
  if (http == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the gateway over HTTP");
  }
  http->gateway = gateway;
  http->loop = gateway->session->loop;
  *ret_http = http;
  return LT_OK;
}

void lt_gateway_http_finish(lt_gateway_http *http) {
  while (http->sessions != NULL) {
    lt_gateway_http_session_close(http->sessions);
  }
}

void lt_gateway_http_free(lt_gateway_http *http) {
  if (http != NULL) {
    lt_gateway_http_finish(http);
    lt_mem_free(http);
  }
}

/* --- Answers that are one document -------------------------------------------------------------------------------- */
static void gateway_http_refuse(gateway_exchange *x, int status, int code, const char *why, lt_str data) {
  lt_str id = x->message != NULL ? lt_json_text(x->message->parts.id) : LT_STR_NULL;
  x->answer->status = status;
  x->answer->content_type = "application/json";
  lt_gateway_message_put_error(&x->answer->body, id, code, why, data);
}

/* "the server MUST respond with 404 Not Found and a JSON-RPC error with code -32601", and 400 for the errors that say
 * that the client speaks otherwise (2026-07-28, Streamable HTTP). Sessions of earlier versions have 404 for themselves,
 * and errors of JSON-RPC come with 200. */
static int gateway_http_status_of(const gateway_exchange *x, int code) {
  switch (code) {
    case LT_GATEWAY_BUSY:
      return 503;
    case LT_MCP_METHOD_NOT_FOUND:
      return x->is_modern ? 404 : 200;
    case LT_MCP_HEADER_MISMATCH:
    case LT_MCP_MISSING_CAPABILITY:
    case LT_MCP_UNSUPPORTED_VERSION:
    case LT_GATEWAY_INVALID_REQUEST:
      return 400;
    default:
      return 200;
  }
}

static void gateway_http_put_document(gateway_exchange *x, const lt_gateway_stream *stream) {
  const lt_gateway_event *e = lt_gateway_stream_after(stream, 0);
  x->answer->status = e != NULL ? gateway_http_status_of(x, stream->code) : 202;
  if (e != NULL) {
    x->answer->content_type = "application/json";
    lt_buf_add(&x->answer->body, lt_str_from(e->message, e->n));
  }
}

/* --- Answers that are event streams ------------------------------------------------------------------------------- */
/* `number` 0: an event that only names where the client can come back to. */
static void gateway_http_put_event(const gateway_exchange *x, const lt_gateway_stream *stream, uint64_t number,
                                   lt_str message, lt_buf *out) {
  if (x->session != NULL) {
    lt_buf_printf(out, "id: %u-%llu\n", stream->number, (unsigned long long)number);
  }
  lt_buf_addc(out, "data: ");
  for (size_t at = 0; at < message.n;) { /* white space between JSON's tokens may have line breaks */
    size_t end = lt_str_find(message, LT_STR("\n"), at);
    lt_buf_add(out, lt_str_sub(message, at, end));
    lt_buf_addc(out, end != SIZE_MAX ? "\ndata: " : "");
    at = end != SIZE_MAX ? end + 1 : message.n;
  }
  lt_buf_addc(out, "\n\n");
}

static lt_status gateway_http_begin_stream(gateway_exchange *x, const lt_gateway_stream *stream, bool primes) {
  x->answer->status = 200;
  x->answer->content_type = "text/event-stream";
  lt_http_answer_header(x->answer, "Cache-Control", LT_STR("no-cache, no-transform"));
  lt_http_answer_header(x->answer, "X-Accel-Buffering", LT_STR("no"));
  if (primes) {
    lt_buf_printf(&x->answer->body, "retry: %d\n", LT_GATEWAY_RETRY_MS);
    gateway_http_put_event(x, stream, 0, LT_STR_NULL, &x->answer->body);
  } else {
    lt_buf_addc(&x->answer->body, ":\n\n"); /* the head is sent with the first bytes of the body */
  }
  return lt_http_call_begin(x->call, NULL);
}

static lt_status gateway_http_send_event(gateway_exchange *x, lt_gateway_stream *stream,
                                         const lt_gateway_event *e) LT_YIELDS {
  LT_AUTO_BUF(out, LT_HTTP_STREAM_MAX_BYTES);
  gateway_http_put_event(x, stream, e->number, lt_str_from(e->message, e->n), &out);
  LT_TRY(lt_buf_check(&out, NULL, ""));
  if (x->session == NULL || stream->bytes > LT_GATEWAY_STREAM_BYTES / 2) {
    lt_gateway_stream_forget(stream, e->number); /* nobody comes back for it, or too much is kept for that */
  }
  LT_TRY(lt_http_call_send(x->call, lt_buf_view(&out), NULL));
  return lt_http_call_drain(x->call, LT_GATEWAY_UNSENT_BYTES, LT_GATEWAY_UNREAD_MS);
}

/* Sends what comes behind the event `number`, until the stream ends, or the client or the session. */
static lt_status gateway_http_send_stream(gateway_exchange *x, lt_gateway_stream *stream, uint64_t number) LT_YIELDS {
  for (;;) {
    const lt_gateway_event *e = lt_gateway_stream_after(stream, number);
    if (e != NULL) {
      number = e->number;
      LT_TRY(gateway_http_send_event(x, stream, e));
      continue;
    }
    if (stream->is_ended) {
      return LT_OK;
    }
    lt_status status = lt_gateway_stream_wait(stream, number, LT_GATEWAY_HEARTBEAT_MS, x->call->cancel);
    if (status == LT_E_TIMEOUT) {
      status = lt_http_call_send(x->call, LT_STR(":\n\n"), NULL); /* so that nobody on the way ends the connection */
    }
    LT_TRY(status);
  }
}

/* One document when the answer comes soon and alone, else an event stream. Not LT_OK: the client is gone. */
static lt_status gateway_http_answer(gateway_exchange *x, lt_gateway_stream *stream) LT_YIELDS {
  uint64_t patience_ms = x->takes_events ? LT_GATEWAY_SILENCE_MS : UINT64_MAX;
  lt_status status = LT_OK;
  while (status == LT_OK && !stream->is_ended && (!x->takes_events || stream->count == 0)) {
    status = lt_gateway_stream_wait(stream, stream->count, patience_ms, x->call->cancel);
  }
  if (status != LT_OK && status != LT_E_TIMEOUT) {
    return status;
  }
  if (!x->takes_events) {
    lt_gateway_stream_forget(stream, stream->is_ended && stream->count > 0 ? stream->count - 1 : 0);
  }
  if (stream->is_ended && (stream->count <= 1 || !x->takes_events)) {
    gateway_http_put_document(x, stream);
    return LT_OK;
  }
  LT_TRY(gateway_http_begin_stream(x, stream, x->session != NULL && lt_gateway_http_session_primes(x->session)));
  return gateway_http_send_stream(x, stream, 0);
}

/* --- POST: messages ----------------------------------------------------------------------------------------------- */
/* Gives the message to the client's peer, and answers what comes of it. */
static lt_status gateway_http_exchange(gateway_exchange *x, lt_gateway_peer *peer,
                                       lt_gateway_stream *stream) LT_YIELDS {
  const lt_gateway_way way = lt_gateway_stream_way(stream);
  lt_gateway_message *message = x->message;
  x->message = NULL;
  lt_gateway_message_came_over_http(message, x->trace, x->session != NULL ? lt_str_of(x->session->id) : LT_STR_NULL);
  lt_gateway_peer_take(peer, &way, message);
  return gateway_http_answer(x, stream);
}

static void gateway_http_on_send(void *arg, lt_str message) {
  (void)arg; /* "It is not possible to send a message that belongs to no request" in 2026-07-28 */
  (void)message;
}

static void gateway_http_cancel_requests(lt_gateway_peer *peer) {
  for (lt_gateway_request *r = peer->requests; r != NULL; r = r->next) {
    lt_gateway_request_cancel(r);
  }
}

/* 2026-07-28: the client is known for one request. "Closing the SSE response stream MUST be treated by the server as
 * cancellation of that request" (Streamable HTTP, Cancellation). */
static void gateway_http_post_modern(gateway_exchange *x) LT_YIELDS {
  const lt_gateway_way way = {.send = gateway_http_on_send};
  lt_gateway_stream *stream;
  lt_gateway_peer *peer;
  LT_ERR_VAR(err);
  if (lt_gateway_stream_new(x->http->loop, &stream, &err) != LT_OK) {
    gateway_http_refuse(x, 503, LT_MCP_INTERNAL_ERROR, lt_err_msg(&err), LT_STR_NULL);
    return;
  }
  if (lt_gateway_peer_open(x->http->gateway, &way, x->user, &peer, &err) == LT_OK) {
    if (gateway_http_exchange(x, peer, stream) != LT_OK) {
      gateway_http_cancel_requests(peer);
    }
    lt_gateway_peer_close(peer);
  } else {
    gateway_http_refuse(x, 503, LT_MCP_INTERNAL_ERROR, lt_err_msg(&err), LT_STR_NULL);
  }
  lt_gateway_stream_drop(stream);
}

/* "Disconnection SHOULD NOT be interpreted as the client cancelling its request" (2025-11-25, Sending Messages): the
 * stream is kept, and a client that has got an event of it can come back. */
static void gateway_http_post_session(gateway_exchange *x) LT_YIELDS {
  lt_gateway_stream *stream;
  LT_ERR_VAR(err);
  if (lt_gateway_http_session_stream(x->session, &stream, &err) != LT_OK) {
    gateway_http_refuse(x, 503, LT_MCP_INTERNAL_ERROR, lt_err_msg(&err), LT_STR_NULL);
    return;
  }
  (void)gateway_http_exchange(x, x->session->peer, stream);
  if (x->answer->body.n > 0 || x->answer->status == 202) {
    lt_gateway_http_session_forget(x->session, stream); /* it was a document */
  }
  lt_gateway_stream_drop(stream);
}

static void gateway_http_post_initialize(gateway_exchange *x) LT_YIELDS {
  LT_ERR_VAR(err);
  if (lt_gateway_http_session_open(x->http, x->user, &x->session, &err) != LT_OK) {
    gateway_http_refuse(x, 503, LT_GATEWAY_BUSY, lt_err_msg(&err), LT_STR_NULL);
    return;
  }
  gateway_http_post_session(x);
  if (x->session->peer != NULL && lt_json_exists(x->session->peer->hello)) {
    lt_http_answer_header(x->answer, "Mcp-Session-Id", lt_str_of(x->session->id));
  } else {
    lt_gateway_http_session_close(x->session);
  }
}

/* Enters the session that the request names. False: it is refused. */
static bool gateway_http_enter(gateway_exchange *x) {
  lt_str id = lt_str_trim(lt_http_call_header(x->call, "Mcp-Session-Id"));
  lt_str version = lt_str_trim(lt_http_call_header(x->call, "MCP-Protocol-Version"));
  if (version.n > 0 && !lt_mcp_version_known(version)) {
    gateway_http_refuse(x, 400, LT_GATEWAY_BUSY,
                        "Bad Request: there is no protocol version of this name (" LT_MCP_VERSIONS_TEXT ")",
                        LT_STR_NULL);
  } else if (id.n == 0) {
    gateway_http_refuse(x, 400, LT_GATEWAY_BUSY, "Bad Request: Mcp-Session-Id is missing: begin with initialize",
                        LT_STR_NULL);
  } else {
    x->session = lt_gateway_http_session_enter(x->http, id, x->user);
    if (x->session == NULL) {
      gateway_http_refuse(x, 404, LT_GATEWAY_NO_SESSION, "Session not found: begin with initialize", LT_STR_NULL);
    }
  }
  return x->session != NULL;
}

static void gateway_http_dispatch(gateway_exchange *x) LT_YIELDS {
  const lt_mcp_message *m = &x->message->parts;
  LT_AUTO_BUF(data, LT_JSON_MAX_BYTES);
  LT_ERR_VAR(err);
  int code = 0;
  x->is_modern = lt_gateway_http_headers_are_modern(x->call, x->message);
  if (m->kind == LT_MCP_NOISE) {
    gateway_http_refuse(x, 400, LT_GATEWAY_INVALID_REQUEST, "Invalid Request: not one JSON-RPC 2.0 message",
                        LT_STR_NULL);
  } else if (x->is_modern && m->kind == LT_MCP_RESPONSE) {
    gateway_http_refuse(x, 400, LT_GATEWAY_INVALID_REQUEST, "Invalid Request: answers come with the next request",
                        LT_STR_NULL);
  } else if (x->is_modern && lt_gateway_http_headers_check(x->call, x->message, &code, &data, &err) != LT_OK) {
    gateway_http_refuse(x, 400, code, lt_err_msg(&err), lt_buf_view(&data));
  } else if (x->is_modern) {
    gateway_http_post_modern(x);
  } else if (m->kind == LT_MCP_REQUEST && lt_json_str_eq(m->method, LT_STR("initialize"))) {
    gateway_http_post_initialize(x);
  } else if (gateway_http_enter(x)) {
    gateway_http_post_session(x);
  }
}

/* --- POST: reading ------------------------------------------------------------------------------------------------ */
typedef struct gateway_http_reading {
  lt_str text;
  lt_gateway_message *message;
  lt_err err;
  lt_status status;
} gateway_http_reading;

static void gateway_http_on_thread(void *arg) {
  gateway_http_reading *r = arg;
  r->status = lt_gateway_message_read(r->text, &r->message, &r->err);
}

static lt_status gateway_http_read(gateway_exchange *x, lt_err *err) LT_YIELDS {
  gateway_http_reading r = {.text = x->call->body, .err = LT_ERR_INIT};
  if (r.text.n < LT_MCP_OFFLOAD_BYTES) {
    return lt_gateway_message_read(r.text, &x->message, err);
  }
  LT_TRY(lt_loop_offload(x->http->loop, gateway_http_on_thread, &r, err));
  x->message = r.message;
  return r.status == LT_OK ? LT_OK : lt_err_copy(err, &r.err);
}

/* Whether an Accept header (RFC 9110, section 12.5.1) names a media type, or all; none accepts all. */
static bool gateway_http_accepts(const lt_http_call *call, lt_str type) {
  lt_str all = lt_http_call_header(call, "Accept");
  lt_str group = lt_str_sub(type, 0, lt_str_find(type, LT_STR("/"), 0) + 1);
  bool is_accepted = lt_str_trim(all).n == 0;
  for (size_t at = 0; at < all.n && !is_accepted;) {
    size_t end = lt_str_find(all, LT_STR(","), at);
    lt_str item = lt_str_sub(all, at, end);
    item = lt_str_trim(lt_str_sub(item, 0, lt_str_find(item, LT_STR(";"), 0)));
    is_accepted = lt_str_eq_fold(item, type) || lt_str_eq(item, LT_STR("*/*")) ||
                  (lt_str_ends(item, LT_STR("/*")) && lt_str_eq_fold(lt_str_sub(item, 0, item.n - 1), group));
    at = end != SIZE_MAX ? end + 1 : all.n;
  }
  return is_accepted;
}

static bool gateway_http_is_json(const lt_http_call *call) {
  lt_str type = lt_http_call_header(call, "Content-Type");
  return lt_str_eq_fold(lt_str_trim(lt_str_sub(type, 0, lt_str_find(type, LT_STR(";"), 0))),
                        LT_STR("application/json"));
}

static void gateway_http_post(gateway_exchange *x) LT_YIELDS {
  LT_ERR_VAR(err);
  x->takes_events = gateway_http_accepts(x->call, LT_STR("text/event-stream"));
  if (!gateway_http_is_json(x->call)) {
    gateway_http_refuse(x, 415, LT_GATEWAY_BUSY, "Unsupported Media Type: Content-Type must be application/json",
                        LT_STR_NULL);
  } else if (!gateway_http_accepts(x->call, LT_STR("application/json"))) {
    gateway_http_refuse(x, 406, LT_GATEWAY_BUSY,
                        "Not Acceptable: Accept must name application/json and text/event-stream", LT_STR_NULL);
  } else if (gateway_http_read(x, &err) != LT_OK) {
    gateway_http_refuse(x, 400, LT_GATEWAY_PARSE_ERROR, lt_err_msg(&err), LT_STR_NULL);
  } else {
    gateway_http_dispatch(x);
  }
  lt_gateway_message_free(x->message);
}

/* --- GET: messages that belong to no request, streams that broke off ---------------------------------------------- */
/* "3-17": the stream and the event that a client has got last. False: it is no such name. */
static bool gateway_http_read_event_id(lt_str id, uint32_t *ret_stream, uint64_t *ret_event) {
  uint64_t parts[2] = {0, 0};
  size_t part = 0, digits = 0;
  for (size_t i = 0; i < id.n; i++) {
    bool is_digit = id.p[i] >= '0' && id.p[i] <= '9';
    if (!is_digit && (id.p[i] != '-' || part > 0 || digits == 0)) {
      return false;
    }
    part += !is_digit;
    digits = is_digit ? digits + 1 : 0;
    if (digits > 15) {
      return false;
    }
    parts[part] = is_digit ? parts[part] * 10 + (uint64_t)(id.p[i] - '0') : parts[part];
  }
  *ret_stream = (uint32_t)parts[0];
  *ret_event = parts[1];
  return part == 1 && digits > 0 && parts[0] <= UINT32_MAX;
}

static void gateway_http_read_stream(gateway_exchange *x) LT_YIELDS {
  lt_str last = lt_str_trim(lt_http_call_header(x->call, "Last-Event-ID"));
  uint32_t number = 0;
  uint64_t event = 0;
  if (last.n > 0 && !gateway_http_read_event_id(last, &number, &event)) {
    gateway_http_refuse(x, 400, LT_GATEWAY_BUSY, "Bad Request: no event has this Last-Event-ID", LT_STR_NULL);
    return;
  }
  lt_gateway_stream *stream = lt_gateway_http_session_find(x->session, number);
  if (stream == NULL) {
    gateway_http_refuse(x, 400, LT_GATEWAY_BUSY, "Bad Request: the stream of this Last-Event-ID is no longer kept",
                        LT_STR_NULL);
    return;
  }
  stream->users++;
  bool primes = last.n == 0 && lt_gateway_http_session_primes(x->session);
  lt_gateway_stream_forget(stream, number == 0 ? event : 0); /* what was read is not read again */
  if (gateway_http_begin_stream(x, stream, primes) == LT_OK) {
    (void)gateway_http_send_stream(x, stream, event);
  }
  lt_gateway_stream_drop(stream);
}

static void gateway_http_refuse_method(gateway_exchange *x, const char *allowed) {
  lt_http_answer_header(x->answer, "Allow", lt_str_of(allowed));
  gateway_http_refuse(x, 405, LT_GATEWAY_BUSY, "Method Not Allowed", LT_STR_NULL);
}

/* A client of 2026-07-28 has nothing to get or delete; neither has one without a session. */
static bool gateway_http_has_session(gateway_exchange *x) {
  if (lt_str_trim(lt_http_call_header(x->call, "Mcp-Session-Id")).n == 0 ||
      lt_str_eqc(lt_str_trim(lt_http_call_header(x->call, "MCP-Protocol-Version")), LT_MCP_VERSION_MODERN)) {
    gateway_http_refuse_method(x, "POST");
    return false;
  }
  return gateway_http_enter(x);
}

static void gateway_http_get(gateway_exchange *x) LT_YIELDS {
  if (!gateway_http_has_session(x)) {
    return;
  }
  if (!gateway_http_accepts(x->call, LT_STR("text/event-stream"))) {
    gateway_http_refuse(x, 406, LT_GATEWAY_BUSY, "Not Acceptable: Accept must name text/event-stream", LT_STR_NULL);
    return;
  }
  gateway_http_read_stream(x);
}

void lt_gateway_http_handle(lt_gateway_http *http, const lt_http_call *call, lt_str user, const lt_trace_context *trace,
                            lt_http_answer *answer) {
  gateway_exchange x = {.http = http, .call = call, .user = user, .trace = trace, .answer = answer};
  if (lt_str_eqc(call->method, "POST")) {
    gateway_http_post(&x);
  } else if (lt_str_eqc(call->method, "GET")) {
    gateway_http_get(&x);
  } else if (lt_str_eqc(call->method, "DELETE")) {
    if (gateway_http_has_session(&x)) {
      lt_gateway_http_session_close(x.session);
    }
  } else {
    gateway_http_refuse_method(&x, "POST, GET, DELETE");
  }
  if (x.session != NULL) {
    lt_gateway_http_session_leave(x.session);
  }
}
