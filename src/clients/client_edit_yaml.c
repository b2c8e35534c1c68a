/* Edits YAML in lines. Lists and mappings in braces are refused, but for empty ones. */
#include "clients/client_edit.h"
#include "clients/client_print.h"

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* The offset of a line, counted from 1; the text's length behind the last one. */
static size_t client_edit_line_at(lt_str text, uint32_t line) {
  size_t at = 0;
  while (line > 1 && at < text.n) {
    size_t end = lt_str_find(text, LT_STR("\n"), at);
    at = end < text.n ? end + 1 : text.n;
    line--;
  }
  return at;
}

static size_t client_edit_next_line(lt_str text, size_t at) {
  size_t end = lt_str_find(text, LT_STR("\n"), at);
  return end < text.n ? end + 1 : text.n;
}

static size_t client_edit_column(lt_str text, size_t at) {
  size_t i = at;
  while (i < text.n && text.p[i] == ' ') {
    i++;
  }
  return i - at;
}

static lt_str client_edit_line(lt_str text, size_t at) {
  return lt_str_trim(lt_str_sub(text, at, client_edit_next_line(text, at)));
}

/* One past the last line that belongs to what begins at `at`: the lines that are further in. */
static size_t client_edit_block_end(lt_str text, size_t at) {
  size_t column = client_edit_column(text, at), end = client_edit_next_line(text, at);
  for (size_t i = end; i < text.n; i = client_edit_next_line(text, i)) {
    lt_str line = client_edit_line(text, i);
    if (line.n > 0 && client_edit_column(text, i) <= column) {
      break;
    }
    end = line.n > 0 ? client_edit_next_line(text, i) : end;
  }
  return end;
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

static lt_status client_edit_refuse(const lt_client_text *file, lt_err *err) {
  return lt_fail(err, LT_E_CONFIG,
                 "%s: \"%s\" is not written in lines of YAML, so nothing can be put into it safely; nothing was "
                 "written, --print shows what to write there",
                 file->path, file->client->section);
}

/* The server's node: of a map the value, of a list the item. */
static const lt_yaml_node *client_edit_find(const lt_client_text *file, const lt_yaml_node *section, lt_str name) {
  for (const lt_yaml_node *kid = section->kids; kid != NULL; kid = kid->next) {
    const lt_yaml_node *own = file->client->is_list ? lt_yaml_get(kid, "name") : kid->key;
    if (own != NULL && lt_str_eq(own->text, name)) {
      return kid;
    }
  }
  return NULL;
}

/* Where a server's first line begins; false when it has none of its own. */
static bool client_edit_kid_start(const lt_client_text *file, const lt_yaml_node *kid, size_t *ret_at) {
  *ret_at = client_edit_line_at(file->text, file->client->is_list ? kid->line : kid->key->line);
  size_t first = *ret_at + client_edit_column(file->text, *ret_at);
  if (file->client->is_list) {
    return first < file->text.n && file->text.p[first] == '-';
  }
  lt_str line = lt_str_sub(file->text, first, client_edit_next_line(file->text, first));
  bool is_quoted = line.n > 0 && (line.p[0] == '"' || line.p[0] == '\'');
  return lt_str_starts(lt_str_sub(line, is_quoted ? 1 : 0, line.n), kid->key->text);
}

/* A server's lines; `column` is where its name or its dash stands. */
static void client_edit_put_lines(const lt_client_text *file, lt_str name, lt_json server, size_t column, lt_buf *out) {
  const char *line_end = lt_client_edit_line_end(file->text);
  if (file->client->is_list) {
    lt_client_print_yaml(server, column + 2, true, line_end, out);
    return;
  }
  lt_buf_printf(out, "%*s", (int)column, "");
  lt_client_print_yaml_key(name, out);
  lt_buf_printf(out, ":%s", line_end);
  lt_client_print_yaml(server, column + 2, false, line_end, out);
}

static void client_edit_copy(const lt_client_text *file, size_t from, size_t to, lt_buf *out) {
  lt_buf_add(out, lt_str_sub(file->text, from, to));
  bool is_cut = to > from && to == file->text.n && file->text.p[to - 1] != '\n';
  lt_buf_addc(out, is_cut ? lt_client_edit_line_end(file->text) : "");
}

/* --- Putting in --------------------------------------------------------------------------------------------------- */

static void client_edit_add_section(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out) {
  const char *line_end = lt_client_edit_line_end(file->text);
  client_edit_copy(file, 0, file->text.n, out);
  lt_buf_printf(out, "%s:%s", file->client->section, line_end);
  client_edit_put_lines(file, name, server, 2, out);
}

/* `key:`, `key: {}` or `key: []`: the lines come behind the key. */
static lt_status client_edit_fill_section(const lt_client_text *file, const lt_yaml_node *section, lt_str name,
                                          lt_json server, lt_buf *out, lt_err *err) {
  const char *line_end = lt_client_edit_line_end(file->text);
  size_t at = client_edit_line_at(file->text, section->key->line), next = client_edit_next_line(file->text, at);
  lt_str line = client_edit_line(file->text, at);
  size_t colon = lt_str_find(line, LT_STR(":"), 0);
  lt_str value = lt_str_trim(lt_str_sub(line, colon + 1, line.n));
  bool is_open = value.n == 0 || value.p[0] == '#', is_empty = lt_str_eqc(value, "{}") || lt_str_eqc(value, "[]");
  if (!lt_str_starts(line, lt_str_of(file->client->section)) || (!is_open && !is_empty)) {
    return client_edit_refuse(file, err);
  }
  client_edit_copy(file, 0, is_open ? next : at, out);
  if (is_empty) {
    lt_buf_printf(out, "%s:%s", file->client->section, line_end);
  }
  client_edit_put_lines(file, name, server, 2, out);
  lt_buf_add(out, lt_str_sub(file->text, next, file->text.n));
  return LT_OK;
}

static lt_status client_edit_append_lines(const lt_client_text *file, const lt_yaml_node *section, lt_str name,
                                          lt_json server, lt_buf *out, lt_err *err) {
  const lt_yaml_node *last = section->kids;
  size_t start;
  while (last->next != NULL) {
    last = last->next;
  }
  if (!client_edit_kid_start(file, last, &start)) {
    return client_edit_refuse(file, err);
  }
  size_t end = client_edit_block_end(file->text, start);
  client_edit_copy(file, 0, end, out);
  client_edit_put_lines(file, name, server, client_edit_column(file->text, start), out);
  lt_buf_add(out, lt_str_sub(file->text, end, file->text.n));
  return LT_OK;
}

static lt_status client_edit_replace_lines(const lt_client_text *file, const lt_yaml_node *old, lt_str name,
                                           lt_json server, lt_buf *out, lt_err *err) {
  size_t start;
  if (!client_edit_kid_start(file, old, &start)) {
    return client_edit_refuse(file, err);
  }
  size_t end = client_edit_block_end(file->text, start);
  lt_buf_add(out, lt_str_sub(file->text, 0, start));
  client_edit_put_lines(file, name, server, client_edit_column(file->text, start), out);
  lt_buf_add(out, lt_str_sub(file->text, end, file->text.n));
  return LT_OK;
}

lt_status lt_client_edit_put_yaml(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err) {
  const lt_yaml_node *section = lt_yaml_get(file->yaml, file->client->section);
  const lt_yaml_node *old = section != NULL ? client_edit_find(file, section, name) : NULL;
  if (section == NULL) {
    client_edit_add_section(file, name, server, out);
  } else if (old != NULL) {
    LT_TRY(client_edit_replace_lines(file, old, name, server, out, err));
  } else if (section->kids == NULL) {
    LT_TRY(client_edit_fill_section(file, section, name, server, out, err));
  } else {
    LT_TRY(client_edit_append_lines(file, section, name, server, out, err));
  }
  return lt_buf_check(out, err, "out of memory");
}

/* --- Taking out --------------------------------------------------------------------------------------------------- */

lt_status lt_client_edit_drop_yaml(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err) {
  const lt_yaml_node *section = lt_yaml_get(file->yaml, file->client->section);
  const lt_yaml_node *old = client_edit_find(file, section, name);
  size_t start;
  if (!client_edit_kid_start(file, old, &start)) {
    return client_edit_refuse(file, err);
  }
  size_t from = start, end = client_edit_block_end(file->text, start);
  size_t key = client_edit_line_at(file->text, section->key->line);
  bool is_alone = section->kids->next == NULL && client_edit_next_line(file->text, key) == start;
  from = is_alone && lt_str_ends(client_edit_line(file->text, key), LT_STR(":")) ? key : from;
  lt_buf_add(out, lt_str_sub(file->text, 0, from));
  lt_buf_add(out, lt_str_sub(file->text, end, file->text.n));
  return lt_buf_check(out, err, "out of memory");
}
