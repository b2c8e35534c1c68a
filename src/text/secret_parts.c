#include "text/secret_parts.h"

#include "base/buf.h"
#include "base/limits.h"
#include "json/json.h"
#include "json/json_text.h"
#include "text/base64.h"
#include "text/secret_name.h"

typedef struct secret_parts_walk {
  lt_secret_part_fn *fn;
  void *arg;
  unsigned depth; /* values inside values: "Basic " in a JSON member */
} secret_parts_walk;

static lt_status secret_parts_of_value(const secret_parts_walk *w, lt_str value);

static bool secret_parts_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "latest" behind "image:" is an ordinary word, however secret the whole value is. */
static bool secret_parts_is_word(lt_str part) {
  size_t letters = 0;
  while (letters < part.n && secret_parts_is_letter(part.p[letters])) {
    letters++;
  }
  return letters == part.n && part.n < LT_SECRET_WORD_BYTES;
}

static lt_status secret_parts_add(const secret_parts_walk *w, lt_secret_part_kind kind, lt_str part) {
  return part.n < LT_SECRET_MIN_BYTES || secret_parts_is_word(part) ? LT_OK : w->fn(w->arg, kind, part);
}

/* Calls lt_secret_parts_of for a value that was found inside another one, at most LT_SECRET_DEPTH_MAX deep. */
static lt_status secret_parts_add_value(const secret_parts_walk *w, lt_str value) {
  LT_TRY(secret_parts_add(w, LT_SECRET_CREDENTIAL, value));
  const secret_parts_walk inner = {w->fn, w->arg, w->depth + 1};
  return inner.depth < LT_SECRET_DEPTH_MAX ? secret_parts_of_value(&inner, value) : LT_OK;
}

/* --- URLs --------------------------------------------------------------------------------------------------------- */

static lt_status secret_parts_add_decoded(const secret_parts_walk *w, lt_str part) {
  LT_TRY(secret_parts_add(w, LT_SECRET_CREDENTIAL, part));
  if (lt_str_find(part, LT_STR("%"), 0) == SIZE_MAX) {
    return LT_OK;
  }
  LT_AUTO_BUF(decoded, part.n);
  for (size_t i = 0; i < part.n; i++) {
    int high = part.p[i] == '%' && i + 2 < part.n ? lt_json_hex_value(part.p[i + 1]) : -1;
    int low = high >= 0 ? lt_json_hex_value(part.p[i + 2]) : -1;
    if (low < 0) {
      lt_buf_byte(&decoded, part.p[i]);
      continue;
    }
    lt_buf_byte(&decoded, (char)(high << 4 | low));
    i += 2;
  }
  LT_TRY(decoded.status);
  return secret_parts_add(w, LT_SECRET_CREDENTIAL, lt_buf_view(&decoded));
}

static size_t secret_parts_end(lt_str text, size_t from, const char *ends) {
  size_t i = from;
  while (i < text.n && (unsigned char)text.p[i] > ' ' && strchr(ends, text.p[i]) == NULL) {
    i++;
  }
  return i;
}

/* "The user information subcomponent may consist of a user name and ... scheme-specific information" (RFC 3986, 3.2.1).
 * A password that is the user's name is a default of a test's database, and often an ordinary word. */
static lt_status secret_parts_of_authority(const secret_parts_walk *w, lt_str authority) {
  size_t at = authority.n;
  while (at > 0 && authority.p[at - 1] != '@') {
    at--;
  }
  lt_str user = lt_str_sub(authority, 0, at > 0 ? at - 1 : 0);
  size_t colon = lt_str_find(user, LT_STR(":"), 0);
  if (colon == SIZE_MAX) {
    return secret_parts_add_decoded(w, user.n >= LT_SECRET_TOKEN_BYTES ? user : LT_STR_NULL); /* https://TOKEN@host */
  }
  lt_str password = lt_str_sub(user, colon + 1, user.n);
  return lt_str_eq(password, lt_str_sub(user, 0, colon)) ? LT_OK : secret_parts_add_decoded(w, password);
}

