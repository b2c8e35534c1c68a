/* A link over HTTP: Streamable HTTP of 2025-03-26 and later, and the older HTTP with server-sent events. */
#include "mcp/mcp_link_http.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"

static lt_mcp_http *mcp_link_http_of(lt_mcp_link *base) {
  return (lt_mcp_http *)(void *)base;
}

/* --- Sending ------------------------------------------------------------------------------------------------------ */

static lt_status mcp_link_http_start(lt_mcp_exchange *x, lt_fiber_fn fn, lt_err *err) {
  lt_mcp_http *link = x->link;
  lt_status status = lt_loop_spawn(link->base.loop, fn, x, err);
  if (status != LT_OK) {
    lt_mcp_exchange_free(x);
    return status;
  }
  link->fibers++;
  return LT_OK;
}

static lt_mcp_exchange *mcp_link_http_make(lt_mcp_http *link, lt_buf *message, const lt_mcp_outgoing *about) {
  lt_mcp_exchange *x = lt_mcp_exchange_new(link);
  if (x == NULL) {
    return NULL;
  }
  x->id = about->id;
  x->method = about->method;
  x->body = *message;
  lt_buf_init(message, message->max);
  link->queued_bytes += x->body.n;
  lt_buf_add(&x->name, about->name);
  lt_buf_add(&x->headers, about->headers);
  if (x->name.status != LT_OK || x->headers.status != LT_OK) {
    lt_mcp_exchange_free(x);
    return NULL;
  }
  return x;
}

/* "After successful initialization, the client MUST send an `initialized` notification" (Lifecycle, Initialization): no
 * later message may overtake it on another connection. */
static bool mcp_link_http_goes_first(const lt_mcp_outgoing *about) {
  return about->method != NULL && strcmp(about->method, "notifications/initialized") == 0;
}

static lt_status mcp_link_http_send(lt_mcp_link *base, lt_buf *message, const lt_mcp_outgoing *about, lt_err *err) {
  lt_mcp_http *link = mcp_link_http_of(base);
  lt_status status = message->status;
  if (status == LT_OK && message->n > LT_MCP_QUEUE_MAX_BYTES - link->queued_bytes) {
    status = LT_E_LIMIT;
  }
  lt_mcp_exchange *x = status == LT_OK ? mcp_link_http_make(link, message, about) : NULL;
  lt_buf_release(message);
  if (x == NULL && status == LT_E_LIMIT) {
    return lt_fail(err, status, "too many bytes wait to be sent to the server already");
  } else if (x == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a message");
  }
  if (x->body.n > 0 && x->body.p[x->body.n - 1] == '\n') {
    lt_buf_cut(&x->body, x->body.n - 1);
    link->queued_bytes--;
  }
  bool goes_first = mcp_link_http_goes_first(about) && !link->is_old;
  LT_TRY(mcp_link_http_start(x, lt_mcp_exchange_run, err));
  link->is_held = link->is_held || goes_first;
  return LT_OK;
}

/* "Disconnection SHOULD NOT be interpreted as the client cancelling its request" (2025-11-25, Transports); "closing the
 * SSE response stream is itself the cancellation signal" (2026-07-28, Streamable HTTP) */
static bool mcp_link_http_drop(lt_mcp_link *base, int64_t id) {
  lt_mcp_http *link = mcp_link_http_of(base);
  lt_mcp_exchange *x = link->first;
  while (x != NULL && x->id != id) {
    x = x->next;
  }
  if (x != NULL) {
    lt_cancel_fire(&x->cancel, LT_E_CANCELLED);
  }
  return link->is_modern;
}

static void mcp_link_http_speak(lt_mcp_link *base, const char *version, bool is_modern) {
  lt_mcp_http *link = mcp_link_http_of(base);
  snprintf(link->version, sizeof link->version, "%s", version);
  link->is_modern = is_modern;
}

/* "The client MAY issue an HTTP GET to the MCP endpoint. This can be used to open an SSE stream" (2025-11-25,
 * Transports, Listening for Messages from the Server) */
