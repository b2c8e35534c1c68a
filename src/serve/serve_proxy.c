#include "serve/serve_proxy.h"

#include "io/http_guard.h"

#define SECRET_HEADER "Lathe-Proxy-Secret"

lt_status lt_serve_proxy_read(const lt_config *config, lt_serve_proxy *ret, lt_err *err) {
  const lt_config_proxy *p = &config->server.proxy;
  lt_serve_proxy proxy = {.user_header = p->user_header, .secret = p->secret};
  for (const char *const *from = p->from; *from != NULL; from++) {
    if (proxy.count == LT_SERVE_PROXIES_MAX || !lt_address_range_read(lt_str_of(*from), &proxy.from[proxy.count])) {
      return lt_fail(err, LT_E_CONFIG,
                     "server.proxy.from: \"%.64s\" is no address or network (such as 127.0.0.1 or 10.0.0.0/8), or one "
                     "of more than %d",
                     *from, LT_SERVE_PROXIES_MAX);
    }
    proxy.count++;
  }
  if (proxy.count == 0 && (proxy.user_header != NULL || proxy.secret != NULL)) {
    return lt_fail(err, LT_E_CONFIG, "server.proxy.from is missing: it says where the proxy's requests come from");
  }
  *ret = proxy;
  return LT_OK;
}

bool lt_serve_proxy_is_from(const lt_serve_proxy *proxy, lt_str peer) {
  for (size_t i = 0; i < proxy->count; i++) {
    if (lt_address_range_has(&proxy->from[i], peer)) {
      return true;
    }
  }
  return false;
}

static size_t proxy_find_last_comma(lt_str text) {
  size_t i = text.n;
  while (i > 0 && text.p[i - 1] != ',') {
    i--;
  }
  return i;
}

/* Each proxy appends the address that it sees: the last one that is no proxy's is the client's. What stands before it
 * is the client's own word. */
lt_str lt_serve_proxy_client_of(const lt_serve_proxy *proxy, lt_str peer, lt_str forwarded) {
  lt_str client = peer, rest = forwarded;
  for (size_t i = 0; i < LT_SERVE_FORWARDED_MAX && rest.n > 0 && lt_serve_proxy_is_from(proxy, client); i++) {
    size_t comma = proxy_find_last_comma(rest);
    lt_str address = lt_address_without_port(lt_str_sub(rest, comma, rest.n));
    if (address.n == 0) {
      return client;
    }
    client = address;
    rest = lt_str_sub(rest, 0, comma > 0 ? comma - 1 : 0);
  }
  return client;
}

lt_str lt_serve_proxy_client(const lt_serve_proxy *proxy, const lt_http_call *call) {
  bool is_told = lt_http_call_header_count(call, "X-Forwarded-For") == 1;
  return lt_serve_proxy_client_of(proxy, call->peer,
                                  is_told ? lt_http_call_header(call, "X-Forwarded-For") : LT_STR_NULL);
}

static bool proxy_knows_secret(const lt_serve_proxy *proxy, const lt_http_call *call) {
  return proxy->secret == NULL ||
         lt_http_guard_is_same_secret(lt_http_call_header(call, SECRET_HEADER), lt_str_of(proxy->secret));
}

static bool proxy_refuse(lt_serve_request *r, const char *message) {
  lt_serve_request_refuse(r, 403, "proxy", "%s: %s", r->serve->proxy.user_header, message);
  return false;
}

bool lt_serve_proxy_read_user(lt_serve_request *r, lt_str *ret_user) {
  const lt_serve_proxy *proxy = &r->serve->proxy;
  *ret_user = LT_STR_NULL;
  unsigned count = proxy->user_header != NULL ? lt_http_call_header_count(r->call, proxy->user_header) : 0;
  if (count == 0) {
    return true;
  }
  if (!lt_serve_proxy_is_from(proxy, r->call->peer)) {
    return proxy_refuse(r,
                        "this header counts from the proxy only (server.proxy.from), and this request does not come "
                        "from there: leave it out, and send a token");
  }
  if (!proxy_knows_secret(proxy, r->call)) {
    return proxy_refuse(r, "this header counts with the proxy's secret only: let the proxy send it as " SECRET_HEADER
                           " (server.proxy.secret)");
  }
  lt_str user = lt_str_trim(lt_http_call_header(r->call, proxy->user_header));
  if (count > 1 || !lt_serve_is_user_name(user)) {
    return proxy_refuse(r, "this header has to come once, with the name of a user: letters, digits and . _ @ + -");
  }
  *ret_user = lt_arena_dup(r->arena, user);
  return ret_user->p != NULL || proxy_refuse(r, "out of memory");
}
