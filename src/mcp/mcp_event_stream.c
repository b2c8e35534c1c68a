/* Streams of events over HTTP: the answer to a request, and the server's own stream. */
#include <strings.h>

#include "base/limits.h"
#include "mcp/mcp_link_http.h"
#include "mcp/mcp_url.h"
#include "text/sse.h"

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* "The old server's `endpoint` event contains a URI for the client to use for sending messages" (2024-11-05,
 * Transports, HTTP with SSE). Another origin would get our headers, and with them perhaps a key. */
static lt_status mcp_event_stream_take_endpoint(lt_mcp_http *link, lt_str data, lt_err *err) {
  LT_AUTO_BUF(url, LT_HTTP_URL_MAX_BYTES);
  lt_mcp_url_join(lt_buf_view(&link->url), lt_str_trim(data), &url);
  LT_TRY(lt_buf_check(&url, err, "the server's address for messages is too long"));
  if (!lt_mcp_url_same_origin(lt_buf_view(&link->url), lt_buf_view(&url))) {
    return lt_fail(err, LT_E_PROTOCOL,
                   "the server names an address for messages that is not its own; nothing was sent");
  }
  lt_buf_clear(&link->url);
  lt_buf_add(&link->url, lt_buf_view(&url));
  lt_mcp_exchange_release_held(link);
  return LT_OK;
}

static lt_status mcp_event_stream_take(lt_mcp_exchange *x, const lt_sse_event *event, lt_err *err) LT_YIELDS {
  lt_mcp_http *link = x->link;
  if (link->is_old && lt_str_eqc(event->event, "endpoint")) {
    return link->is_held ? mcp_event_stream_take_endpoint(link, event->data, err) : LT_OK;
  }
  /* "the server SHOULD immediately send an SSE event consisting of an event ID and an empty `data` field" (2025-11-25,
   * Transports) */
  if (lt_str_trim(event->data).n > 0 && (event->event.n == 0 || lt_str_eqc(event->event, "message"))) {
    lt_mcp_link_take(&link->base, event->data);
  }
  return LT_OK;
}

static void mcp_event_stream_remember(lt_mcp_exchange *x, const lt_sse *sse) {
  if (sse->id.n > 0) {
    lt_buf_clear(&x->last_event_id);
    lt_buf_add(&x->last_event_id, lt_buf_view(&sse->id));
  }
  if (sse->retry_ms >= 0) {
    x->retry_ms = sse->retry_ms < LT_MCP_RETRY_MAX_MS ? (uint64_t)sse->retry_ms : LT_MCP_RETRY_MAX_MS;
  }
}

/* Reads to the end of the stream. LT_OK: it has ended as it should. `ret_events` counts what came. */
static lt_status mcp_event_stream_read(lt_mcp_exchange *x, lt_http_stream *stream, lt_sse *sse, size_t *ret_events,
                                       lt_err *err) LT_YIELDS {
  bool is_answered = false;
  for (;;) {
    lt_str piece;
    LT_TRY(lt_http_read(stream, &piece, err));
    lt_status status = lt_sse_add(sse, piece);
    for (lt_sse_event event; lt_sse_next(sse, &event);) {
      ++*ret_events;
      LT_TRY(mcp_event_stream_take(x, &event, err));
    }
    status = lt_status_first(status, lt_sse_add(sse, LT_STR_NULL));
    if (status == LT_E_LIMIT) {
      lt_mcp_link_take_overlong(&x->link->base);
    }
    if (status != LT_OK) {
      return lt_fail(err, status, "the server's event stream has an event of over %lu MiB",
                     LT_MCP_LINE_MAX_BYTES / LT_MIB);
    }
    if (piece.n == 0) {
      return LT_OK;
    }
    if (x->id > 0 && !is_answered && !lt_mcp_exchange_is_awaited(x)) {
      is_answered = true; /* its end comes soon: then the connection can be used again */
      lt_http_set_idle(stream, LT_MCP_LOST_WAIT_MS);
    }
  }
}

static lt_status mcp_event_stream_read_all(lt_mcp_exchange *x, lt_http_stream *stream, size_t *ret_events,
                                           lt_err *err) LT_YIELDS {
  lt_sse sse;
  lt_sse_init(&sse, LT_MCP_LINE_MAX_BYTES);
  lt_status status = mcp_event_stream_read(x, stream, &sse, ret_events, err);
  mcp_event_stream_remember(x, &sse);
  lt_sse_release(&sse);
  lt_http_close(stream);
  return status;
}

/* --- Asking again ------------------------------------------------------------------------------------------------- */