static lt_status secret_parts_of_authorities(const secret_parts_walk *w, lt_str text) {
  for (size_t at = 0; (at = lt_str_find(text, LT_STR("://"), at)) != SIZE_MAX;) {
    at += 3;
    size_t end = secret_parts_end(text, at, "/?#\"'<>\\");
    LT_TRY(secret_parts_of_authority(w, lt_str_sub(text, at, end)));
  }
  return LT_OK;
}

static bool secret_parts_is_key_char(char c) {
  return secret_parts_is_letter(c) || (c >= '0' && c <= '9') || strchr("_-.", c) != NULL;
}

/* Names that say nothing elsewhere: "sig" in a signed URL of Azure, "code" of its functions. */
static bool secret_parts_is_key(lt_str key) {
  static const char *const keys[] = {"sig", "signature", "code", "jwt", "sid", "session"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (lt_str_eqc(key, keys[i])) {
      return true;
    }
  }
  return lt_secret_name_sounds(key);
}

/* "?key=value&key=value" of a URL, "host=h password=p" and "Server=s;Password=p" of databases. */
static lt_status secret_parts_of_pairs(const secret_parts_walk *w, lt_str text) {
  for (size_t at = 0; (at = lt_str_find(text, LT_STR("="), at)) != SIZE_MAX; at++) {
    size_t from = at;
    while (from > 0 && secret_parts_is_key_char(text.p[from - 1])) {
      from--;
    }
    if (from == at || !secret_parts_is_key(lt_str_sub(text, from, at))) {
      continue;
    }
    bool is_quoted = at + 1 < text.n && (text.p[at + 1] == '\'' || text.p[at + 1] == '"');
    size_t begin = at + 1 + is_quoted;
    lt_str value = lt_str_sub(text, begin, secret_parts_end(text, begin, "&;#'\"<>,"));
    if (!lt_secret_name_is_count(value) && !lt_str_starts(value, LT_STR("$"))) { /* $(command) is a script's */
      LT_TRY(secret_parts_add_decoded(w, value));
    }
  }
  return LT_OK;
}

