/* One message over HTTP, and its answer. */
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_link_http.h"

/* --- Life --------------------------------------------------------------------------------------------------------- */

lt_mcp_exchange *lt_mcp_exchange_new(lt_mcp_http *link) {
  lt_mcp_exchange *x = lt_mem_zalloc(1, sizeof *x);
  if (x == NULL) {
    return NULL;
  }
  x->link = link;
  x->retry_ms = LT_MCP_RETRY_MS;
  lt_buf_init(&x->body, LT_MCP_LINE_MAX_BYTES);
  lt_buf_init(&x->name, LT_HTTP_HEADERS_MAX_BYTES);
  lt_buf_init(&x->headers, LT_HTTP_HEADERS_MAX_BYTES);
  lt_buf_init(&x->last_event_id, LT_MCP_SESSION_ID_MAX_BYTES);
  lt_cancel_init(&x->cancel);
  lt_wait_init(&x->turn, link->base.loop);
  x->next = link->first;
  if (x->next != NULL) {
    x->next->prev = x;
  }
  link->first = x;
  return x;
}

void lt_mcp_exchange_free(lt_mcp_exchange *x) {
  if (x == NULL) {
    return;
  }
  *(x->prev != NULL ? &x->prev->next : &x->link->first) = x->next;
  if (x->next != NULL) {
    x->next->prev = x->prev;
  }
  x->link->queued_bytes -= x->body.n;
  lt_buf_release(&x->body);
  lt_buf_release(&x->name);
  lt_buf_release(&x->headers);
  lt_buf_release(&x->last_event_id);
  lt_mem_free(x);
}

bool lt_mcp_exchange_is_awaited(const lt_mcp_exchange *x) {
  const lt_mcp_link *base = &x->link->base;
  return x->id > 0 && !base->is_over && x->cancel.why == LT_OK && base->events.is_awaited(base->events.arg, x->id);
}

void lt_mcp_exchange_pause(lt_mcp_exchange *x, uint64_t ms) {
  lt_cancel_node node;
  lt_wait wait;
  lt_wait_init(&wait, x->link->base.loop);
  lt_cancel_add(&x->cancel, &node, &wait);
  (void)lt_wait_on(&wait, ms);
  lt_cancel_remove(&x->cancel, &node);
}

/* --- Headers ------------------------------------------------------------------------------------------------------ */

typedef struct exchange_headers {
  lt_http_header list[LT_MCP_HEADERS_MAX];
  size_t count;
} exchange_headers;

static void mcp_exchange_add(exchange_headers *h, lt_str name, lt_str value) {
  if (h->count < LT_MCP_HEADERS_MAX && value.n > 0) {
    h->list[h->count++] = (lt_http_header){name, value};
  }
}

/* A "Name: value" of the configuration replaces a header of ours, except those of the protocol. */
static void mcp_exchange_add_configured(exchange_headers *h, const char *line) {
  lt_str text = lt_str_of(line);
  size_t colon = lt_str_find(text, LT_STR(":"), 0);
  if (colon < text.n) {
    mcp_exchange_add(h, lt_str_sub(text, 0, colon), lt_str_trim(lt_str_sub(text, colon + 1, text.n)));
  }
}

static void mcp_exchange_add_lines(exchange_headers *h, lt_str lines) {
  for (size_t at = 0; at < lines.n;) {
    size_t end = lt_str_find(lines, LT_STR("\n"), at);
    lt_str line = lt_str_sub(lines, at, end);
    size_t colon = lt_str_find(line, LT_STR(": "), 0);
    if (colon < line.n && h->count < LT_MCP_HEADERS_MAX) { /* also without a value: an empty argument has a header */
      h->list[h->count++] = (lt_http_header){lt_str_sub(line, 0, colon), lt_str_sub(line, colon + 2, line.n)};
    }
    at = end + 1;
  }
}

static bool mcp_exchange_is_post(const char *method) {
  return strcmp(method, "POST") == 0;
}