static void mcp_link_http_listen(lt_mcp_link *base) {
  lt_mcp_http *link = mcp_link_http_of(base);
  if (link->is_modern || link->is_old) {
    return;
  }
  lt_mcp_exchange *x = lt_mcp_exchange_new(link);
  if (x != NULL) {
    (void)mcp_link_http_start(x, lt_mcp_event_stream_listen, NULL); /* without it, only notifications are missing */
  }
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */

/* "Clients that no longer need a particular session [...] SHOULD send an HTTP DELETE to the MCP endpoint with the
 * `Mcp-Session-Id` header" (2025-11-25, Transports, Session Management) */
static void mcp_link_http_end_session(lt_mcp_http *link) LT_YIELDS {
  if (link->session.n == 0 || link->is_lost || link->is_modern) {
    return;
  }
  lt_mcp_exchange *x = lt_mcp_exchange_new(link);
  lt_http_stream *stream = NULL;
  if (x != NULL && lt_mcp_exchange_open(x, "DELETE", &stream, NULL) == LT_OK) {
    lt_http_close(stream);
  }
  lt_mcp_exchange_free(x);
}

static void mcp_link_http_close(lt_mcp_link *base) LT_YIELDS {
  lt_mcp_http *link = mcp_link_http_of(base);
  link->is_closing = true;
  for (lt_mcp_exchange *x = link->first; x != NULL; x = x->next) {
    lt_cancel_fire(&x->cancel, LT_E_CANCELLED);
    lt_wait_wake(&x->turn, LT_OK);
  }
  while (link->fibers > 0) {
    lt_wait_on(&link->finished, UINT64_MAX);
  }
  mcp_link_http_end_session(link);
  lt_http_free(link->http);
  lt_buf_release(&link->url);
  lt_buf_release(&link->session);
  lt_mem_free(link);
}

static const char *mcp_link_http_exit_text(const lt_mcp_link *base) {
  const lt_mcp_http *link = (const lt_mcp_http *)(const void *)base;
  return link->is_lost ? "has lost the session" : link->is_old ? "closed its event stream" : NULL;
}

static const lt_mcp_link_type http_link = {
    .send = mcp_link_http_send,
    .drop = mcp_link_http_drop,
    .close = mcp_link_http_close,
    .exit_text = mcp_link_http_exit_text,
    .speak = mcp_link_http_speak,
    .listen = mcp_link_http_listen,
};

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static lt_status mcp_link_http_begin(lt_mcp_http *link, lt_err *err) {
  LT_TRY(lt_http_new(link->base.loop, &link->http, err));
  lt_buf_addc(&link->url, link->base.server->url);
  LT_TRY(lt_buf_check(&link->url, err, "the server's url is too long"));
  if (!link->is_old) {
    return LT_OK;
  }
  link->is_held = true; /* until the server has said where messages go */
  lt_mcp_exchange *x = lt_mcp_exchange_new(link);
  return x != NULL ? mcp_link_http_start(x, lt_mcp_event_stream_listen, err)
                   : lt_fail(err, LT_E_NOMEM, "no memory to connect to a server");
}

lt_status lt_mcp_link_http_open(lt_loop *loop, const lt_mcp_options *server, lt_mcp_transport transport,
                                const lt_mcp_link_events *events, lt_mcp_link **ret_link, lt_err *err) {
  lt_mcp_http *link = lt_mem_zalloc(1, sizeof *link);
  if (link == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to connect to a server");
  }
  link->base = (lt_mcp_link){.type = &http_link, .loop = loop, .server = server, .events = *events};
  link->is_old = transport == LT_MCP_OLD_SSE;
  lt_wait_init(&link->finished, loop);
  lt_buf_init(&link->url, LT_HTTP_URL_MAX_BYTES);
  lt_buf_init(&link->session, LT_MCP_SESSION_ID_MAX_BYTES);
  lt_status status = mcp_link_http_begin(link, err);
  if (status != LT_OK) {
    lt_http_free(link->http);
    lt_buf_release(&link->url);
    lt_buf_release(&link->session);
    lt_mem_free(link);
    return status;
  }
  *ret_link = &link->base;
  return LT_OK;
}
