/* Answers over HTTP that are no messages: what they mean, in words, with advice. */
#include <stdio.h>
#include <strings.h>

#include "base/limits.h"
#include "mcp/mcp_link_http.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_url.h"

void lt_mcp_refusal_report(lt_mcp_exchange *x, const lt_err *err) {
  const lt_mcp_refusal refusal = {.id = x->id, .err = *err};
  if (lt_mcp_exchange_is_awaited(x)) {
    x->link->base.events.on_refused(x->link->base.events.arg, &refusal);
  }
}

void lt_mcp_refusal_unheard(lt_mcp_exchange *x) {
  const lt_mcp_refusal refusal = {.id = x->id, .http_status = 404, .is_unheard = true};
  if (lt_mcp_exchange_is_awaited(x)) {
    x->link->base.events.on_refused(x->link->base.events.arg, &refusal);
  }
}

/* --- Another address, another time -------------------------------------------------------------------------------- */

bool lt_mcp_refusal_redirects(lt_mcp_exchange *x, const lt_http_stream *stream) {
  lt_mcp_http *link = x->link;
  int status = lt_http_status(stream);
  lt_str location = lt_http_header_of(stream, LT_STR("location"));
  if ((status != 307 && status != 308) || location.n == 0) {
    return false;
  }
  LT_AUTO_BUF(url, LT_HTTP_URL_MAX_BYTES);
  lt_mcp_url_join(lt_buf_view(&link->url), location, &url);
  if (url.status != LT_OK || !lt_mcp_url_same_origin(lt_buf_view(&link->url), lt_buf_view(&url))) {
    return false;
  }
  lt_buf_clear(&link->url);
  lt_buf_add(&link->url, lt_buf_view(&url));
  return true;
}

uint64_t lt_mcp_refusal_retry_ms(const lt_http_stream *stream) {
  lt_str after = lt_http_header_of(stream, LT_STR("retry-after"));
  uint64_t seconds = 0;
  if (lt_http_status(stream) != 429 || after.n == 0 || after.n > 4) {
    return 0;
  }
  for (size_t i = 0; i < after.n; i++) {
    if (after.p[i] < '0' || after.p[i] > '9') {
      return 0;
    }
    seconds = 10 * seconds + (uint64_t)(after.p[i] - '0');
  }
  return seconds * 1000 <= LT_MCP_RETRY_AFTER_MAX_MS ? seconds * 1000 + 1 : 0;
}

/* --- In words ----------------------------------------------------------------------------------------------------- */

static const char *mcp_refusal_advice(int status) {
  switch (status) {
    case 401:
      return "; it wants a key: give it in \"headers\", such as Authorization: Bearer ${TOKEN}";
    case 403:
      return "; it does not allow this: check the key in \"headers\", and the host name in \"url\"";
    case 404:
    case 405:
      return "; check the path of \"url\"";
    case 406:
    case 415:
      return "; this is probably not the address of an MCP server: check \"url\"";
    case 429:
      return "; it wants fewer requests: try again later";
    default:
      return status >= 500 ? "; the fault is on its side: try again later" : "";
  }
}

static void mcp_refusal_describe_redirect(lt_mcp_exchange *x, const lt_http_stream *stream, lt_err *err) {
  LT_AUTO_BUF(url, LT_HTTP_URL_MAX_BYTES);
  lt_mcp_url_join(lt_buf_view(&x->link->url), lt_http_header_of(stream, LT_STR("location")), &url);
  lt_str origin = lt_mcp_url_origin(lt_buf_view(&url));
  LT_AUTO_BUF(words, 4 * LT_KIB);
  lt_mcp_peer_text_add(&words, origin, LT_MCP_HEAD, LT_MCP_WORDS_MAX_BYTES / 2, x->link->base.server->secrets);
  lt_fail(err, LT_E_PROTOCOL,
          "the server answers with HTTP status %d and sends us to %.*s; Lathe does not follow, because that may be "
          "somebody else: write the right address into \"url\"",
          lt_http_status(stream), LT_STR_ARG(words.n > 0 ? lt_buf_view(&words) : LT_STR("nowhere")));
}

