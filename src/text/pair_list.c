#include "text/pair_list.h"

bool lt_pair_list_next(lt_str *list, lt_str *ret_name, lt_str *ret_value) {
  while (list->n > 0) {
    size_t end = lt_str_find(*list, LT_STR(","), 0);
    lt_str entry = lt_str_sub(*list, 0, end);
    size_t equals = lt_str_find(entry, LT_STR("="), 0);
    *list = end == SIZE_MAX ? LT_STR_NULL : lt_str_sub(*list, end + 1, list->n);
    *ret_name = lt_str_trim(lt_str_sub(entry, 0, equals));
    if (equals != SIZE_MAX && ret_name->n > 0) {
      *ret_value = lt_str_trim(lt_str_sub(entry, equals + 1, entry.n));
      return true;
    }
  }
  return false;
}

static int pair_list_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* -1: no escape begins here. */
static int pair_list_escape(lt_str value, size_t at) {
  if (value.p[at] != '%' || value.n - at < 3) {
    return -1;
  }
  int high = pair_list_digit(value.p[at + 1]), low = pair_list_digit(value.p[at + 2]);
  return high >= 0 && low >= 0 ? high << 4 | low : -1;
}

void lt_pair_list_decode(lt_str value, lt_buf *out) {
  for (size_t at = 0; at < value.n; at++) {
    int escape = pair_list_escape(value, at);
    lt_buf_byte(out, escape >= 0 ? (char)escape : value.p[at]);
    at += escape >= 0 ? 2 : 0;
  }
}
