#include "tool/cell_name.h"

#define CELL_NAME_PREFIX LT_STR("mcp__")

static bool cell_name_is_kept(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '$';
}

static void cell_name_put_word(lt_buf *out, lt_str word) {
  for (size_t i = 0; i < word.n; i++) {
    lt_buf_byte(out, cell_name_is_kept(word.p[i]) ? word.p[i] : '_');
  }
}

void lt_cell_name_put(const lt_tool *tool, lt_buf *out) {
  if (tool->of_plugin || tool->ns.n == 0) {
    lt_buf_add(out, tool->long_name.n > 0 ? tool->long_name : tool->ts_name);
    return;
  }
  lt_buf_add(out, CELL_NAME_PREFIX);
  cell_name_put_word(out, tool->ns);
  lt_buf_addc(out, "__");
  cell_name_put_word(out, tool->name);
}

/* Takes `word`, as it is written in such names, from the beginning of `rest`. */
static bool cell_name_take_word(lt_str *rest, lt_str word) {
  bool is_it = rest->n >= word.n;
  for (size_t i = 0; is_it && i < word.n; i++) {
    is_it = rest->p[i] == (cell_name_is_kept(word.p[i]) ? word.p[i] : '_');
  }
  *rest = is_it ? lt_str_sub(*rest, word.n, rest->n) : *rest;
  return is_it;
}

static bool cell_name_is_of(const lt_tool *tool, lt_str rest) {
  return !tool->of_plugin && cell_name_take_word(&rest, tool->ns) && cell_name_take_word(&rest, LT_STR("__")) &&
         cell_name_take_word(&rest, tool->name) && rest.n == 0;
}

const lt_tool *lt_cell_name_find(const lt_catalog *catalog, lt_str name) {
  if (!lt_str_starts(name, CELL_NAME_PREFIX)) {
    return NULL;
  }
  lt_str rest = lt_str_sub(name, CELL_NAME_PREFIX.n, name.n);
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    if (cell_name_is_of(lt_catalog_at(catalog, i), rest)) {
      return lt_catalog_at(catalog, i);
    }
  }
  return NULL;
}
