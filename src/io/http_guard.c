#include "io/http_guard.h"

/* --- Hosts -------------------------------------------------------------------------------------------------------- */
/* The host without its port: "[::1]:8080" is "[::1]". */
static lt_str http_guard_without_port(lt_str host) {
  for (size_t i = host.n; i > 0; i--) {
    char c = host.p[i - 1];
    if (c == ':') {
      return lt_str_sub(host, 0, i - 1);
    }
    if (c < '0' || c > '9') {
      return host;
    }
  }
  return host;
}

/* All of 127.0.0.0/8 is loopback: "127.", then digits and dots only, so that no name such as "127.evil.example" is. */
static bool http_guard_is_loopback(lt_str name) {
  bool is_number = lt_str_starts(name, LT_STR("127."));
  for (size_t i = 0; i < name.n; i++) {
    is_number = is_number && (name.p[i] == '.' || (name.p[i] >= '0' && name.p[i] <= '9'));
  }
  return is_number || lt_str_eq_fold(name, LT_STR("localhost")) || lt_str_eq(name, LT_STR("[::1]"));
}

bool lt_http_guard_admits_host(lt_str host, const char *const *hosts) {
  lt_str name = http_guard_without_port(host);
  bool is_known = name.n > 0 && http_guard_is_loopback(name);
  for (size_t i = 0; hosts != NULL && hosts[i] != NULL && host.n > 0; i++) {
    lt_str one = lt_str_of(hosts[i]);
    is_known = is_known || lt_str_eq_fold(one, host) || lt_str_eq_fold(one, name);
  }
  return is_known;
}

/* --- Origins ------------------------------------------------------------------------------------------------------ */
static bool http_guard_is_own_origin(lt_str origin, lt_str host) {
  static const char *const schemes[] = {"http://", "https://"};
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    lt_str scheme = lt_str_of(schemes[i]);
    if (lt_str_starts(origin, scheme) && host.n > 0 && lt_str_eq_fold(lt_str_sub(origin, scheme.n, origin.n), host)) {
      return true;
    }
  }
  return false;
}

bool lt_http_guard_admits_origin(lt_str origin, lt_str host, const char *const *origins) {
  bool is_admitted = origin.n == 0 || http_guard_is_own_origin(origin, host);
  for (size_t i = 0; origins != NULL && origins[i] != NULL && !is_admitted; i++) {
    is_admitted = lt_str_eq_fold(lt_str_of(origins[i]), origin);
  }
  return is_admitted;
}

bool lt_http_guard_is_foreign_fetch(lt_str site, lt_str mode, lt_str method) {
  bool is_link = lt_str_eqc(mode, "navigate") && (lt_str_eqc(method, "GET") || lt_str_eqc(method, "HEAD"));
  return lt_str_eqc(site, "cross-site") && !is_link;
}

/* --- Tokens ------------------------------------------------------------------------------------------------------- */
lt_str lt_http_guard_bearer(lt_str authorization) {
  lt_str scheme = LT_STR("Bearer ");
  bool is_bearer = lt_str_eq_fold(lt_str_sub(authorization, 0, scheme.n), scheme);
  return is_bearer ? lt_str_trim(lt_str_sub(authorization, scheme.n, authorization.n)) : LT_STR_NULL;
}

bool lt_http_guard_is_same_secret(lt_str a, lt_str b) {
  unsigned char difference = a.n != b.n;
  for (size_t i = 0; i < a.n; i++) {
    difference |= (unsigned char)(a.p[i] ^ (i < b.n ? b.p[i] : 0));
  }
  return difference == 0;
}
