#include "clients/toml.h"

#include "base/limits.h"
#include "json/json.h"

typedef enum toml_kind { TOML_TABLE, TOML_LIST, TOML_SCALAR } toml_kind;

typedef struct toml_node {
  toml_kind kind;
  bool is_closed; /* written in one piece: nothing can be added to it by a header */
  lt_str key;
  lt_str json; /* of a scalar */
  struct toml_node *kids, *last, *next;
} toml_node;

typedef struct toml_reader {
  lt_arena *arena;
  lt_str text;
  size_t at;
  const char *name;
  unsigned depth;
  lt_toml_table *table; /* the one whose lines are being read; NULL: before the first header */
  lt_err *err;
} toml_reader;

#define TOML_KEYS_MAX 32 /* parts of a dotted key */

typedef struct toml_path {
  lt_str keys[TOML_KEYS_MAX];
  size_t count;
} toml_path;

static lt_status toml_read_value(toml_reader *r, toml_node *node);

/* --- Characters --------------------------------------------------------------------------------------------------- */

static lt_status toml_fail(const toml_reader *r, const char *what) {
  size_t line = 1;
  for (size_t i = 0; i < r->at && i < r->text.n; i++) {
    line += r->text.p[i] == '\n';
  }
  return lt_fail(r->err, LT_E_CONFIG, "%s:%zu: not valid TOML: %s", r->name, line, what);
}

static lt_status toml_no_memory(const toml_reader *r) {
  return lt_fail(r->err, LT_E_NOMEM, "%s: out of memory while reading it", r->name);
}

static char toml_peek(const toml_reader *r) {
  return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static bool toml_starts(const toml_reader *r, const char *with) {
  return lt_str_starts(lt_str_sub(r->text, r->at, r->text.n), lt_str_of(with));
}

static void toml_skip_blanks(toml_reader *r) {
  while (toml_peek(r) == ' ' || toml_peek(r) == '\t') {
    r->at++;
  }
}

/* Blanks, line breaks and comments. */
static void toml_skip_lines(toml_reader *r) {
  for (;;) {
    toml_skip_blanks(r);
    if (toml_peek(r) == '#') {
      size_t end = lt_str_find(r->text, LT_STR("\n"), r->at);
      r->at = end < r->text.n ? end : r->text.n;
    } else if (toml_peek(r) == '\n' || toml_peek(r) == '\r') {
      r->at++;
    } else {
      return;
    }
  }
}

/* To the end of the line, which has nothing more but a comment. */
static lt_status toml_end_line(toml_reader *r) {
  toml_skip_blanks(r);
  if (toml_peek(r) == '#') {
    size_t end = lt_str_find(r->text, LT_STR("\n"), r->at);
    r->at = end < r->text.n ? end : r->text.n;
  }
  r->at += toml_peek(r) == '\r';
  if (r->at < r->text.n && toml_peek(r) != '\n') {
    return toml_fail(r, "something stands behind the end of a value");
  }
  r->at += r->at < r->text.n;
  return LT_OK;
}

/* --- Texts -------------------------------------------------------------------------------------------------------- */

static void toml_put_code_point(lt_buf *out, uint32_t cp) {
  char bytes[4];
  size_t n = 0;
  if (cp < 0x80) {
    bytes[n++] = (char)cp;
  } else if (cp < 0x800) {
    bytes[n++] = (char)(0xC0 | (cp >> 6));
  } else if (cp < 0x10000) {
    bytes[n++] = (char)(0xE0 | (cp >> 12));
    bytes[n++] = (char)(0x80 | ((cp >> 6) & 0x3F));
  } else {
    bytes[n++] = (char)(0xF0 | (cp >> 18));
    bytes[n++] = (char)(0x80 | ((cp >> 12) & 0x3F));
    bytes[n++] = (char)(0x80 | ((cp >> 6) & 0x3F));
  }
  if (cp >= 0x80) {
    bytes[n++] = (char)(0x80 | (cp & 0x3F));
  }
  lt_buf_add(out, lt_str_from(bytes, n));
}

static lt_status toml_read_unicode(toml_reader *r, size_t digits, lt_buf *out) {
  uint32_t cp = 0;
  for (size_t i = 0; i < digits; i++, r->at++) {
    char c = toml_peek(r);
    bool is_digit = c >= '0' && c <= '9';
    char letter = (char)(c | 0x20);
    if (!is_digit && (letter < 'a' || letter > 'f')) {
      return toml_fail(r, "\\u needs four hexadecimal digits, \\U eight");
    }
    cp = cp * 16 + (uint32_t)(is_digit ? c - '0' : letter - 'a' + 10);
  }
  if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) {
    return toml_fail(r, "there is no such character");
  }
  toml_put_code_point(out, cp);
  return LT_OK;
}