/* "If the client wishes to resume after a disconnection [...] it SHOULD issue an HTTP GET to the MCP endpoint, and
 * include the `Last-Event-ID` header" (2025-11-25, Transports, Resumability and Redelivery). NULL: there is no stream.
 */
static lt_http_stream *mcp_event_stream_get(lt_mcp_exchange *x, lt_err *err) LT_YIELDS {
  lt_http_stream *stream = NULL;
  if (lt_mcp_exchange_open(x, "GET", &stream, err) != LT_OK) {
    return NULL;
  }
  lt_str type = lt_mcp_exchange_type_of(stream);
  if (lt_http_status(stream) == 200 && type.n == 17 && strncasecmp(type.p, "text/event-stream", 17) == 0) {
    return stream;
  }
  if (x->refusal.status != LT_OK) {
    (void)lt_err_copy(err, &x->refusal);
  } else {
    lt_fail(err, LT_E_PROTOCOL, "the server does not give an event stream: it answers GET with HTTP status %d",
            lt_http_status(stream));
  }
  lt_http_close(stream);
  return NULL;
}

void lt_mcp_event_stream_answer(lt_mcp_exchange *x, lt_http_stream *stream) {
  LT_ERR_VAR(err);
  for (int quiet = 0;;) {
    size_t events = 0;
    lt_status status = LT_OK;
    if (stream != NULL) {
      status = mcp_event_stream_read_all(x, stream, &events, &err);
    }
    quiet = events > 0 ? 0 : quiet + 1;
    bool can_resume = !x->link->is_modern && x->last_event_id.n > 0 && status != LT_E_LIMIT && status != LT_E_NOMEM;
    if (!lt_mcp_exchange_is_awaited(x) || !can_resume || quiet > LT_MCP_RESUMES_MAX) {
      break;
    }
    lt_mcp_exchange_pause(x, x->retry_ms);
    err = LT_ERR_INIT;
    stream = mcp_event_stream_get(x, &err);
  }
  if (err.status == LT_OK) {
    lt_fail(&err, LT_E_CLOSED, "the server closed the event stream before it answered");
  }
  lt_mcp_refusal_report(x, &err);
}

/* --- The server's own stream -------------------------------------------------------------------------------------- */

static bool mcp_event_stream_may_go_on(const lt_mcp_exchange *x) {
  return x->cancel.why == LT_OK && !x->link->is_closing && !x->link->is_lost && !x->link->base.is_over;
}

/* "The server MUST either return `Content-Type: text/event-stream` in response to this HTTP GET, or else return HTTP
 * 405 Method Not Allowed": without a stream, the server's own messages are missing, and nothing else. */
static void mcp_event_stream_follow(lt_mcp_exchange *x) LT_YIELDS {
  for (int quiet = 0; quiet <= LT_MCP_RESUMES_MAX && mcp_event_stream_may_go_on(x);) {
    size_t events = 0;
    lt_http_stream *stream = mcp_event_stream_get(x, NULL);
    if (stream == NULL) {
      return;
    }
    (void)mcp_event_stream_read_all(x, stream, &events, NULL);
    quiet = events > 0 ? 0 : quiet + 1;
    if (mcp_event_stream_may_go_on(x)) {
      lt_mcp_exchange_pause(x, x->retry_ms);
    }
  }
}

/* The stream of 2024-11-05 carries everything: with it ends the session. */
static void mcp_event_stream_follow_old(lt_mcp_exchange *x) LT_YIELDS {
  lt_mcp_http *link = x->link;
  size_t events = 0;
  LT_ERR_VAR(err);
  lt_http_stream *stream = mcp_event_stream_get(x, &err);
  if (stream != NULL) {
    (void)mcp_event_stream_read_all(x, stream, &events, &err);
  }
  if (link->is_held && !link->is_closing) {
    if (err.status == LT_OK) {
      lt_fail(&err, LT_E_PROTOCOL, "the server closed its event stream before it named its address for messages");
    }
    link->failure = err;
    lt_mcp_exchange_release_held(link);
  } else {
    lt_mcp_link_end(&link->base, LT_E_CLOSED);
  }
}

void lt_mcp_event_stream_listen(void *arg) {
  lt_mcp_exchange *x = arg;
  lt_mcp_http *link = x->link;
  if (link->is_old) {
    mcp_event_stream_follow_old(x);
  } else {
    mcp_event_stream_follow(x);
  }
  lt_mcp_exchange_free(x);
  link->fibers--;
  lt_wait_wake(&link->finished, LT_OK);
}
