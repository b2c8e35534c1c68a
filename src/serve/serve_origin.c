#include "serve/serve_origin.h"

#include "io/http_guard.h"

#define SENT_HEADERS                                                                                       \
  "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, traceparent, tracestate, Mcp-Session-Id, " \
  "MCP-Protocol-Version, Mcp-Method, Mcp-Name"
/* Beside those that every page may read (Fetch Standard, "CORS-safelisted response-header name"). */
#define READ_HEADERS "Retry-After, WWW-Authenticate, Allow, Content-Disposition, ETag, Mcp-Session-Id"

/* A web page of another site can send a form or plain text without being asked, but no JSON (Fetch Standard, "CORS-
 * safelisted request-header"), and cannot hide its origin. Only requests that change nothing come without one: pictures
 * and scripts of a page (refused, unless they are of what is public) and links (a person follows them). */
bool lt_serve_origin_admit(lt_serve_request *r, bool is_public) {
  const lt_config *config = &r->serve->session->config;
  const lt_http_call *call = r->call;
  lt_str host = lt_http_call_header(call, "Host"), origin = lt_http_call_header(call, "Origin");
  if (!lt_listen_address_is_named(&r->serve->address, host) && !lt_http_guard_admits_host(host, config->server.hosts)) {
    lt_serve_request_refuse(r, 421, "host", "this server is not known as \"%.*s\": name it in server.hosts",
                            LT_STR_ARG(lt_str_sub(host, 0, 200)));
    return false;
  }
  if (!lt_http_guard_admits_origin(origin, host, config->server.origins)) {
    lt_serve_request_refuse(r, 403, "origin", "pages of \"%.*s\" may not use this server: name it in server.origins",
                            LT_STR_ARG(lt_str_sub(origin, 0, 200)));
    return false;
  }
  if (!is_public && origin.n == 0 &&
      lt_http_guard_is_foreign_fetch(lt_http_call_header(call, "Sec-Fetch-Site"),
                                     lt_http_call_header(call, "Sec-Fetch-Mode"), call->method)) {
    lt_serve_request_refuse(r, 403, "origin", "a page of another site asks without saying which: let it use CORS");
    return false;
  }
  return true;
}

void lt_serve_origin_put_headers(lt_serve_request *r) {
  lt_str origin = lt_http_call_header(r->call, "Origin");
  if (origin.n > 0) { /* it was admitted */
    lt_http_answer_header(r->answer, "Access-Control-Allow-Origin", origin);
    lt_http_answer_header(r->answer, "Access-Control-Expose-Headers", LT_STR(READ_HEADERS));
    lt_http_answer_header(r->answer, "Vary", LT_STR("Origin"));
  }
}

/* Fetch Standard, "CORS-preflight request". */
void lt_serve_origin_put_preflight(lt_serve_request *r) {
  r->answer->status = 204;
  lt_http_answer_header(r->answer, "Access-Control-Allow-Methods", LT_STR("GET, POST, PATCH, DELETE"));
  lt_http_answer_header(r->answer, "Access-Control-Allow-Headers", LT_STR(SENT_HEADERS));
  lt_http_answer_header(r->answer, "Access-Control-Max-Age", LT_STR("600"));
}
