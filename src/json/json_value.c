#include <stdio.h>
#include <stdlib.h>

#include "json/decimal.h"
#include "json/json.h"
#include "json/json_text.h"

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

static inline const lt_json_node *json_value_node_of(lt_json v) {
  return v.doc != NULL && v.at < v.doc->count ? &v.doc->nodes[v.at] : NULL;
}

static inline lt_json_type json_value_type_of(const lt_json_node *node) {
  return (lt_json_type)(node->info & LT_JSON_INFO_TYPE);
}

lt_json_type lt_json_typeof(lt_json v) {
  const lt_json_node *node = json_value_node_of(v);
  return node != NULL ? json_value_type_of(node) : LT_JSON_NONE;
}

const char *lt_json_type_name(lt_json_type type) {
  switch (type) {
    case LT_JSON_NULL:
      return "null";
    case LT_JSON_FALSE:
    case LT_JSON_TRUE:
      return "boolean";
    case LT_JSON_NUMBER:
      return "number";
    case LT_JSON_STRING:
      return "string";
    case LT_JSON_ARRAY:
      return "array";
    case LT_JSON_OBJECT:
      return "object";
    case LT_JSON_NONE:
      break;
  }
  return "nothing";
}

lt_str lt_json_text(lt_json v) {
  const lt_json_node *node = json_value_node_of(v);
  return node != NULL ? (lt_str){v.doc->text.p + node->start, node->end - node->start} : LT_STR_NULL;
}

uint32_t lt_json_count(lt_json v) {
  const lt_json_node *node = json_value_node_of(v);
  return node != NULL ? node->info >> LT_JSON_INFO_COUNT_SHIFT : 0;
}

lt_json_iter lt_json_each(lt_json v) {
  lt_json_iter it = {.container = v};
  if (lt_json_count(v) > 0) {
    it.at = v.at + 1;
    it.end = v.doc->nodes[v.at].next;
  }
  return it;
}

bool lt_json_next(lt_json_iter *it) {
  if (it->at >= it->end) {
    return false;
  }
  const lt_json_doc *doc = it->container.doc;
  if (doc->nodes[it->at].info & LT_JSON_INFO_KEY) {
    it->key = (lt_json){doc, it->at++};
  }
  it->value = (lt_json){doc, it->at};
  it->at = doc->nodes[it->at].next;
  return true;
}

/* Most keys differ in their length, so it is compared first. */
static inline bool json_value_is_key(lt_json object, uint32_t at, lt_str key) {
  const lt_json_node *node = &object.doc->nodes[at];
  if (node->info & LT_JSON_INFO_ESCAPED) {
    return lt_json_str_eq((lt_json){object.doc, at}, key);
  }
  return node->end - node->start - 2 == key.n &&
         (key.n == 0 || memcmp(object.doc->text.p + node->start + 1, key.p, key.n) == 0);
}

/* The last member of that name counts. */
lt_json lt_json_get_str(lt_json object, lt_str key) {
  lt_json found = {NULL, 0};
  if (lt_json_typeof(object) == LT_JSON_OBJECT && lt_json_count(object) > 0) {
    const lt_json_node *nodes = object.doc->nodes;
    for (uint32_t at = object.at + 1, end = nodes[object.at].next; at < end; at = nodes[at + 1].next) {
      if (json_value_is_key(object, at, key)) {
        found = (lt_json){object.doc, at + 1};
      }
    }
  }
  return found;
}

lt_json lt_json_at(lt_json array, uint32_t i) {
  if (lt_json_typeof(array) != LT_JSON_ARRAY || i >= lt_json_count(array)) {
    return (lt_json){NULL, 0};
  }
  uint32_t at = array.at + 1;
  while (i-- > 0) {
    at = array.doc->nodes[at].next;
  }
  return (lt_json){array.doc, at};
}

/* --- Strings ------------------------------------------------------------------------------------------------------ */

static lt_str json_value_inside_quotes(lt_json v, const lt_json_node *node) {
  return (lt_str){v.doc->text.p + node->start + 1, node->end - node->start - 2};
}

/* Reads one code unit or character of a checked string. A surrogate is returned alone. */
static uint32_t json_value_read_unit(const char **p, const char *end) {
  uint32_t cp = 0;
  if (**p != '\\') {
    *p += lt_json_read_char(*p, end, &cp);
    return cp;
  }
  char c = (*p)[1];
  *p += 2;
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'u':
      for (int i = 0; i < 4; i++) {
        cp = cp << 4 | (uint32_t)lt_json_hex_value((*p)[i]);
      }
      *p += 4;
      return cp;
    default:
      return (uint32_t)c;
  }
}

/* Reads the next character. Two surrogates that make a pair are one character, whatever their notation. */
static uint32_t json_value_read_character(const char **p, const char *end) {
  uint32_t cp = json_value_read_unit(p, end);
  if (lt_json_is_high(cp) && *p < end) {
    const char *after = *p;
    uint32_t low = json_value_read_unit(&after, end);
    if (lt_json_is_low(low)) {
      *p = after;
      return lt_json_join(cp, low);
    }
  }
  return cp;
}