/* Behind the backslash. */
static lt_status toml_read_escape(toml_reader *r, bool is_multi_line, lt_buf *out) {
  static const char names[] = "btnfre\"\\", values[] = "\b\t\n\f\r\x1b\"\\";
  char c = toml_peek(r);
  const char *found = c != '\0' ? strchr(names, c) : NULL;
  if (found != NULL) {
    lt_buf_byte(out, values[found - names]);
    r->at++;
    return LT_OK;
  }
  if (c == 'u' || c == 'U') {
    r->at++;
    return toml_read_unicode(r, c == 'u' ? 4 : 8, out);
  }
  if (is_multi_line && (c == '\n' || c == '\r' || c == ' ' || c == '\t')) {
    while (toml_peek(r) != '\0' && strchr(" \t\r\n", toml_peek(r)) != NULL) {
      r->at++;
    }
    return LT_OK;
  }
  return toml_fail(r, "a text has an unknown escape");
}

/* Any of the four kinds of text; at its first quote. */
static lt_status toml_read_text(toml_reader *r, lt_buf *out) {
  char quote = toml_peek(r);
  const char *triple = quote == '"' ? "\"\"\"" : "'''";
  bool is_multi_line = toml_starts(r, triple);
  r->at += is_multi_line ? 3 : 1;
  if (is_multi_line) {
    r->at += toml_starts(r, "\r\n") ? 2 : toml_peek(r) == '\n';
  }
  for (;;) {
    char c = toml_peek(r);
    if (r->at >= r->text.n || (c == '\n' && !is_multi_line)) {
      return toml_fail(r, "a text does not end");
    }
    if (is_multi_line ? toml_starts(r, triple) : c == quote) {
      r->at += is_multi_line ? 3 : 1;
      while (is_multi_line && toml_peek(r) == quote) { /* up to two quotes before the end belong to the text */
        lt_buf_byte(out, quote);
        r->at++;
      }
      return LT_OK;
    }
    r->at++;
    if (c == '\\' && quote == '"') {
      LT_TRY(toml_read_escape(r, is_multi_line, out));
    } else {
      lt_buf_byte(out, c);
    }
  }
}

