#include "config/yaml.h"

#include "base/utf8.h"

lt_yaml_node *lt_yaml_get(const lt_yaml_node *map, const char *key) {
  if (!map || map->type != LT_YAML_MAP) {
    return NULL;
  }
  for (lt_yaml_node *kid = map->kids; kid; kid = kid->next) {
    if (lt_str_eqc(kid->key->text, key)) {
      return kid;
    }
  }
  return NULL;
}

const lt_yaml_node *lt_yaml_given(const lt_yaml_node *map, const char *key) {
  const lt_yaml_node *node = lt_yaml_get(map, key);
  return node != NULL && node->type != LT_YAML_NULL ? node : NULL;
}

const char *lt_yaml_describe(const lt_yaml_node *node) {
  bool b;
  int64_t i;
  switch (node->type) {
    case LT_YAML_NULL:
      return "nothing";
    case LT_YAML_LIST:
      return "a list";
    case LT_YAML_MAP:
      return "a mapping";
    case LT_YAML_SCALAR:
      break;
  }
  if (lt_yaml_int(node, &i)) {
    return "a number";
  }
  return lt_yaml_bool(node, &b) ? "true or false" : "a string";
}

bool lt_yaml_int(const lt_yaml_node *node, int64_t *ret) {
  if (!node || node->type != LT_YAML_SCALAR || node->quoted || node->text.n == 0) {
    return false;
  }
  bool negative = node->text.p[0] == '-';
  size_t at = negative || node->text.p[0] == '+';
  int64_t value = 0;
  if (at == node->text.n) {
    return false;
  }
  for (; at < node->text.n; at++) {
    int digit = node->text.p[at] - '0';
    if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return false;
    }
  }
  *ret = negative ? -value : value;
  return true;
}

bool lt_yaml_bool(const lt_yaml_node *node, bool *ret) {
  if (!node || node->type != LT_YAML_SCALAR || node->quoted) {
    return false;
  }
  bool yes = lt_str_eqc(node->text, "true") || lt_str_eqc(node->text, "True") || lt_str_eqc(node->text, "TRUE");
  bool no = lt_str_eqc(node->text, "false") || lt_str_eqc(node->text, "False") || lt_str_eqc(node->text, "FALSE");
  if (yes || no) {
    *ret = yes;
  }
  return yes || no;
}

/* C0, DEL, C1 (U+0080 to U+009F): what a terminal might obey. `rest` starts with a character. */
static bool yaml_is_control(lt_str rest) {
  const unsigned char *p = (const unsigned char *)rest.p;
  return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && rest.n > 1 && p[1] < 0xa0);
}

lt_yaml_clipped lt_yaml_clip(lt_str s) {
  lt_yaml_clipped clipped = {{0}};
  size_t n = 0, room = sizeof clipped.text - sizeof "...";
  for (size_t at = 0; at < s.n;) {
    lt_str rest = lt_str_sub(s, at, s.n);
    size_t len = lt_utf8_ceil(rest, 1);
    if (n + len > room) {
      memcpy(clipped.text + n, "...", sizeof "...");
      break;
    }
    bool is_control = yaml_is_control(rest);
    memcpy(clipped.text + n, is_control ? "?" : rest.p, is_control ? 1 : len);
    n += is_control ? 1 : len;
    at += len;
  }
  return clipped;
}