static void mcp_exchange_fill(const lt_mcp_exchange *x, const char *method, exchange_headers *h) {
  const lt_mcp_http *link = x->link;
  bool is_post = mcp_exchange_is_post(method);
  const char *const *configured = link->base.server->headers;
  for (size_t i = 0; configured != NULL && configured[i] != NULL; i++) {
    mcp_exchange_add_configured(h, configured[i]);
  }
  mcp_exchange_add(h, LT_STR("User-Agent"), LT_STR("lathe/" LT_VERSION));
  mcp_exchange_add(h, LT_STR("Content-Type"), is_post ? LT_STR("application/json") : LT_STR_NULL);
  mcp_exchange_add(h, LT_STR("Accept"),
                   is_post ? LT_STR("application/json, text/event-stream") : LT_STR("text/event-stream"));
  bool is_greeting = x->method != NULL && strcmp(x->method, "initialize") == 0;
  mcp_exchange_add(h, LT_STR("MCP-Protocol-Version"), is_greeting ? LT_STR_NULL : lt_str_of(link->version));
  if (link->is_modern && is_post) {
    mcp_exchange_add(h, LT_STR("Mcp-Method"), x->method != NULL ? lt_str_of(x->method) : LT_STR_NULL);
    mcp_exchange_add(h, LT_STR("Mcp-Name"), lt_buf_view(&x->name));
  } else if (!link->is_modern) {
    mcp_exchange_add(h, LT_STR("Mcp-Session-Id"), lt_buf_view(&link->session));
  }
  if (is_post) {
    mcp_exchange_add_lines(h, lt_buf_view(&x->headers));
  }
  mcp_exchange_add(h, LT_STR("Last-Event-ID"), lt_buf_view(&x->last_event_id));
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

/* How long an answer may take is the caller's matter, who gives the exchange up. `authorization` may be empty. */
static lt_status mcp_exchange_open_with(lt_mcp_exchange *x, const char *method, lt_str authorization,
                                        lt_http_stream **ret_stream, lt_err *err) LT_YIELDS {
  exchange_headers headers = {.count = 0};
  mcp_exchange_add(&headers, LT_STR("Authorization"), authorization);
  mcp_exchange_fill(x, method, &headers);
  bool is_last = strcmp(method, "DELETE") == 0;
  lt_buf url; /* a redirect of another exchange may change the link's */
  lt_buf_init(&url, LT_HTTP_URL_MAX_BYTES);
  lt_buf_add(&url, lt_buf_view(&x->link->url));
  const lt_http_request request = {
      .method = lt_str_of(method),
      .url = lt_buf_view(&url),
      .headers = headers.list,
      .header_count = headers.count,
      .body = mcp_exchange_is_post(method) ? lt_buf_view(&x->body) : LT_STR_NULL,
      .connect_timeout_ms = is_last ? LT_MCP_GOODBYE_MS : 0,
      .first_byte_ms = is_last ? LT_MCP_GOODBYE_MS : LT_MCP_ANSWER_MS,
      .idle_ms = LT_MCP_ANSWER_MS,
      .cancel = &x->cancel,
      .is_once = true, /* a tool must not be called twice */
  };
  lt_status status = lt_http_open(x->link->http, &request, ret_stream, err);
  lt_buf_release(&url);
  return status;
}

/* Whether the request may be made again, with another token; it was not carried out. */
static bool mcp_exchange_renews(lt_mcp_exchange *x, const lt_http_stream *stream, lt_str authorization) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_str challenge = lt_http_header_of(stream, LT_STR("www-authenticate"));
  lt_status status =
      lt_mcp_auth_renew(x->link->base.server->auth, lt_http_status(stream), challenge, authorization, &err);
  x->refusal = status == LT_OK || status == LT_E_NOTFOUND ? LT_ERR_INIT : err;
  return status == LT_OK && x->cancel.why == LT_OK;
}

lt_status lt_mcp_exchange_open(lt_mcp_exchange *x, const char *method, lt_http_stream **ret_stream, lt_err *err) {
  lt_mcp_auth *auth = x->link->base.server->auth;
  for (bool is_again = false;; is_again = true) {
    LT_AUTO_BUF(authorization, LT_HTTP_HEADERS_MAX_BYTES);
    LT_TRY(auth != NULL ? lt_mcp_auth_header(auth, &authorization, err) : LT_OK);
    LT_TRY(mcp_exchange_open_with(x, method, lt_buf_view(&authorization), ret_stream, err));
    bool is_refused = lt_http_status(*ret_stream) == 401 || lt_http_status(*ret_stream) == 403;
    if (auth != NULL && is_again && lt_http_status(*ret_stream) == 401) {
      (void)lt_mcp_auth_give_up(auth, &x->refusal);
    }
    if (auth == NULL || !is_refused || is_again || !mcp_exchange_renews(x, *ret_stream, lt_buf_view(&authorization))) {
      return LT_OK;
    }
    lt_http_close(*ret_stream);
  }
}

lt_str lt_mcp_exchange_type_of(const lt_http_stream *stream) {
  lt_str type = lt_http_header_of(stream, LT_STR("content-type"));
  size_t end = lt_str_find(type, LT_STR(";"), 0);
  return lt_str_trim(lt_str_sub(type, 0, end < type.n ? end : type.n));
}

static bool mcp_exchange_has_type(const lt_http_stream *stream, const char *type) {
  lt_str actual = lt_mcp_exchange_type_of(stream);
  return actual.n == strlen(type) && strncasecmp(actual.p, type, actual.n) == 0;
}

/* "The session ID MUST only contain visible ASCII characters (ranging from 0x21 to 0x7E)." (Session Management) */
static void mcp_exchange_take_session(lt_mcp_exchange *x, const lt_http_stream *stream) {
  if (x->method == NULL || strcmp(x->method, "initialize") != 0) {
    return;
  }
  lt_str id = lt_http_header_of(stream, LT_STR("mcp-session-id"));
  for (size_t i = 0; i < id.n; i++) {
    if (id.p[i] < 0x21 || id.p[i] > 0x7e) {
      return;
    }
  }
  lt_buf_clear(&x->link->session);
  lt_buf_add(&x->link->session, id);
}

