#include "mcp/mcp_url.h"

#include <strings.h>

/* The length of "http://" or "https://" at the beginning; 0 for another text. */
static size_t mcp_url_scheme_length(lt_str url) {
  bool is_https = url.n > 8 && strncasecmp(url.p, "https://", 8) == 0;
  return is_https ? 8 : url.n > 7 && strncasecmp(url.p, "http://", 7) == 0 ? 7 : 0;
}

static size_t mcp_url_host_end(lt_str url, size_t from) {
  while (from < url.n && memchr("/?#\\", url.p[from], 4) == NULL) {
    from++;
  }
  return from;
}

lt_str lt_mcp_url_origin(lt_str url) {
  size_t start = mcp_url_scheme_length(url);
  size_t end = mcp_url_host_end(url, start);
  if (start == 0 || end == start || memchr(url.p + start, '@', end - start) != NULL) {
    return LT_STR_NULL;
  }
  return lt_str_sub(url, 0, end);
}

/* The origin without the port that its scheme has anyway. */
static lt_str mcp_url_plain_origin(lt_str url) {
  lt_str origin = lt_mcp_url_origin(url);
  lt_str usual = mcp_url_scheme_length(origin) == 8 ? LT_STR(":443") : LT_STR(":80");
  return lt_str_ends(origin, usual) ? lt_str_sub(origin, 0, origin.n - usual.n) : origin;
}

bool lt_mcp_url_same_origin(lt_str a, lt_str b) {
  lt_str of_a = mcp_url_plain_origin(a), of_b = mcp_url_plain_origin(b);
  return of_a.n > 0 && of_a.n == of_b.n && strncasecmp(of_a.p, of_b.p, of_a.n) == 0;
}

bool lt_mcp_url_is_loopback(lt_str url) {
  lt_str origin = lt_mcp_url_origin(url);
  lt_str host = lt_str_sub(origin, mcp_url_scheme_length(origin), origin.n);
  static const char *const names[] = {"localhost", "[::1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t n = strlen(names[i]);
    if (host.n >= n && strncasecmp(host.p, names[i], n) == 0 && (host.n == n || host.p[n] == ':')) {
      return true;
    }
  }
  size_t end = lt_str_find(host, LT_STR(":"), 0);
  lt_str address = lt_str_sub(host, 0, end < host.n ? end : host.n);
  size_t digits = 0;
  while (digits < address.n && memchr("0123456789.", address.p[digits], 11) != NULL) {
    digits++;
  }
  return lt_str_starts(address, LT_STR("127.")) && digits == address.n;
}

void lt_mcp_url_join(lt_str base, lt_str reference, lt_buf *out) {
  if (mcp_url_scheme_length(reference) > 0) {
    lt_buf_add(out, reference);
    return;
  }
  size_t scheme = mcp_url_scheme_length(base);
  size_t host_end = mcp_url_host_end(base, scheme);
  if (lt_str_starts(reference, LT_STR("//"))) {
    lt_buf_add(out, lt_str_sub(base, 0, scheme - 2));
  } else if (lt_str_starts(reference, LT_STR("/"))) {
    lt_buf_add(out, lt_str_sub(base, 0, host_end));
  } else {
    size_t end = host_end, slash = host_end;
    while (end < base.n && base.p[end] != '?' && base.p[end] != '#') {
      slash = base.p[end] == '/' ? end : slash;
      end++;
    }
    lt_buf_add(out, lt_str_sub(base, 0, lt_str_starts(reference, LT_STR("?")) ? end : slash));
    lt_buf_addc(out, lt_str_starts(reference, LT_STR("?")) ? "" : "/");
  }
  lt_buf_add(out, reference);
}
