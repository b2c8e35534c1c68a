#include "mcp/mcp_auth_fetch.h"

#include <strings.h>

#include "base/limits.h"
#include "mcp/mcp_url.h"

bool lt_mcp_auth_fetch_may(lt_str url, bool may_be_local) {
  bool is_https = url.n > 8 && strncasecmp(url.p, "https://", 8) == 0;
  return lt_mcp_url_origin(url).n > 0 && (is_https || (may_be_local && lt_mcp_url_is_loopback(url)));
}

static lt_status mcp_auth_fetch_open(const lt_mcp_auth_fetch *fetch, lt_http_stream **ret_stream,
                                     lt_err *err) LT_YIELDS {
  lt_http_header headers[3];
  size_t count = 0;
  headers[count++] = (lt_http_header){LT_STR("Accept"), LT_STR("application/json")};
  if (fetch->form.n > 0 || fetch->json.n > 0) {
    headers[count++] =
        (lt_http_header){LT_STR("Content-Type"),
                         fetch->form.n > 0 ? LT_STR("application/x-www-form-urlencoded") : LT_STR("application/json")};
  }
  if (fetch->authorization.n > 0) {
    headers[count++] = (lt_http_header){LT_STR("Authorization"), fetch->authorization};
  }
  const lt_http_request request = {
      .url = fetch->url,
      .headers = headers,
      .header_count = count,
      .body = fetch->form.n > 0 ? fetch->form : fetch->json,
      .first_byte_ms = LT_MCP_AUTH_ANSWER_MS,
      .idle_ms = LT_MCP_AUTH_ANSWER_MS,
      .cancel = fetch->cancel,
      .is_once = true, /* codes and refresh tokens are good for one use */
  };
  return lt_http_open(fetch->http, &request, ret_stream, err);
}

static lt_status mcp_auth_fetch_read(lt_http_stream *stream, lt_buf *body, lt_err *err) LT_YIELDS {
  lt_str piece;
  for (;;) {
    LT_TRY(lt_http_read(stream, &piece, err));
    if (piece.n == 0) {
      return LT_OK;
    }
    lt_buf_add(body, piece);
    LT_TRY(lt_buf_check(body, err, "the answer is too long"));
  }
}

lt_status lt_mcp_auth_fetch_run(const lt_mcp_auth_fetch *fetch, lt_arena *arena, lt_mcp_auth_reply *ret_reply,
                                lt_err *err) {
  lt_str origin = lt_mcp_url_origin(fetch->url);
  lt_http_stream *stream = NULL;
  LT_AUTO_BUF(body, LT_MCP_AUTH_BODY_MAX_BYTES);
  if (!lt_mcp_auth_fetch_may(fetch->url, fetch->may_be_local)) {
    return lt_fail(err, LT_E_DENIED, "the authorization is said to be at an address that does not begin with https://");
  }
  lt_status status = mcp_auth_fetch_open(fetch, &stream, err);
  if (status == LT_OK) {
    ret_reply->status = lt_http_status(stream);
    status = mcp_auth_fetch_read(stream, &body, err);
  }
  lt_http_close(stream);
  if (status != LT_OK) {
    return err != NULL ? lt_err_prefix(err, "asking %.*s", LT_STR_ARG(lt_str_sub(origin, 0, 200))) : status;
  }
  ret_reply->root = (lt_json){NULL, 0};
  lt_str text = lt_arena_dup(arena, lt_buf_view(&body));
  if (text.n > 0 && lt_json_parse(arena, text, &ret_reply->doc, NULL) == LT_OK &&
      lt_json_typeof(lt_json_root(&ret_reply->doc)) == LT_JSON_OBJECT) {
    ret_reply->root = lt_json_root(&ret_reply->doc);
  }
  return LT_OK;
}