static lt_status secret_parts_of_urls(const secret_parts_walk *w, lt_str text) {
  LT_TRY(secret_parts_of_authorities(w, text));
  return secret_parts_of_pairs(w, text);
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* The offset of the next end of a line, as a byte or as two characters ("\n" in a variable of a .env file). */
static size_t secret_parts_line_end(lt_str text, size_t from, size_t *ret_next) {
  for (size_t i = from; i < text.n; i++) {
    bool is_literal = text.p[i] == '\\' && i + 1 < text.n && (text.p[i + 1] == 'n' || text.p[i + 1] == 'r');
    if (text.p[i] == '\n' || text.p[i] == '\r' || is_literal) {
      *ret_next = i + (is_literal ? 2 : 1);
      return i;
    }
  }
  *ret_next = text.n;
  return text.n;
}

/* "-----BEGIN PRIVATE KEY-----" is in every manual. */
static bool secret_parts_is_boundary(lt_str line) {
  return lt_str_starts(line, LT_STR("-----BEGIN ")) || lt_str_starts(line, LT_STR("-----END "));
}

static lt_status secret_parts_of_lines(const secret_parts_walk *w, lt_str value) {
  size_t next = 0;
  if (secret_parts_line_end(value, 0, &next) == value.n) {
    return LT_OK;
  }
  for (size_t at = 0; at < value.n; at = next) {
    lt_str line = lt_str_trim(lt_str_sub(value, at, secret_parts_line_end(value, at, &next)));
    if (!secret_parts_is_boundary(line)) {
      LT_TRY(secret_parts_add(w, LT_SECRET_LINE, line));
    }
  }
  return LT_OK;
}

/* --- Credentials -------------------------------------------------------------------------------------------------- */

/* The password of "user:password". What has other characters before its colon is something else: JSON, a URL. */
static lt_status secret_parts_of_user(const secret_parts_walk *w, lt_str value) {
  size_t colon = lt_str_find(value, LT_STR(":"), 0);
  for (size_t i = 0; i < value.n && i < colon; i++) {
    if (!secret_parts_is_key_char(value.p[i]) && strchr("@+%~$", value.p[i]) == NULL) {
      return LT_OK;
    }
  }
  lt_str password = colon == SIZE_MAX ? LT_STR_NULL : lt_str_sub(value, colon + 1, value.n);
  bool is_one_line = lt_str_find(password, LT_STR("\n"), 0) == SIZE_MAX;
  return !is_one_line || lt_str_starts(password, LT_STR("//")) ? LT_OK
                                                               : secret_parts_add(w, LT_SECRET_CREDENTIAL, password);
}

static bool secret_parts_has_scheme(lt_str value, const char *scheme) {
  size_t n = strlen(scheme);
  for (size_t i = 0; i < n; i++) {
    if (i >= value.n || (value.p[i] | ' ') != scheme[i]) {
      return false;
    }
  }
  return value.n > n && value.p[n] == ' ';
}

/* "credentials = auth-scheme [ 1*SP ( token68 / #auth-param ) ]" (RFC 9110, section 11.4). */
static lt_status secret_parts_of_scheme(const secret_parts_walk *w, lt_str value) {
  static const char *const schemes[] = {"bearer", "basic", "token", "apikey", "bot", "negotiate"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (!secret_parts_has_scheme(value, schemes[i])) {
      continue;
    }
    lt_str rest = lt_str_trim(lt_str_sub(value, strlen(schemes[i]), value.n));
    LT_TRY(secret_parts_add_value(w, rest));
    LT_AUTO_BUF(decoded, rest.n + 1);
    if (strcmp(schemes[i], "basic") == 0) {
      lt_base64_decode(rest, &decoded);
      LT_TRY(decoded.status);
      return secret_parts_add_value(w, lt_buf_view(&decoded));
    }
  }
  return LT_OK;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/* A key file of a cloud, whole in one variable: {"private_key": "-----BEGIN...", "client_email": ...}. */
static lt_status secret_parts_of_json(const secret_parts_walk *w, lt_str value) {
  LT_AUTO_ARENA(arena, LT_SECRET_JSON_BYTES);
  lt_json_doc doc;
  lt_status status = value.n > 0 && value.p[0] == '{' ? lt_json_parse(&arena, value, &doc, NULL) : LT_E_SYNTAX;
  if (status != LT_OK) {
    return status == LT_E_NOMEM ? status : LT_OK;
  }
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str name = LT_STR_NULL, text = LT_STR_NULL;
    if (lt_json_typeof(it.value) != LT_JSON_STRING) {
      continue;
    }
    if (!lt_json_str(it.key, &arena, &name) || !lt_json_str(it.value, &arena, &text)) {
      return LT_E_NOMEM;
    }
    LT_TRY(lt_secret_name_sounds(name) ? secret_parts_add_value(w, text) : LT_OK);
  }
  return LT_OK;
}

static lt_status secret_parts_of_value(const secret_parts_walk *w, lt_str value) {
  lt_str trimmed = lt_str_trim(value);
  if (trimmed.n < value.n) {
    LT_TRY(secret_parts_add(w, LT_SECRET_CREDENTIAL, trimmed));
  }
  LT_TRY(secret_parts_of_lines(w, trimmed));
  LT_TRY(secret_parts_of_scheme(w, trimmed));
  LT_TRY(secret_parts_of_user(w, trimmed));
  LT_TRY(secret_parts_of_json(w, trimmed));
  return secret_parts_of_urls(w, trimmed);
}

lt_status lt_secret_parts_of(lt_str value, lt_secret_part_fn *fn, void *arg) {
  const secret_parts_walk walk = {fn, arg, 0};
  return secret_parts_of_value(&walk, value);
}

lt_status lt_secret_parts_of_url(lt_str text, lt_secret_part_fn *fn, void *arg) {
  const secret_parts_walk walk = {fn, arg, 0};
  return secret_parts_of_urls(&walk, text);
}