static lt_status toml_keep_text(toml_reader *r, lt_str *ret) {
  LT_AUTO_BUF(text, LT_CONFIG_MAX_BYTES);
  LT_TRY(toml_read_text(r, &text));
  *ret = text.n == 0 ? LT_STR("") : lt_arena_dup_buf(r->arena, &text);
  return ret->p != NULL ? LT_OK : toml_no_memory(r);
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

static bool toml_is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static lt_status toml_read_key(toml_reader *r, lt_str *ret) {
  if (toml_peek(r) == '"' || toml_peek(r) == '\'') {
    return toml_keep_text(r, ret);
  }
  size_t from = r->at;
  while (toml_is_bare(toml_peek(r))) {
    r->at++;
  }
  *ret = lt_str_sub(r->text, from, r->at);
  return ret->n > 0 ? LT_OK : toml_fail(r, "a key is expected");
}

static lt_status toml_read_path(toml_reader *r, toml_path *path) {
  path->count = 0;
  for (;;) {
    if (path->count == TOML_KEYS_MAX) {
      return toml_fail(r, "a key has too many parts");
    }
    toml_skip_blanks(r);
    LT_TRY(toml_read_key(r, &path->keys[path->count++]));
    toml_skip_blanks(r);
    if (toml_peek(r) != '.') {
      return LT_OK;
    }
    r->at++;
  }
}

/* --- The tree ----------------------------------------------------------------------------------------------------- */

static lt_status toml_add(toml_reader *r, toml_node *parent, toml_kind kind, lt_str key, toml_node **ret) {
  toml_node *node = lt_arena_zalloc(r->arena, 1, sizeof *node);
  if (node == NULL) {
    return toml_no_memory(r);
  }
  node->kind = kind;
  node->key = key;
  *(parent->last != NULL ? &parent->last->next : &parent->kids) = node;
  parent->last = node;
  *ret = node;
  return LT_OK;
}

static toml_node *toml_find(const toml_node *table, lt_str key) {
  toml_node *node = table->kids;
  while (node != NULL && !lt_str_eq(node->key, key)) {
    node = node->next;
  }
  return node;
}

/* The table of that key inside `table`, made when it is missing. Of a list of tables the last one. */
static lt_status toml_enter(toml_reader *r, toml_node *table, lt_str key, toml_node **ret) {
  toml_node *node = toml_find(table, key);
  if (node == NULL) {
    return toml_add(r, table, TOML_TABLE, key, ret);
  }
  bool is_list = node->kind == TOML_LIST && !node->is_closed;
  node = is_list ? node->last : node;
  if (node == NULL || node->kind != TOML_TABLE || node->is_closed) {
    return toml_fail(r, "a table has the name of a value");
  }
  *ret = node;
  return LT_OK;
}

/* key = value, into `table`. */
static lt_status toml_read_pair(toml_reader *r, toml_node *table) {
  toml_path path;
  toml_node *node;
  LT_TRY(toml_read_path(r, &path));
  for (size_t i = 0; i + 1 < path.count; i++) {
    LT_TRY(toml_enter(r, table, path.keys[i], &table));
  }
  if (toml_find(table, path.keys[path.count - 1]) != NULL) {
    return toml_fail(r, "a key is given twice");
  }
  if (toml_peek(r) != '=') {
    return toml_fail(r, "a key needs \"=\" and a value");
  }
  r->at++;
  toml_skip_blanks(r);
  LT_TRY(toml_add(r, table, TOML_SCALAR, path.keys[path.count - 1], &node));
  return toml_read_value(r, node);
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

static lt_status toml_read_list(toml_reader *r, toml_node *node) {
  node->kind = TOML_LIST;
  node->is_closed = true;
  r->at++;
  for (;;) {
    toml_node *item;
    toml_skip_lines(r);
    if (toml_peek(r) == ']') {
      r->at++;
      return LT_OK;
    }
    LT_TRY(toml_add(r, node, TOML_SCALAR, LT_STR_NULL, &item));
    LT_TRY(toml_read_value(r, item));
    toml_skip_lines(r);
    if (toml_peek(r) == ',') {
      r->at++;
    } else if (toml_peek(r) != ']') {
      return toml_fail(r, "a list needs commas between its values, and \"]\" at its end");
    }
  }
}

static lt_status toml_read_inline(toml_reader *r, toml_node *node) {
  node->kind = TOML_TABLE;
  r->at++;
  for (;;) {
    toml_skip_lines(r);
    if (toml_peek(r) == '}') {
      r->at++;
      node->is_closed = true;
      return LT_OK;
    }
    LT_TRY(toml_read_pair(r, node));
    toml_skip_lines(r);
    if (toml_peek(r) == ',') {
      r->at++;
    } else if (toml_peek(r) != '}') {
      return toml_fail(r, "a table in braces needs commas between its values, and \"}\" at its end");
    }
  }
}

static lt_status toml_keep_json(toml_reader *r, toml_node *node, lt_str text) {
  LT_AUTO_BUF(json, LT_CONFIG_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  lt_json_put_str(&w, text);
  node->json = lt_arena_dup_buf(r->arena, &json);
  return node->json.p != NULL ? LT_OK : toml_no_memory(r);
}

static lt_status toml_read_bare(toml_reader *r, toml_node *node) {
  size_t from = r->at;
  while (r->at < r->text.n && strchr(",]}#\r\n", toml_peek(r)) == NULL) {
    r->at++;
  }
  lt_str word = lt_str_trim(lt_str_sub(r->text, from, r->at));
  bool is_json = word.n > 0 && strchr("-0123456789tf", word.p[0]) != NULL && lt_json_check(word, NULL) == LT_OK;
  if (is_json) {
    node->json = word;
    return LT_OK;
  }
  size_t blank = lt_str_find(word, LT_STR(" "), 0); /* only a date may have one, before its time */
  bool has_blank = blank < word.n && (blank != 10 || word.p[4] != '-');
  if (word.n == 0 || has_blank || strchr("+-.0123456789in", word.p[0]) == NULL) {
    return toml_fail(r, "a value is expected: a text needs quotes");
  }
  return toml_keep_json(r, node, word);
}

static lt_status toml_read_any(toml_reader *r, toml_node *node) {
  lt_str text;
  switch (toml_peek(r)) {
    case '"':
    case '\'':
      LT_TRY(toml_keep_text(r, &text));
      return toml_keep_json(r, node, text);
    case '[':
      return toml_read_list(r, node);
    case '{':
      return toml_read_inline(r, node);
    default:
      return toml_read_bare(r, node);
  }
}

static lt_status toml_read_value(toml_reader *r, toml_node *node) {
  if (++r->depth > LT_CONFIG_DEPTH_MAX) {
    return toml_fail(r, "nested too deep");
  }
  LT_TRY(toml_read_any(r, node));
  r->depth--;
  return LT_OK;
}

/* --- Headers ------------------------------------------------------------------------------------------------------ */

static lt_status toml_remember_table(toml_reader *r, const toml_path *path, size_t start, lt_toml_table **last) {
  lt_toml_table *table = lt_arena_zalloc(r->arena, 1, sizeof *table);
  lt_str *keys = lt_arena_zalloc(r->arena, path->count, sizeof *keys);
  if (table == NULL || keys == NULL) {
    return toml_no_memory(r);
  }
  memcpy(keys, path->keys, path->count * sizeof *keys);
  *table = (lt_toml_table){.keys = keys, .key_count = path->count, .start = start, .end = r->at};
  *last = table;
  r->table = table;
  return LT_OK;
}

static lt_status toml_open_table(toml_reader *r, toml_node *root, const toml_path *path, bool is_item,
                                 toml_node **ret) {
  toml_node *table = root, *list;
  size_t above = path->count - (is_item ? 1 : 0);
  for (size_t i = 0; i < above; i++) {
    LT_TRY(toml_enter(r, table, path->keys[i], &table));
  }
  if (!is_item) {
    *ret = table;
    return LT_OK;
  }
  list = toml_find(table, path->keys[above]);
  if (list == NULL) {
    LT_TRY(toml_add(r, table, TOML_LIST, path->keys[above], &list));
  }
  if (list->kind != TOML_LIST || list->is_closed) {
    return toml_fail(r, "a list of tables has the name of a value");
  }
  return toml_add(r, list, TOML_TABLE, LT_STR_NULL, ret);
}

/* [a.b] or [[a.b]], at its first bracket. */
static lt_status toml_read_header(toml_reader *r, toml_node *root, toml_path *path, toml_node **ret) {
  bool is_item = toml_starts(r, "[[");
  r->at += is_item ? 2 : 1;
  LT_TRY(toml_read_path(r, path));
  if (!toml_starts(r, is_item ? "]]" : "]")) {
    return toml_fail(r, "a table's header needs \"]\" at its end");
  }
  r->at += is_item ? 2 : 1;
  LT_TRY(toml_open_table(r, root, path, is_item, ret));
  return toml_end_line(r);
}

static lt_status toml_read_document(toml_reader *r, toml_node *root, lt_toml_table **tail) {
  toml_node *table = root;
  for (toml_skip_lines(r); r->at < r->text.n; toml_skip_lines(r)) {
    if (toml_peek(r) == '[') {
      toml_path path;
      size_t start = r->at;
      while (start > 0 && r->text.p[start - 1] != '\n') {
        start--;
      }
      LT_TRY(toml_read_header(r, root, &path, &table));
      LT_TRY(toml_remember_table(r, &path, start, tail));
      tail = &r->table->next;
    } else {
      LT_TRY(toml_read_pair(r, table));
      LT_TRY(toml_end_line(r));
      if (r->table != NULL) {
        r->table->end = r->at;
      }
    }
  }
  return LT_OK;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/* At most LT_CONFIG_DEPTH_MAX values deep, and a header's TOML_KEYS_MAX more. */
static void toml_put(const toml_node *node, lt_json_writer *w) {
  if (node->kind == TOML_SCALAR) {
    lt_json_put_raw(w, node->json);
    return;
  }
  node->kind == TOML_TABLE ? lt_json_begin_object(w) : lt_json_begin_array(w);
  for (const toml_node *kid = node->kids; kid != NULL; kid = kid->next) {
    if (node->kind == TOML_TABLE) {
      lt_json_key_str(w, kid->key);
    }
    toml_put(kid, w);
  }
  node->kind == TOML_TABLE ? lt_json_end_object(w) : lt_json_end_array(w);
}

lt_status lt_toml_parse(lt_arena *arena, lt_str text, const char *name, lt_buf *ret_json, lt_toml_table **ret_tables,
                        lt_err *err) {
  toml_reader r = {.arena = arena, .text = text, .name = name, .err = err};
  toml_node root = {.kind = TOML_TABLE};
  *ret_tables = NULL;
  r.at = lt_str_starts(text, LT_STR("\xEF\xBB\xBF")) ? 3 : 0;
  if (text.n > 0 && memchr(text.p, 0, text.n) != NULL) {
    return lt_fail(err, LT_E_CONFIG, "%s: it has a NUL byte: it is no text", name);
  }
  LT_TRY(toml_read_document(&r, &root, ret_tables));
  lt_json_writer w = lt_json_writer_on(ret_json);
  toml_put(&root, &w);
  return lt_buf_check(ret_json, err, "the file is too large");
}
