#include "io/listen_address.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/http_guard.h"

static bool listen_address_read_port(lt_str text, unsigned *ret_port) {
  unsigned port = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9' || i == 5) {
      return false;
    }
    port = port * 10 + (unsigned)(text.p[i] - '0');
  }
  *ret_port = port;
  return text.n > 0 && port <= UINT16_MAX;
}

static bool listen_address_read_host(lt_str host, lt_listen_address *ret) {
  struct in6_addr v6;
  struct in_addr v4;
  ret->is_v6 = lt_str_starts(host, LT_STR("[")) && lt_str_ends(host, LT_STR("]"));
  host = ret->is_v6 ? lt_str_sub(host, 1, host.n - 1) : host;
  if (host.n == 0 || host.n >= sizeof ret->host) {
    return false;
  }
  snprintf(ret->host, sizeof ret->host, "%.*s", LT_STR_ARG(host));
  snprintf(ret->name, sizeof ret->name, ret->is_v6 ? "[%s]" : "%s", ret->host);
  if (inet_pton(ret->is_v6 ? AF_INET6 : AF_INET, ret->host, ret->is_v6 ? (void *)&v6 : (void *)&v4) != 1) {
    return false;
  }
  ret->is_loopback = ret->is_v6 ? IN6_IS_ADDR_LOOPBACK(&v6) : ntohl(v4.s_addr) >> 24 == 127; /* 127.0.0.0/8 */
  return true;
}

/* sun_path of unix(7) has room for 107 bytes. */
static lt_status listen_address_read_unix(lt_str path, lt_listen_address *ret, lt_err *err) {
  lt_listen_address address = {.name = "localhost", .is_loopback = true};
  if (path.n == 0 || path.n >= sizeof address.unix_path || memchr(path.p, '\0', path.n) != NULL) {
    return lt_fail(err, LT_E_INVALID, "unix: wants the path of a socket, at most %zu bytes",
                   sizeof address.unix_path - 1);
  }
  memcpy(address.unix_path, path.p, path.n);
  *ret = address;
  return LT_OK;
}

lt_status lt_listen_address_read(lt_str text, unsigned example_port, lt_listen_address *ret, lt_err *err) {
  lt_str scheme = LT_STR("unix:");
  if (lt_str_starts(text, scheme)) {
    return listen_address_read_unix(lt_str_sub(text, scheme.n, text.n), ret, err);
  }
  size_t colon = text.n;
  while (colon > 0 && text.p[colon - 1] != ':') {
    colon--;
  }
  lt_str host = colon > 1 ? lt_str_sub(text, 0, colon - 1) : LT_STR("127.0.0.1");
  host = lt_str_eq_fold(host, LT_STR("localhost")) ? LT_STR("127.0.0.1") : host;
  lt_listen_address address = {.port = 0};
  if (!listen_address_read_port(lt_str_sub(text, colon, text.n), &address.port)) {
    return lt_fail(err, LT_E_INVALID, "\"%.*s\" is no address to listen at: write 127.0.0.1:%u, or a port alone",
                   LT_STR_ARG(lt_str_sub(text, 0, 100)), example_port);
  }
  if (!listen_address_read_host(host, &address)) {
    return lt_fail(err, LT_E_INVALID,
                   "\"%.*s\" is no address to listen at: write numbers, such as 127.0.0.1:%u or [::1]:%u",
                   LT_STR_ARG(lt_str_sub(text, 0, 100)), example_port, example_port);
  }
  *ret = address;
  return LT_OK;
}

bool lt_listen_address_is_named(const lt_listen_address *address, lt_str host) {
  const char *const names[] = {address->name, NULL};
  return lt_http_guard_admits_host(host, names);
}
