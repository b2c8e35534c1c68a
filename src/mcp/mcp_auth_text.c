#include "mcp/mcp_auth_text.h"

#include <strings.h>

#include "base/limits.h"
#include "base/sha256.h"
#include "text/base64.h"

/* --- Forms -------------------------------------------------------------------------------------------------------- */

static bool mcp_auth_text_is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void lt_mcp_auth_text_escape(lt_str text, lt_buf *out) {
  for (size_t i = 0; i < text.n; i++) {
    if (mcp_auth_text_is_unreserved(text.p[i])) {
      lt_buf_byte(out, text.p[i]);
    } else {
      lt_buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.p[i]);
    }
  }
}

void lt_mcp_auth_text_field(lt_buf *form, const char *name, lt_str value) {
  if (value.n > 0) {
    lt_buf_addc(form, form->n > 0 ? "&" : "");
    lt_buf_addc(form, name);
    lt_buf_byte(form, '=');
    lt_mcp_auth_text_escape(value, form);
  }
}

static int mcp_auth_text_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* What is no escape stays as it is. */
static void mcp_auth_text_unescape(lt_str text, lt_buf *out) {
  for (size_t i = 0; i < text.n; i++) {
    int high = text.p[i] == '%' && i + 2 < text.n ? mcp_auth_text_digit(text.p[i + 1]) : -1;
    int low = high >= 0 ? mcp_auth_text_digit(text.p[i + 2]) : -1;
    if (low >= 0) {
      lt_buf_byte(out, (char)(high * 16 + low));
      i += 2;
    } else {
      lt_buf_byte(out, text.p[i] == '+' ? ' ' : text.p[i]);
    }
  }
}

bool lt_mcp_auth_text_query(lt_str query, const char *name, lt_buf *out) {
  for (size_t at = 0; at < query.n;) {
    size_t end = lt_str_find(query, LT_STR("&"), at);
    lt_str field = lt_str_sub(query, at, end);
    size_t equals = lt_str_find(field, LT_STR("="), 0);
    if (lt_str_eqc(lt_str_sub(field, 0, equals), name)) {
      mcp_auth_text_unescape(equals == SIZE_MAX ? LT_STR_NULL : lt_str_sub(field, equals + 1, field.n), out);
      return true;
    }
    at = end == SIZE_MAX ? query.n : end + 1;
  }
  return false;
}

lt_str lt_mcp_auth_text_query_of(lt_str url) {
  size_t start = lt_str_find(url, LT_STR("?"), 0);
  if (start == SIZE_MAX) {
    return LT_STR_NULL;
  }
  return lt_str_sub(url, start + 1, lt_str_find(url, LT_STR("#"), start));
}

/* --- base64url, PKCE ---------------------------------------------------------------------------------------------- */

/* Without padding (RFC 4648, section 5). */
static void mcp_auth_text_base64url(lt_str bytes, lt_buf *out) {
  LT_AUTO_BUF(usual, LT_MCP_AUTH_BODY_MAX_BYTES);
  lt_base64_encode(bytes, &usual);
  for (size_t i = 0; i < usual.n && usual.p[i] != '='; i++) {
    lt_buf_byte(out, usual.p[i] == '+' ? '-' : usual.p[i] == '/' ? '_' : usual.p[i]);
  }
}

void lt_mcp_auth_text_code_challenge(lt_str verifier, lt_buf *out) {
  char digest[LT_SHA256_HEX_CHARS / 2];
  lt_sha256_hex hex = lt_sha256(verifier);
  for (size_t i = 0; i < sizeof digest; i++) {
    digest[i] = (char)(mcp_auth_text_digit(hex.text[2 * i]) * 16 + mcp_auth_text_digit(hex.text[2 * i + 1]));
  }
  mcp_auth_text_base64url(lt_str_from(digest, sizeof digest), out);
}

/* --- Challenges --------------------------------------------------------------------------------------------------- */

/* Reads a token or a quoted string at `*at`, and goes behind it. */
static void mcp_auth_text_value(lt_str header, size_t *at, lt_buf *out) {
  bool is_quoted = *at < header.n && header.p[*at] == '"';
  for (*at += is_quoted; *at < header.n; (*at)++) {
    char c = header.p[*at];
    if (is_quoted ? c == '"' : c == ',' || c == ' ' || c == '\t') {
      break;
    }
    if (is_quoted && c == '\\' && *at + 1 < header.n) {
      c = header.p[++*at];
    }
    lt_buf_byte(out, c);
  }
  *at += is_quoted && *at < header.n;
}

static size_t mcp_auth_text_skip(lt_str header, size_t at, const char *what) {
  while (at < header.n && header.p[at] != '\0' && strchr(what, header.p[at]) != NULL) {
    at++;
  }
  return at;
}

/* A word that "=" does not follow is the name of a scheme. */
bool lt_mcp_auth_text_challenge(lt_str header, const char *parameter, lt_buf *out) {
  bool is_bearer = false;
  LT_AUTO_BUF(ignored, LT_HTTP_HEADERS_MAX_BYTES);
  for (size_t at = mcp_auth_text_skip(header, 0, " \t,"); at < header.n;) {
    size_t start = at;
    while (at < header.n && (header.p[at] == '\0' || strchr(" \t,=", header.p[at]) == NULL)) {
      at++;
    }
    lt_str word = lt_str_sub(header, start, at);
    at = mcp_auth_text_skip(header, at, " \t");
    if (at >= header.n || header.p[at] != '=') {
      is_bearer = lt_str_eq_fold(word, LT_STR("Bearer"));
    } else {
      at = mcp_auth_text_skip(header, at + 1, " \t");
      bool is_it = is_bearer && lt_str_eq_fold(word, lt_str_of(parameter));
      mcp_auth_text_value(header, &at, is_it ? out : &ignored);
      if (is_it) {
        return true;
      }
    }
    at = mcp_auth_text_skip(header, at, " \t,=");
  }
  return false;
}

/* --- Scopes ------------------------------------------------------------------------------------------------------- */

/* The next word at or behind `*at`; empty: there is none. */
static lt_str mcp_auth_text_word(lt_str text, size_t *at) {
  *at = mcp_auth_text_skip(text, *at, " ");
  size_t end = lt_str_find(text, LT_STR(" "), *at);
  lt_str word = lt_str_sub(text, *at, end);
  *at = end < text.n ? end : text.n;
  return word;
}

static bool mcp_auth_text_has_scope(lt_str scopes, lt_str wanted) {
  size_t at = 0;
  for (lt_str word; (word = mcp_auth_text_word(scopes, &at)).n > 0;) {
    if (lt_str_eq(word, wanted)) {
      return true;
    }
  }
  return false;
}

void lt_mcp_auth_text_add_scopes(lt_buf *scopes, lt_str more) {
  size_t at = 0;
  for (lt_str word; (word = mcp_auth_text_word(more, &at)).n > 0;) {
    if (!mcp_auth_text_has_scope(lt_buf_view(scopes), word)) {
      lt_buf_addc(scopes, scopes->n > 0 ? " " : "");
      lt_buf_add(scopes, word);
    }
  }
}

bool lt_mcp_auth_text_has_scopes(lt_str scopes, lt_str wanted) {
  size_t at = 0;
  for (lt_str word; (word = mcp_auth_text_word(wanted, &at)).n > 0;) {
    if (!mcp_auth_text_has_scope(scopes, word)) {
      return false;
    }
  }
  return true;
}