static void mcp_refusal_describe(lt_mcp_exchange *x, const lt_http_stream *stream, lt_str body, lt_err *err) {
  int status = lt_http_status(stream);
  const lt_secrets *secrets = x->link->base.server->secrets;
  if (status >= 300 && status <= 399) {
    mcp_refusal_describe_redirect(x, stream, err);
    return;
  }
  LT_AUTO_BUF(words, 2 * LT_MCP_WORDS_MAX_BYTES);
  lt_mcp_peer_text_add(&words, body, LT_MCP_HEAD, LT_MCP_WORDS_MAX_BYTES / 2, secrets);
  if (status >= 200 && status <= 299) {
    LT_AUTO_BUF(type, LT_KIB);
    lt_mcp_peer_text_add(&type, lt_mcp_exchange_type_of(stream), LT_MCP_HEAD, 80, secrets);
    lt_fail(
        err, LT_E_PROTOCOL,
        "the server answers with %.*s (HTTP status %d), not with JSON or an event stream; check that \"url\" is the "
        "address of an MCP server%s%.*s",
        LT_STR_ARG(type.n > 0 ? lt_buf_view(&type) : LT_STR("nothing")), status, words.n > 0 ? ". It begins: " : "",
        LT_STR_ARG(lt_buf_view(&words)));
    return;
  }
  if (x->refusal.status != LT_OK) {
    *err = x->refusal;
    return;
  }
  lt_status kind = status == 401 || status == 403   ? LT_E_DENIED
                   : status == 429 || status >= 500 ? LT_E_IO
                                                    : LT_E_PROTOCOL;
  lt_fail(err, kind, "the server answers with HTTP status %d%s%s%.*s", status, mcp_refusal_advice(status),
          words.n > 0 ? ". It says: " : "", LT_STR_ARG(lt_buf_view(&words)));
}

/* --- Lost sessions ------------------------------------------------------------------------------------------------ */

static bool mcp_refusal_mentions_session(lt_str body) {
  for (size_t i = 0; i + 7 <= body.n; i++) {
    if (strncasecmp(body.p + i, "session", 7) == 0) {
      return true;
    }
  }
  return false;
}

/* "When a client receives HTTP 404 in response to a request containing an `Mcp-Session-Id`, it MUST start a new
 * session" (2025-11-25, Session Management). The SDK's example servers say 400, with a word about the session. */
static bool mcp_refusal_is_lost_session(const lt_mcp_exchange *x, int status, lt_str body) {
  const lt_mcp_http *link = x->link;
  if (link->session.n == 0 || link->is_modern || (x->method != NULL && strcmp(x->method, "initialize") == 0)) {
    return false;
  }
  return status == 404 || (status == 400 && mcp_refusal_mentions_session(body));
}

static bool mcp_refusal_others_wait(const lt_mcp_exchange *x) {
  for (const lt_mcp_exchange *other = x->link->first; other != NULL; other = other->next) {
    if (other != x && lt_mcp_exchange_is_awaited(other)) {
      return true;
    }
  }
  return false;
}

/* Answers of the old session may still be under way. */
static void mcp_refusal_lose_session(lt_mcp_exchange *x) LT_YIELDS {
  lt_mcp_http *link = x->link;
  bool is_first = !link->is_lost;
  link->is_lost = true;
  lt_mcp_refusal_unheard(x);
  uint64_t until_ms = lt_loop_now_ms(link->base.loop) + LT_MCP_LOST_WAIT_MS;
  while (is_first && mcp_refusal_others_wait(x) && lt_loop_now_ms(link->base.loop) < until_ms && !link->is_closing) {
    lt_mcp_exchange_pause(x, 10);
  }
  if (is_first) {
    lt_mcp_link_end(&link->base, LT_E_CLOSED);
  }
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* An error of JSON-RPC, with our id or without one. False: the body is something else. */
static bool mcp_refusal_take_error(lt_mcp_exchange *x, int status, lt_str body, const lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_json_doc doc;
  lt_str text = lt_str_trim(body);
  if (text.n == 0 || text.p[0] != '{' || lt_json_parse(&arena, text, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json error = lt_json_get(lt_json_root(&doc), "error");
  lt_mcp_refusal refusal = {.id = x->id, .http_status = status, .error = error, .err = *err};
  if (lt_json_typeof(error) != LT_JSON_OBJECT) {
    return false;
  }
  if (lt_mcp_exchange_is_awaited(x)) {
    x->link->base.events.on_refused(x->link->base.events.arg, &refusal);
  }
  return true;
}

void lt_mcp_refusal_read(lt_mcp_exchange *x, lt_http_stream *stream) {
  LT_ERR_VAR(err);
  lt_str piece;
  int status = lt_http_status(stream);
  LT_AUTO_BUF(body, LT_MCP_WORDS_READ_BYTES + LT_HTTP_BUFFER_BYTES + LT_HTTP_PIECE_BYTES);
  lt_http_set_idle(stream, LT_MCP_GOODBYE_MS);
  while (body.n < LT_MCP_WORDS_READ_BYTES && lt_http_read(stream, &piece, NULL) == LT_OK && piece.n > 0) {
    lt_buf_add(&body, piece);
  }
  if (mcp_refusal_is_lost_session(x, status, lt_buf_view(&body))) {
    mcp_refusal_lose_session(x);
    return;
  }
  lt_mcp_link_mask(&x->link->base, &body);
  mcp_refusal_describe(x, stream, lt_buf_view(&body), &err);
  if (!mcp_refusal_take_error(x, status, lt_buf_view(&body), &err) && lt_mcp_exchange_is_awaited(x)) {
    const lt_mcp_refusal refusal = {.id = x->id, .http_status = status, .err = err};
    x->link->base.events.on_refused(x->link->base.events.arg, &refusal);
  }
}
