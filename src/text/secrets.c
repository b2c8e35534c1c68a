#include "text/secrets.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "json/json_text.h"

typedef struct known_secret {
  char *p;
  size_t n;
} known_secret;

struct lt_secrets {
  known_secret *list; /* the longest first: one may be the beginning of another */
  size_t count;
  bool begins[256]; /* whether one begins with this byte */
};

lt_secrets *lt_secrets_new(void) {
  return lt_mem_zalloc(1, sizeof(lt_secrets));
}

void lt_secrets_free(lt_secrets *s) {
  if (s == NULL) {
    return;
  }
  for (size_t i = 0; i < s->count; i++) {
    explicit_bzero(s->list[i].p, s->list[i].n);
    lt_mem_free(s->list[i].p);
  }
  lt_mem_free(s->list);
  lt_mem_free(s);
}

static bool secrets_is_known(const lt_secrets *s, lt_str value) {
  for (size_t i = 0; i < s->count; i++) {
    if (lt_str_eq(lt_str_from(s->list[i].p, s->list[i].n), value)) {
      return true;
    }
  }
  return false;
}

static lt_status secrets_add_form(lt_secrets *s, lt_str value) {
  if (secrets_is_known(s, value)) {
    return LT_OK;
  }
  if (s->count >= LT_SECRETS_MAX) {
    return LT_E_LIMIT;
  }
  known_secret *list = lt_mem_realloc(s->list, (s->count + 1) * sizeof *list);
  if (list == NULL) {
    return LT_E_NOMEM;
  }
  s->list = list;
  char *copy = lt_mem_strdup(value);
  if (copy == NULL) {
    return LT_E_NOMEM;
  }
  size_t at = s->count++;
  for (; at > 0 && list[at - 1].n < value.n; at--) {
    list[at] = list[at - 1];
  }
  list[at] = (known_secret){copy, value.n};
  s->begins[(unsigned char)value.p[0]] = true;
  return LT_OK;
}

lt_status lt_secrets_add(lt_secrets *s, lt_str value) {
  if (value.n < LT_SECRET_MIN_BYTES) {
    return LT_OK;
  }
  LT_AUTO_BUF(escaped, LT_JSON_MAX_BYTES);
  lt_json_escape(&escaped, value);
  LT_TRY(escaped.status);
  LT_TRY(secrets_add_form(s, value));
  return secrets_add_form(s, lt_buf_view(&escaped));
}

/* --- Names -------------------------------------------------------------------------------------------------------- */
static char secrets_upper(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool secrets_is_letter(char c) {
  return secrets_upper(c) >= 'A' && secrets_upper(c) <= 'Z';
}

static bool secrets_has_at(lt_str name, size_t i, const char *word, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (i + k >= name.n || secrets_upper(name.p[i + k]) != word[k]) {
      return false;
    }
  }
  return true;
}

/* Whether a word begins at `i`: after something else than a letter, or with a capital after a small letter. */
static bool secrets_word_begins(lt_str name, size_t i) {
  return i == 0 || i == name.n || !secrets_is_letter(name.p[i]) || !secrets_is_letter(name.p[i - 1]) ||
         (name.p[i] == secrets_upper(name.p[i]) && name.p[i - 1] != secrets_upper(name.p[i - 1]));
}

static bool secrets_has_word(lt_str name, const char *word, bool anywhere) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= name.n; i++) {
    if (secrets_has_at(name, i, word, n) &&
        (anywhere || (secrets_word_begins(name, i) && secrets_word_begins(name, i + n)))) {
      return true;
    }
  }
  return false;
}

