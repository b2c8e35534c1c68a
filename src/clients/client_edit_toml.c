/* Edits TOML: a server is a table of its own, with a header line. */
#include "clients/client_edit.h"
#include "clients/client_print.h"

static bool client_edit_is_table_of(const lt_toml_table *table, const char *section, lt_str name) {
  return table->key_count >= 2 && lt_str_eqc(table->keys[0], section) && lt_str_eq(table->keys[1], name);
}

static const lt_toml_table *client_edit_table(const lt_client_text *file, lt_str name) {
  const lt_toml_table *table = file->tables;
  while (table != NULL && !client_edit_is_table_of(table, file->client->section, name)) {
    table = table->next;
  }
  return table;
}

static void client_edit_put_table(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out) {
  const char *line_end = lt_client_edit_line_end(file->text);
  lt_buf_printf(out, "[%s.", file->client->section);
  lt_client_print_toml_key(name, out);
  lt_buf_printf(out, "]%s", line_end);
  lt_client_print_toml(server, line_end, out);
}

static bool client_edit_is_line_break(lt_str text, size_t at) {
  return at > 0 && text.p[at - 1] == '\n';
}

/* The text without the server's tables. `ret_at`: where the first of them was. */
static void client_edit_cut_tables(const lt_client_text *file, lt_str name, lt_buf *out, size_t *ret_at) {
  size_t done = 0;
  *ret_at = SIZE_MAX;
  for (const lt_toml_table *table = file->tables; table != NULL; table = table->next) {
    if (client_edit_is_table_of(table, file->client->section, name)) {
      lt_buf_add(out, lt_str_sub(file->text, done, table->start));
      *ret_at = *ret_at == SIZE_MAX ? out->n : *ret_at;
      done = table->end;
    }
  }
  lt_buf_add(out, lt_str_sub(file->text, done, file->text.n));
}

lt_status lt_client_edit_put_toml(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err) {
  const char *line_end = lt_client_edit_line_end(file->text);
  LT_AUTO_BUF(rest, LT_CLIENT_FILE_BYTES);
  size_t at;
  if (client_edit_table(file, name) != NULL) {
    client_edit_cut_tables(file, name, &rest, &at);
    lt_buf_add(out, lt_str_sub(lt_buf_view(&rest), 0, at));
    client_edit_put_table(file, name, server, out);
    lt_buf_add(out, lt_str_sub(lt_buf_view(&rest), at, rest.n));
    return lt_buf_check(out, err, "out of memory");
  }
  lt_buf_add(out, file->text);
  lt_buf_addc(out, file->text.n > 0 && !client_edit_is_line_break(file->text, file->text.n) ? line_end : "");
  lt_buf_addc(out, file->text.n > 0 ? line_end : "");
  client_edit_put_table(file, name, server, out);
  return lt_buf_check(out, err, "out of memory");
}

/* The blank line before a table that was put at the end goes with it. */
lt_status lt_client_edit_drop_toml(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(rest, LT_CLIENT_FILE_BYTES);
  size_t at, blank = strlen(lt_client_edit_line_end(file->text));
  if (client_edit_table(file, name) == NULL) {
    return lt_fail(err, LT_E_CONFIG, "%s: the server \"%.*s\" has no table [%s.NAME] of its own: take it out by hand",
                   file->path, LT_STR_ARG(name), file->client->section);
  }
  client_edit_cut_tables(file, name, &rest, &at);
  lt_str before = lt_str_sub(lt_buf_view(&rest), 0, at), behind = lt_str_sub(lt_buf_view(&rest), at, rest.n);
  bool has_blank = at > blank && client_edit_is_line_break(before, at) && client_edit_is_line_break(before, at - blank);
  bool is_end = behind.n == 0 || behind.p[0] == '\n' || behind.p[0] == '\r';
  lt_buf_add(out, lt_str_sub(before, 0, has_blank && is_end ? at - blank : at));
  lt_buf_add(out, behind);
  return lt_buf_check(out, err, "out of memory");
}