/* A character never takes more bytes than its escape, so the length of the text is enough. */
static lt_str json_value_unescape(lt_str text, lt_arena *arena) {
  char *out = lt_arena_alloc(arena, text.n + 1);
  if (out == NULL) {
    return LT_STR_NULL;
  }
  const char *p = text.p;
  const char *end = text.p + text.n;
  char *o = out;
  while (p < end) {
    const char *plain = lt_json_plain_end(p, end);
    if (plain > p) {
      memcpy(o, p, (size_t)(plain - p));
      o += plain - p;
      p = plain;
    } else {
      o += lt_json_write_char(o, json_value_read_character(&p, end));
    }
  }
  *o = '\0';
  return (lt_str){out, (size_t)(o - out)};
}

bool lt_json_str(lt_json v, lt_arena *arena, lt_str *ret) {
  const lt_json_node *node = json_value_node_of(v);
  if (node == NULL || json_value_type_of(node) != LT_JSON_STRING) {
    return false;
  }
  lt_str s = json_value_inside_quotes(v, node);
  if (node->info & LT_JSON_INFO_ESCAPED) {
    s = json_value_unescape(s, arena);
  }
  if (s.p == NULL) {
    return false;
  }
  *ret = s;
  return true;
}

static bool json_value_unescaped_eq(lt_str text, lt_str s) {
  const char *p = text.p;
  const char *end = text.p + text.n;
  size_t at = 0;
  while (p < end) {
    char bytes[4];
    unsigned n = lt_json_write_char(bytes, json_value_read_character(&p, end));
    if (n > s.n - at || memcmp(bytes, s.p + at, n) != 0) {
      return false;
    }
    at += n;
  }
  return at == s.n;
}

bool lt_json_str_eq(lt_json v, lt_str s) {
  const lt_json_node *node = json_value_node_of(v);
  if (node == NULL || json_value_type_of(node) != LT_JSON_STRING) {
    return false;
  }
  lt_str text = json_value_inside_quotes(v, node);
  return node->info & LT_JSON_INFO_ESCAPED ? json_value_unescaped_eq(text, s) : lt_str_eq(text, s);
}

/* --- Booleans and numbers ----------------------------------------------------------------------------------------- */

bool lt_json_bool(lt_json v, bool fallback) {
  lt_json_type type = lt_json_typeof(v);
  return type == LT_JSON_TRUE || (type != LT_JSON_FALSE && fallback);
}

static bool json_value_add_digit(uint64_t *n, unsigned digit) {
  return !__builtin_mul_overflow(*n, 10u, n) && !__builtin_add_overflow(*n, digit, n);
}

/* The number's magnitude, when it is whole and fits. */
static bool json_value_whole(const lt_decimal *d, uint64_t *ret) {
  uint64_t n = 0;
  if (d->p < d->end && (d->exponent < 0 || d->exponent > 19)) {
    return false;
  }
  for (const char *p = d->p; p < d->end; p++) {
    if (*p != '.' && !json_value_add_digit(&n, (unsigned)(*p - '0'))) {
      return false;
    }
  }
  for (int64_t i = 0; n != 0 && i < d->exponent; i++) {
    if (!json_value_add_digit(&n, 0)) {
      return false;
    }
  }
  *ret = n;
  return true;
}

bool lt_json_int(lt_json v, int64_t *ret) {
  if (lt_json_typeof(v) != LT_JSON_NUMBER) {
    return false;
  }
  lt_decimal d = lt_decimal_of(lt_json_text(v));
  uint64_t n;
  if (!json_value_whole(&d, &n) || n > (uint64_t)INT64_MAX + d.negative) {
    return false;
  }
  *ret = (int64_t)(d.negative ? 0 - n : n);
  return true;
}

/* 767 digits decide the rounding of any double. Of further digits only one thing matters: whether all are zero. */
#define DOUBLE_DIGITS 800

/* strtod for digits and an exponent without a point, which mean the same in every locale. */
static double json_value_decimal_to_double(const lt_decimal *d) {
  char text[DOUBLE_DIGITS + 32];
  size_t n = 0;
  int64_t exponent = d->exponent;
  for (const char *p = d->p; p < d->end; p++) {
    if (*p == '.') {
      continue;
    }
    if (n < DOUBLE_DIGITS) {
      text[n++] = *p;
    } else {
      exponent++;
      text[n - 1] = '1'; /* set when the dropped digits are not all zero: the last digit then is not zero either */
    }
  }
  snprintf(text + n, sizeof text - n, "e%lld", (long long)exponent);
  return strtod(text, NULL);
}

bool lt_json_double(lt_json v, double *ret) {
  if (lt_json_typeof(v) != LT_JSON_NUMBER) {
    return false;
  }
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  lt_decimal d = lt_decimal_of(lt_json_text(v));
  double n = 0;
  uint64_t digits = 0;
  for (const char *p = d.p; p < d.end && d.end - p <= 16; p++) {
    digits = *p != '.' ? digits * 10 + (uint64_t)(*p - '0') : digits;
  }
  /* Clinger's fast path: two exact doubles and one rounding give the exact result. */
  if (d.end - d.p <= 16 && digits < (1ull << 53) && d.exponent >= -22 && d.exponent <= 22) {
    n = d.exponent < 0 ? (double)digits / powers[-d.exponent] : (double)digits * powers[d.exponent];
  } else {
    n = json_value_decimal_to_double(&d);
  }
  *ret = lt_json_text(v).p[0] == '-' ? -n : n; /* -0 keeps its sign */
  return true;
}
