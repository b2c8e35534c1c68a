#include "trace/server_address.h"

#include <string.h>

/* The text between the scheme and the path, without a user. */
static lt_str address_authority(lt_str url, size_t from) {
  size_t end = from;
  while (end < url.n && memchr("/?#\\", url.p[end], 4) == NULL) {
    end++;
  }
  lt_str authority = lt_str_sub(url, from, end);
  for (size_t i = authority.n; i > 0; i--) {
    if (authority.p[i - 1] == '@') {
      return lt_str_sub(authority, i, authority.n);
    }
  }
  return authority;
}

static bool address_read_port(lt_str text, unsigned *ret_port) {
  unsigned port = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9' || port > 6553) {
      return false;
    }
    port = port * 10 + (unsigned)(text.p[i] - '0');
  }
  *ret_port = port;
  return text.n > 0 && port > 0 && port < 65536;
}

bool lt_server_address_read(lt_str url, lt_str *ret_host, unsigned *ret_port) {
  bool is_https = url.n > 8 && lt_str_eq_fold(lt_str_sub(url, 0, 8), LT_STR("https://"));
  bool is_http = url.n > 7 && lt_str_eq_fold(lt_str_sub(url, 0, 7), LT_STR("http://"));
  if (!is_http && !is_https) {
    return false;
  }
  lt_str authority = address_authority(url, is_https ? 8 : 7);
  bool is_v6 = authority.n > 0 && authority.p[0] == '[';
  size_t host_end = lt_str_find(authority, is_v6 ? LT_STR("]") : LT_STR(":"), 0);
  lt_str host = lt_str_sub(authority, is_v6 ? 1 : 0, host_end);
  lt_str rest = lt_str_sub(authority, host_end == SIZE_MAX ? authority.n : host_end + (is_v6 ? 1 : 0), authority.n);
  *ret_port = is_https ? 443 : 80;
  if (host.n == 0 || (is_v6 && host_end == SIZE_MAX)) {
    return false;
  }
  *ret_host = host;
  return rest.n == 0 || (rest.p[0] == ':' && address_read_port(lt_str_sub(rest, 1, rest.n), ret_port));
}