/* An answer that is one JSON text. */
static void mcp_exchange_read_json(lt_mcp_exchange *x, lt_http_stream *stream) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_str piece;
  lt_status status;
  LT_AUTO_BUF(text, LT_MCP_LINE_MAX_BYTES);
  while ((status = lt_http_read(stream, &piece, &err)) == LT_OK && piece.n > 0 && text.status == LT_OK) {
    lt_buf_add(&text, piece);
  }
  if (text.status == LT_E_LIMIT) {
    lt_fail(&err, LT_E_LIMIT, "the server's answer is over %lu MiB: ask the tool for less at once",
            LT_MCP_LINE_MAX_BYTES / LT_MIB);
  } else if (text.status != LT_OK) {
    lt_fail(&err, text.status, "no memory for the server's answer");
  } else if (status == LT_OK) {
    lt_mcp_link_take(&x->link->base, lt_buf_view(&text));
    lt_fail(&err, LT_E_PROTOCOL, "the server sent JSON that is not the answer to the request");
  }
  lt_mcp_refusal_report(x, &err);
}

static void mcp_exchange_read_answer(lt_mcp_exchange *x, lt_http_stream *stream) LT_YIELDS {
  int status = lt_http_status(stream);
  if (status < 200 || status > 299) {
    lt_mcp_refusal_read(x, stream);
    lt_http_close(stream);
    return;
  }
  mcp_exchange_take_session(x, stream);
  if (x->id > 0 && !x->link->is_old && mcp_exchange_has_type(stream, "text/event-stream")) {
    lt_mcp_event_stream_answer(x, stream);
    return;
  }
  if (x->id > 0 && !x->link->is_old && status != 202 && mcp_exchange_has_type(stream, "application/json")) {
    mcp_exchange_read_json(x, stream);
  } else if (x->id > 0 && !x->link->is_old) {
    lt_mcp_refusal_read(x, stream);
  } else {
    lt_str piece; /* to the end, so that the connection can be used again */
    lt_http_set_idle(stream, LT_MCP_GOODBYE_MS);
    while (lt_http_read(stream, &piece, NULL) == LT_OK && piece.n > 0) {
    }
  }
  lt_http_close(stream);
}

static void mcp_exchange_post(lt_mcp_exchange *x) LT_YIELDS {
  for (int again = 0;; again++) {
    LT_ERR_VAR(err);
    lt_http_stream *stream = NULL;
    if (lt_mcp_exchange_open(x, "POST", &stream, &err) != LT_OK) {
      lt_mcp_refusal_report(x, &err);
      return;
    }
    uint64_t wait_ms = again < LT_MCP_TRIES_MAX ? lt_mcp_refusal_retry_ms(stream) : 0;
    bool is_elsewhere = again < LT_MCP_TRIES_MAX && lt_mcp_refusal_redirects(x, stream);
    if (wait_ms == 0 && !is_elsewhere) {
      mcp_exchange_read_answer(x, stream);
      return;
    }
    lt_http_close(stream);
    if (wait_ms > 0) {
      lt_mcp_exchange_pause(x, wait_ms);
    }
  }
}

/* --- The fiber ---------------------------------------------------------------------------------------------------- */

static bool mcp_exchange_goes_first(const lt_mcp_exchange *x) {
  return !x->link->is_old && x->method != NULL && strcmp(x->method, "notifications/initialized") == 0;
}

static void mcp_exchange_wait_for_turn(lt_mcp_exchange *x) LT_YIELDS {
  lt_cancel_node node;
  lt_cancel_add(&x->cancel, &node, &x->turn);
  while (x->link->is_held && !x->link->is_closing && x->cancel.why == LT_OK) {
    (void)lt_wait_on(&x->turn, UINT64_MAX);
  }
  lt_cancel_remove(&x->cancel, &node);
}

void lt_mcp_exchange_release_held(lt_mcp_http *link) {
  link->is_held = false;
  for (lt_mcp_exchange *x = link->first; x != NULL; x = x->next) {
    lt_wait_wake(&x->turn, LT_OK);
  }
}

void lt_mcp_exchange_run(void *arg) {
  lt_mcp_exchange *x = arg;
  lt_mcp_http *link = x->link;
  bool goes_first = mcp_exchange_goes_first(x);
  if (!goes_first) {
    mcp_exchange_wait_for_turn(x);
  }
  if (link->failure.status != LT_OK) {
    lt_mcp_refusal_report(x, &link->failure);
  } else if (link->is_lost) {
    lt_mcp_refusal_unheard(x);
  } else if (!link->is_closing && x->cancel.why == LT_OK) {
    mcp_exchange_post(x);
  }
  if (goes_first) {
    lt_mcp_exchange_release_held(link);
  }
  lt_mcp_exchange_free(x);
  link->fibers--;
  lt_wait_wake(&link->finished, LT_OK);
}