bool lt_secrets_sounds(lt_str name) {
  static const char *const parts[] = {"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "COOKIE", "APIKEY"};
  static const char *const words[] = {"KEY",  "KEYS",  "PASS",    "AUTH", "AUTHORIZATION",
                                      "CRED", "CREDS", "PRIVATE", "PAT"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (secrets_has_word(name, parts[i], true)) {
      return true;
    }
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (secrets_has_word(name, words[i], false)) {
      return true;
    }
  }
  return false;
}

/* --- Masking ------------------------------------------------------------------------------------------------------ */
/* Four hexadecimal digits, or UINT32_MAX. */
static uint32_t secrets_read_hex(lt_str text, size_t i) {
  uint32_t value = 0;
  for (size_t k = 0; k < 4; k++) {
    int digit = i + k < text.n ? lt_json_hex_value(text.p[i + k]) : -1;
    if (digit < 0) {
      return UINT32_MAX;
    }
    value = value << 4 | (uint32_t)digit;
  }
  return value;
}

/* Reads the JSON escape at `i`: writes its characters to `out` and returns its length in the text, or 0 when there is
 * no escape. */
static size_t secrets_read_escape(lt_str text, size_t i, char out[4], size_t *ret_n) {
  static const char names[] = "\"\\/bfnrt", chars[] = "\"\\/\b\f\n\r\t";
  char c = i + 1 < text.n ? text.p[i + 1] : '\0';
  const char *name = c != '\0' ? strchr(names, c) : NULL;
  if (name != NULL) {
    out[0] = chars[name - names];
    *ret_n = 1;
    return 2;
  }
  uint32_t cp = c == 'u' ? secrets_read_hex(text, i + 2) : UINT32_MAX;
  if (cp == UINT32_MAX) {
    return 0;
  }
  size_t length = 6;
  uint32_t low = lt_json_is_high(cp) && lt_str_starts(lt_str_sub(text, i + 6, i + 8), LT_STR("\\u"))
                     ? secrets_read_hex(text, i + 8)
                     : UINT32_MAX;
  if (low != UINT32_MAX && lt_json_is_low(low)) {
    cp = lt_json_join(cp, low);
    length = 12;
  }
  *ret_n = lt_json_write_char(out, cp);
  return length;
}

/* Whether a text was cut at `at`: messages show "the beginning of a long va...". */
static bool secrets_is_cut(lt_str text, size_t at) {
  return at >= text.n || lt_str_starts(lt_str_sub(text, at, text.n), LT_STR("..."));
}

/* The length in the text of the secret `one` at `i`, with any JSON escapes (\/, \u002B, \u003c: libraries differ), or
 * of its beginning if the text was cut within it. 0: no match. */
static size_t secrets_match_at(const known_secret *one, lt_str text, size_t i) {
  size_t at = i;
  for (size_t k = 0; k < one->n;) {
    char chars[4];
    size_t n = 0;
    if (k >= LT_SECRET_CUT_BYTES && secrets_is_cut(text, at)) {
      return at - i;
    }
    if (at >= text.n) {
      return 0;
    }
    size_t escape = text.p[at] == '\\' ? secrets_read_escape(text, at, chars, &n) : 0;
    if (escape > 0 && n <= one->n - k && memcmp(one->p + k, chars, n) == 0) {
      at += escape;
      k += n;
    } else if (text.p[at] == one->p[k]) {
      at++;
      k++;
    } else {
      return 0;
    }
  }
  return at - i;
}

/* Whether one could begin at `i`. */
static bool secrets_may_begin(const lt_secrets *s, lt_str text, size_t i) {
  char chars[4];
  size_t n;
  return s->begins[(unsigned char)text.p[i]] ||
         (text.p[i] == '\\' && secrets_read_escape(text, i, chars, &n) > 0 && s->begins[(unsigned char)chars[0]]);
}

/* The length of the secret that begins at `i`, or 0. */
static size_t secrets_secret_at(const lt_secrets *s, lt_str text, size_t i) {
  if (!secrets_may_begin(s, text, i)) {
    return 0;
  }
  for (size_t k = 0; k < s->count; k++) {
    size_t n = secrets_match_at(&s->list[k], text, i);
    if (n > 0) {
      return n;
    }
  }
  return 0;
}

/* The offset of the first secret at or after `i`, with its length; text.n when there is no secret. */
static size_t secrets_find_secret(const lt_secrets *s, lt_str text, size_t i, size_t *ret_n) {
  for (; s != NULL && s->count > 0 && i < text.n; i++) {
    *ret_n = secrets_secret_at(s, text, i);
    if (*ret_n > 0) {
      return i;
    }
  }
  return text.n;
}

bool lt_secrets_in(const lt_secrets *s, lt_str text) {
  size_t n;
  return secrets_find_secret(s, text, 0, &n) < text.n;
}

void lt_secrets_mask(const lt_secrets *s, lt_str text, lt_buf *out) {
  size_t done = 0;
  for (;;) {
    size_t n = 0;
    size_t at = secrets_find_secret(s, text, done, &n);
    lt_buf_add(out, lt_str_sub(text, done, at));
    if (at == text.n) {
      return;
    }
    lt_buf_addc(out, "***");
    done = at + n;
  }
}

/* Whether a string is open at `to`, when `open` says it of `from`. */
static bool secrets_is_open(lt_str json, size_t from, size_t to, bool open) {
  for (size_t i = from; i < to; i++) {
    if (open && json.p[i] == '\\') {
      i++;
    } else if (json.p[i] == '"') {
      open = !open;
    }
  }
  return open;
}

static void secrets_mask_values(const lt_secrets *s, lt_str json, lt_buf *out) {
  bool open = false;
  for (size_t done = 0; done < json.n;) {
    size_t n = 0;
    size_t at = secrets_find_secret(s, json, done, &n);
    lt_buf_add(out, lt_str_sub(json, done, at));
    open = secrets_is_open(json, done, at, open);
    if (n > 0) {
      lt_buf_addc(out, open ? "***" : "\"***\"");
    }
    done = at + n;
  }
}

void lt_secrets_mask_json(const lt_secrets *s, lt_str json, lt_buf *out) {
  if (!lt_secrets_in(s, json)) {
    lt_buf_add(out, json);
    return;
  }
  LT_AUTO_BUF(masked, out->max);
  secrets_mask_values(s, json, &masked);
  if (masked.status == LT_OK && lt_json_check(lt_buf_view(&masked), NULL) == LT_OK) {
    lt_buf_add(out, lt_buf_view(&masked));
  } else {
    lt_json_writer w = lt_json_writer_on(out);
    lt_buf_clear(&masked);
    lt_secrets_mask(s, json, &masked);
    lt_json_put_str(&w, masked.status == LT_OK ? lt_buf_view(&masked) : LT_STR("***"));
  }
}

void lt_secrets_mask_buf(const lt_secrets *s, lt_buf *buf) {
  if (!lt_secrets_in(s, lt_buf_view(buf))) {
    return;
  }
  lt_buf masked;
  lt_buf_init(&masked, buf->max);
  lt_secrets_mask(s, lt_buf_view(buf), &masked);
  explicit_bzero(buf->p, buf->n);
  lt_buf_release(buf);
  *buf = masked;
  if (buf->status != LT_OK) {
    lt_status status = buf->status;
    lt_buf_release(buf);
    buf->status = status;
  }
}
