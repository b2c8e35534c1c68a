/* Heads that two servers could read differently.
 *
 * A proxy and this server must agree on where a request ends and for which host it is. Where they do not, a client can
 * put a request of its own behind another one's (request smuggling). The library is lenient with such heads, so they
 * are refused here, and the connection ends: what stands behind them may be anything. */
#include <string.h>

#include "io/http_server_impl.h"

typedef struct http_framing {
  unsigned hosts, lengths, encodings;
  bool is_chunked;
  bool has_bad_name, has_bad_value;
} http_framing;

/* RFC 9110, section 5.6.2. */
static bool http_framing_is_token(lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i], low = (char)(c | ' ');
    bool is_alnum = (c >= '0' && c <= '9') || (low >= 'a' && low <= 'z');
    if (c == '\0' || (!is_alnum && strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
      return false;
    }
  }
  return name.n > 0;
}

static bool http_framing_has_control(lt_str value) {
  for (size_t i = 0; i < value.n; i++) {
    unsigned char c = (unsigned char)value.p[i];
    if ((c < ' ' && c != '\t') || c == 0x7f) {
      return true;
    }
  }
  return false;
}

static enum MHD_Result http_framing_on_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value) {
  (void)kind;
  http_framing *framing = arg;
  lt_str n = lt_str_of(name), v = lt_str_of(value);
  framing->hosts += lt_str_eq_fold(n, LT_STR("Host"));
  framing->lengths += lt_str_eq_fold(n, LT_STR("Content-Length"));
  if (lt_str_eq_fold(n, LT_STR("Transfer-Encoding"))) {
    framing->encodings++;
    framing->is_chunked = lt_str_eq_fold(v, LT_STR("chunked"));
  }
  framing->has_bad_name = framing->has_bad_name || !http_framing_is_token(n);
  framing->has_bad_value = framing->has_bad_value || http_framing_has_control(v);
  return MHD_YES;
}

const char *lt_http_server_framing_fault(const lt_server_call *c, const char *version) {
  http_framing framing = {.hosts = 0};
  c->server->mhd->get_connection_values(c->connection, MHD_HEADER_KIND, http_framing_on_header, &framing);
  if (framing.has_bad_name) {
    return "the name of a header has a character that is not allowed there, or a space before its colon\n";
  }
  if (framing.has_bad_value) {
    return "a header has a control character\n";
  }
  if (framing.hosts > 1 || (framing.hosts == 0 && strcmp(version, "HTTP/1.0") != 0)) {
    return "a request has exactly one header Host\n"; /* RFC 9112, section 3.2 */
  }
  if (framing.encodings > 1 || (framing.encodings == 1 && !framing.is_chunked)) {
    return "the only Transfer-Encoding here is chunked, once\n"; /* section 6.1 */
  }
  if (framing.lengths > 1 || (framing.lengths == 1 && framing.encodings > 0)) {
    return "a request has one Content-Length, or is chunked\n"; /* section 6.3 */
  }
  return NULL;
}
