#include "text/secrets.h"

#include <stdatomic.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "json/json_text.h"
#include "text/base64.h"
#include "text/secret_parts.h"

#define ESCAPE_BYTES 12 /* of the longest escape: two halves of a character in JSON */

typedef struct known_secret {
  char *p;
  size_t n;
  bool is_borrowed; /* from the set that this one is a copy of */
} known_secret;

struct lt_secrets {
  known_secret *list; /* by their first byte; of the same byte the longest first: one may be another's beginning */
  size_t count;
  size_t starts[257];             /* where those with this first byte begin in `list` */
  unsigned char pairs[65536 / 8]; /* bits: whether one begins with these two bytes */
  _Atomic(lt_secrets *) grown;    /* what readers of this set read; NULL: this set */
  lt_secrets *before;             /* the one that was `grown` earlier, which somebody may still be reading */
};

static unsigned secrets_pair(const char *p) {
  return (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

lt_secrets *lt_secrets_new(void) {
  return lt_mem_zalloc(1, sizeof(lt_secrets));
}

static void secrets_free_one(lt_secrets *s) {
  for (size_t i = 0; i < s->count; i++) {
    if (!s->list[i].is_borrowed) {
      explicit_bzero(s->list[i].p, s->list[i].n);
      lt_mem_free(s->list[i].p);
    }
  }
  lt_mem_free(s->list);
  lt_mem_free(s);
}

void lt_secrets_free(lt_secrets *s) {
  if (s == NULL) {
    return;
  }
  for (lt_secrets *grown = atomic_load(&s->grown), *before; grown != NULL; grown = before) {
    before = grown->before;
    secrets_free_one(grown);
  }
  secrets_free_one(s);
}

/* --- Growing ------------------------------------------------------------------------------------------------------ */
/* The set that counts now; NULL for NULL. */
static const lt_secrets *secrets_now(const lt_secrets *s) {
  const lt_secrets *grown = s != NULL ? atomic_load_explicit(&s->grown, memory_order_acquire) : NULL;
  return grown != NULL ? grown : s;
}

lt_secrets *lt_secrets_copy(const lt_secrets *secrets) {
  const lt_secrets *s = secrets_now(secrets);
  lt_secrets *copy = lt_secrets_new();
  known_secret *list = lt_mem_zalloc(s->count + 1, sizeof *list);
  if (copy == NULL || list == NULL) {
    lt_mem_free(copy);
    lt_mem_free(list);
    return NULL;
  }
  for (size_t i = 0; i < s->count; i++) {
    list[i] = (known_secret){.p = s->list[i].p, .n = s->list[i].n, .is_borrowed = true};
  }
  copy->list = list;
  copy->count = s->count;
  memcpy(copy->starts, s->starts, sizeof copy->starts);
  memcpy(copy->pairs, s->pairs, sizeof copy->pairs);
  return copy;
}

void lt_secrets_replace(lt_secrets *s, lt_secrets *grown) {
  if (grown->count == secrets_now(s)->count) { /* there is nothing new */
    secrets_free_one(grown);
    return;
  }
  grown->before = atomic_load(&s->grown);
  atomic_store_explicit(&s->grown, grown, memory_order_release);
}

/* --- Filling ------------------------------------------------------------------------------------------------------ */

/* Where the forms that begin with `first` and are longer than `n` end. */
static size_t secrets_place(const lt_secrets *s, unsigned char first, size_t n) {
  size_t low = s->starts[first], high = s->starts[first + 1];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->list[middle].n > n) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool secrets_is_known(const lt_secrets *s, lt_str value, size_t place) {
  for (size_t i = place; i < s->starts[(unsigned char)value.p[0] + 1] && s->list[i].n == value.n; i++) {
    if (memcmp(s->list[i].p, value.p, value.n) == 0) {
      return true;
    }
  }
  return false;
}

static lt_status secrets_insert(lt_secrets *s, lt_str value, size_t place) {
  known_secret *list = lt_mem_realloc(s->list, (s->count + 1) * sizeof *list);
  if (list == NULL) {
    return LT_E_NOMEM;
  }
  s->list = list;
  char *copy = lt_mem_strdup(value);
  if (copy == NULL) {
    return LT_E_NOMEM;
  }
  memmove(list + place + 1, list + place, (s->count - place) * sizeof *list);
  list[place] = (known_secret){.p = copy, .n = value.n};
  s->count++;
  for (size_t first = (unsigned char)value.p[0] + 1; first <= 256; first++) {
    s->starts[first]++;
  }
  unsigned pair = secrets_pair(value.p);
  s->pairs[pair / 8] |= (unsigned char)(1 << pair % 8);
  return LT_OK;
}

static lt_status secrets_add_form(lt_secrets *s, lt_str value) {
  if (value.n < LT_SECRET_MIN_BYTES) {
    return LT_OK;
  }
  size_t place = secrets_place(s, (unsigned char)value.p[0], value.n);
  if (secrets_is_known(s, value, place)) {
    return LT_OK;
  }
  return s->count < LT_SECRETS_MAX ? secrets_insert(s, value, place) : LT_E_LIMIT;
}

/* The value as it stands, and as a JSON text inside a JSON string has it. */
static lt_status secrets_add_text(lt_secrets *s, lt_str value) {
  LT_AUTO_BUF(escaped, LT_JSON_MAX_BYTES);
  lt_json_escape(&escaped, value);
  LT_TRY(escaped.status);
  LT_TRY(secrets_add_form(s, value));
  return secrets_add_form(s, lt_buf_view(&escaped));
}

/* --- Base64 ------------------------------------------------------------------------------------------------------- */

/* Both alphabets (RFC 4648, sections 4 and 5). */
static lt_status secrets_add_digits(lt_secrets *s, lt_str digits) {
  LT_TRY(secrets_add_form(s, digits));
  LT_AUTO_BUF(other, digits.n + 1);
  for (size_t i = 0; i < digits.n; i++) {
    lt_buf_byte(&other, digits.p[i] == '+' ? '-' : digits.p[i] == '/' ? '_' : digits.p[i]);
  }
  LT_TRY(other.status);
  return secrets_add_form(s, lt_buf_view(&other));
}

/* Three bytes are four digits, so a value inside a longer text ("user:" before it) has three forms, depending on where
 * it begins. Digits that have bits of its neighbours, too, are left out. */
static lt_status secrets_add_base64(lt_secrets *s, lt_str value) {
  for (size_t before = 0; before < 3; before++) {
    LT_AUTO_BUF(shifted, value.n + 3);
    LT_AUTO_BUF(digits, (value.n + 4) / 3 * 4 + 4);
    lt_buf_add(&shifted, lt_str_from("\0\0", before));
    lt_buf_add(&shifted, value);
    lt_base64_encode(lt_buf_view(&shifted), &digits);
    LT_TRY(shifted.status);
    LT_TRY(digits.status);
    size_t from = (before * 8 + 5) / 6, to = shifted.n * 8 / 6;
    LT_TRY(secrets_add_digits(s, lt_str_sub(lt_buf_view(&digits), from, to)));
    if (before == 0) { /* with its last bits, padded or not */
      LT_TRY(secrets_add_digits(s, lt_str_sub(lt_buf_view(&digits), 0, (value.n * 8 + 5) / 6)));
      LT_TRY(secrets_add_digits(s, lt_buf_view(&digits)));
    }
  }
  return LT_OK;
}

static lt_status secrets_add_part(void *arg, lt_secret_part_kind kind, lt_str part) {
  LT_TRY(secrets_add_text(arg, part));
  return kind == LT_SECRET_LINE ? LT_OK : secrets_add_base64(arg, part);
}

lt_status lt_secrets_add(lt_secrets *s, lt_str value) {
  if (value.n < LT_SECRET_MIN_BYTES) {
    return LT_OK;
  }
  LT_TRY(secrets_add_part(s, LT_SECRET_CREDENTIAL, value));
  return lt_secret_parts_of(value, secrets_add_part, s);
}

lt_status lt_secrets_add_url(lt_secrets *s, lt_str text) {
  return lt_secret_parts_of_url(text, secrets_add_part, s);
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

/* The same for the two digits of a percent-encoded byte. */
static size_t secrets_read_percent(lt_str text, size_t i, char out[4], size_t *ret_n) {
  int high = i + 2 < text.n ? lt_json_hex_value(text.p[i + 1]) : -1;
  int low = high >= 0 ? lt_json_hex_value(text.p[i + 2]) : -1;
  if (low < 0) {
    return 0;
  }
  out[0] = (char)(high << 4 | low);
  *ret_n = 1;
  return 3;
}

/* Reads the escape at `i`, of JSON or of a URL: writes its characters to `out` and returns its length in the text, or 0
 * when there is no escape. */
static size_t secrets_read_escape(lt_str text, size_t i, char out[4], size_t *ret_n) {
  if (text.p[i] == '%') {
    return secrets_read_percent(text, i, out, ret_n);
  }
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

static bool secrets_is_escape(char c) {
  return c == '\\' || c == '%';
}

/* Whether a text was cut at `at`: messages show "the beginning of a long va...". */
static bool secrets_is_cut(lt_str text, size_t at) {
  return at >= text.n || lt_str_starts(lt_str_sub(text, at, text.n), LT_STR("..."));
}

#define UNDECIDED SIZE_MAX /* the text goes on, and what follows decides */

/* Whether more text may change what is read at `at`, where `k` bytes of a secret have been found. */
static bool secrets_is_open(lt_str text, size_t at, size_t k) {
  lt_str rest = lt_str_sub(text, at, text.n);
  bool may_be_cut = k >= LT_SECRET_CUT_BYTES && lt_str_starts(LT_STR(".."), rest);
  return rest.n == 0 || may_be_cut || (secrets_is_escape(rest.p[0]) && rest.n < ESCAPE_BYTES);
}

/* The length in the text of the secret `one` at `i`, with any JSON escapes (\/, \u002B, \u003c: libraries differ), or
 * of its beginning if the text was cut within it. 0: no match. `goes_on`: the text is not whole, and the result may be
 * UNDECIDED. */
static size_t secrets_match_at(const known_secret *one, lt_str text, size_t i, bool goes_on) {
  size_t at = i;
  for (size_t k = 0; k < one->n;) {
    char chars[4];
    size_t n = 0;
    if (goes_on && secrets_is_open(text, at, k)) {
      return UNDECIDED;
    }
    if (k >= LT_SECRET_CUT_BYTES && secrets_is_cut(text, at)) {
      return at - i;
    }
    if (at >= text.n) {
      return 0;
    }
    size_t escape = secrets_is_escape(text.p[at]) ? secrets_read_escape(text, at, chars, &n) : 0;
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

/* The first byte of what is at `i`, behind an escape if there is one. */
static unsigned char secrets_first_byte(lt_str text, size_t i) {
  char chars[4];
  size_t n;
  bool is_escaped = secrets_is_escape(text.p[i]) && secrets_read_escape(text, i, chars, &n) > 0;
  return (unsigned char)(is_escaped ? chars[0] : text.p[i]);
}

/* The length of the secret that begins at `i` with the byte `first`, or 0, or UNDECIDED. */
static size_t secrets_with_first(const lt_secrets *s, unsigned char first, lt_str text, size_t i, bool goes_on) {
  size_t n = 0;
  for (size_t k = s->starts[first]; n == 0 && k < s->starts[first + 1]; k++) {
    n = secrets_match_at(&s->list[k], text, i, goes_on);
  }
  return n;
}

/* The length of the secret that begins at `i`, or 0, or UNDECIDED. */
static size_t secrets_secret_at(const lt_secrets *s, lt_str text, size_t i, bool goes_on) {
  unsigned char byte = (unsigned char)text.p[i];
  bool is_plain = !secrets_is_escape(text.p[i]) && i + 1 < text.n && !secrets_is_escape(text.p[i + 1]);
  if (is_plain) {
    unsigned pair = secrets_pair(text.p + i);
    return (s->pairs[pair / 8] & 1 << pair % 8) != 0 ? secrets_with_first(s, byte, text, i, goes_on) : 0;
  }
  if (goes_on && secrets_is_escape(text.p[i]) && text.n - i < ESCAPE_BYTES) {
    return UNDECIDED;
  }
  unsigned char first = secrets_first_byte(text, i);
  size_t n = secrets_with_first(s, first, text, i, goes_on);
  return n == 0 && first != byte ? secrets_with_first(s, byte, text, i, goes_on) : n;
}

/* The offset of the first secret at or after `i`, with its length; text.n when there is no secret. */
static size_t secrets_find_secret(const lt_secrets *s, lt_str text, size_t i, bool goes_on, size_t *ret_n) {
  for (; s != NULL && s->count > 0 && i < text.n; i++) {
    *ret_n = secrets_secret_at(s, text, i, goes_on);
    if (*ret_n > 0) {
      return i;
    }
  }
  return text.n;
}

bool lt_secrets_in(const lt_secrets *s, lt_str text) {
  size_t n;
  return secrets_find_secret(secrets_now(s), text, 0, false, &n) < text.n;
}

/* Masks as far as it is decided; returns the number of bytes that were taken. */
static size_t secrets_mask_text(const lt_secrets *s, lt_str text, bool goes_on, lt_buf *out) {
  for (size_t done = 0;;) {
    size_t n = 0;
    size_t at = secrets_find_secret(s, text, done, goes_on, &n);
    lt_buf_add(out, lt_str_sub(text, done, at));
    if (at == text.n || n == UNDECIDED) {
      return at;
    }
    lt_buf_addc(out, "***");
    done = at + n;
  }
}

void lt_secrets_mask(const lt_secrets *s, lt_str text, lt_buf *out) {
  (void)secrets_mask_text(secrets_now(s), text, false, out);
}

size_t lt_secrets_mask_piece(const lt_secrets *s, lt_str text, lt_buf *out) {
  return secrets_mask_text(secrets_now(s), text, true, out);
}

/* Whether a string is open at `to`, when `open` says it of `from`. */
static bool secrets_is_in_string(lt_str json, size_t from, size_t to, bool open) {
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
    size_t at = secrets_find_secret(s, json, done, false, &n);
    lt_buf_add(out, lt_str_sub(json, done, at));
    open = secrets_is_in_string(json, done, at, open);
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
  secrets_mask_values(secrets_now(s), json, &masked);
  if (masked.status == LT_OK && lt_json_check(lt_buf_view(&masked), NULL) == LT_OK) {
    lt_buf_add(out, lt_buf_view(&masked));
  } else {
    lt_json_writer w = lt_json_writer_on(out);
    lt_buf_clear(&masked);
    lt_secrets_mask(s, json, &masked);
    lt_json_put_str(&w, lt_buf_view_or(&masked, LT_STR("***")));
  }
}

static void secrets_mask_in_place(const lt_secrets *s, lt_buf *buf,
                                  void (*mask)(const lt_secrets *s, lt_str text, lt_buf *out)) {
  if (!lt_secrets_in(s, lt_buf_view(buf))) {
    return;
  }
  lt_buf masked;
  lt_buf_init(&masked, buf->max);
  mask(s, lt_buf_view(buf), &masked);
  explicit_bzero(buf->p, buf->n);
  lt_buf_release(buf);
  *buf = masked;
  if (buf->status != LT_OK) {
    lt_status status = buf->status;
    lt_buf_release(buf);
    buf->status = status;
  }
}

void lt_secrets_mask_buf(const lt_secrets *s, lt_buf *buf) {
  secrets_mask_in_place(s, buf, lt_secrets_mask);
}

void lt_secrets_mask_json_buf(const lt_secrets *s, lt_buf *buf) {
  secrets_mask_in_place(s, buf, lt_secrets_mask_json);
}
