/* Edits JSON with comments. Offsets are the same in the file's text, in the text without comments and in the document.
 */
#include "clients/client_edit.h"
#include "clients/client_print.h"

/* A member of an object, by offsets. */
typedef struct json_member {
  size_t start, end; /* from its key to the end of its value */
  size_t comma;      /* the one behind it, or SIZE_MAX */
  bool is_found, is_first, is_last;
  size_t before_comma; /* the one between the member before it and it, or SIZE_MAX */
} json_member;

static size_t client_edit_start(lt_json v) {
  return v.doc->nodes[v.at].start;
}

static size_t client_edit_end(lt_json v) {
  return v.doc->nodes[v.at].end;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static bool client_edit_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* The offset of the line's first byte. */
static size_t client_edit_line_start(lt_str text, size_t at) {
  while (at > 0 && text.p[at - 1] != '\n') {
    at--;
  }
  return at;
}

/* Whether only blanks are before `at` on its line. */
static bool client_edit_begins_line(lt_str text, size_t at) {
  size_t i = client_edit_line_start(text, at);
  while (i < at && client_edit_is_blank(text.p[i])) {
    i++;
  }
  return i == at;
}

/* The blanks at the start of the line of `at`. */
static lt_str client_edit_indent(lt_str text, size_t at) {
  size_t from = client_edit_line_start(text, at), i = from;
  while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t')) {
    i++;
  }
  return lt_str_sub(text, from, i);
}

/* The end of the line, before its line break, when nothing but a comment stands between; else `at`. */
static size_t client_edit_rest_of_line(const lt_client_text *file, size_t at) {
  size_t i = at;
  while (i < file->commentless.n && client_edit_is_blank(file->commentless.p[i])) {
    i++;
  }
  if (i < file->commentless.n && file->commentless.p[i] != '\n') {
    return at;
  }
  return i > at && i <= file->text.n && file->text.p[i - 1] == '\r' ? i - 1 : i;
}

/* The comma behind `at`, or SIZE_MAX. */
static size_t client_edit_comma(const lt_client_text *file, size_t at) {
  while (at < file->commentless.n &&
         (client_edit_is_blank(file->commentless.p[at]) || file->commentless.p[at] == '\n')) {
    at++;
  }
  return at < file->commentless.n && file->commentless.p[at] == ',' ? at : SIZE_MAX;
}

/* --- Members ------------------------------------------------------------------------------------------------------ */

/* The member of that name; NULL: the last one. */
static json_member client_edit_member(const lt_client_text *file, lt_json object, const lt_str *name) {
  json_member member = {.is_found = false, .comma = SIZE_MAX, .before_comma = SIZE_MAX};
  uint32_t index = 0;
  size_t comma = SIZE_MAX;
  for (lt_json_iter it = lt_json_each(object); lt_json_next(&it); index++) {
    size_t before = comma, end = client_edit_end(it.value);
    comma = client_edit_comma(file, end);
    if (name == NULL || lt_json_str_eq(it.key, *name)) {
      member = (json_member){.start = client_edit_start(it.key),
                             .end = end,
                             .comma = comma,
                             .is_found = true,
                             .is_first = index == 0,
                             .is_last = index + 1 == lt_json_count(object),
                             .before_comma = before};
    }
  }
  return member;
}

static lt_str client_edit_unit(const lt_client_text *file) {
  json_member member = client_edit_member(file, lt_json_root(&file->doc), NULL);
  lt_str indent = member.is_found && client_edit_begins_line(file->text, member.start)
                      ? client_edit_indent(file->text, member.start)
                      : LT_STR_NULL;
  return indent.n > 0 ? indent : LT_STR("  ");
}

/* --- Putting in --------------------------------------------------------------------------------------------------- */

/* A new member: its key and value, or the section with this one server. */
typedef struct json_addition {
  lt_str key;
  lt_json value;
  lt_str section; /* not empty: the member is this section, with `key` in it */
  bool is_one_line;
} json_addition;

static void client_edit_put_key(lt_str key, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_put_str(&w, key);
  lt_buf_addc(out, ": ");
}

static void client_edit_put_value(const lt_client_text *file, const json_addition *add, lt_str base, lt_buf *out) {
  const lt_client_layout layout = {base, client_edit_unit(file), lt_client_edit_line_end(file->text)};
  client_edit_put_key(add->key, out);
  if (add->is_one_line) {
    lt_json_compact(add->value, out);
  } else {
    lt_client_print_json(add->value, &layout, out);
  }
}

static void client_edit_put_member(const lt_client_text *file, const json_addition *add, lt_str base, lt_buf *out) {
  const char *line_end = add->is_one_line ? "" : lt_client_edit_line_end(file->text);
  LT_AUTO_BUF(inner, LT_KIB);
  if (add->section.n == 0) {
    client_edit_put_value(file, add, base, out);
    return;
  }
  lt_buf_add(&inner, base);
  lt_buf_add(&inner, client_edit_unit(file));
  client_edit_put_key(add->section, out);
  lt_buf_printf(out, "{%s", line_end);
  lt_buf_add(out, add->is_one_line ? LT_STR_NULL : lt_buf_view(&inner));
  client_edit_put_value(file, add, lt_buf_view(&inner), out);
  lt_buf_addc(out, line_end);
  lt_buf_add(out, add->is_one_line ? LT_STR_NULL : base);
  lt_buf_byte(out, '}');
}

static void client_edit_add_text(const lt_client_text *file, size_t from, size_t to, lt_buf *out) {
  lt_buf_add(out, lt_str_sub(file->text, from, to));
}

/* Behind the last member. On a line of its own, where that one has it; a comment behind that one stays there. */
static void client_edit_append(const lt_client_text *file, const json_member *last, json_addition *add, lt_buf *out) {
  bool has_lines = client_edit_begins_line(file->text, last->start);
  size_t behind = last->comma != SIZE_MAX ? last->comma + 1 : last->end;
  add->is_one_line = !has_lines;
  client_edit_add_text(file, 0, last->end, out);
  lt_buf_addc(out, last->comma != SIZE_MAX ? "" : ",");
  size_t at = has_lines ? client_edit_rest_of_line(file, behind) : behind;
  client_edit_add_text(file, last->end, at, out);
  lt_str base = client_edit_indent(file->text, last->start);
  lt_buf_addc(out, has_lines ? lt_client_edit_line_end(file->text) : " ");
  lt_buf_add(out, has_lines ? base : LT_STR_NULL);
  client_edit_put_member(file, add, base, out);
  lt_buf_addc(out, last->comma != SIZE_MAX ? "," : "");
  client_edit_add_text(file, at, file->text.n, out);
}

/* Into an object without members: before its brace, comments in it stay. */
static void client_edit_fill(const lt_client_text *file, lt_json object, json_addition *add, lt_buf *out) {
  const char *line_end = lt_client_edit_line_end(file->text);
  size_t open = client_edit_start(object), close = client_edit_end(object) - 1;
  lt_str outer = client_edit_indent(file->text, open);
  bool is_blank = lt_str_trim(lt_str_sub(file->text, open + 1, close)).n == 0;
  size_t from = is_blank ? open + 1 : close;
  while (!is_blank && from > open + 1 &&
         (client_edit_is_blank(file->text.p[from - 1]) || file->text.p[from - 1] == '\n')) {
    from--;
  }
  LT_AUTO_BUF(base, LT_KIB);
  lt_buf_add(&base, outer);
  lt_buf_add(&base, client_edit_unit(file));
  client_edit_add_text(file, 0, from, out);
  lt_buf_addc(out, line_end);
  lt_buf_add(out, lt_buf_view(&base));
  client_edit_put_member(file, add, lt_buf_view(&base), out);
  lt_buf_addc(out, line_end);
  lt_buf_add(out, outer);
  client_edit_add_text(file, close, file->text.n, out);
}

static void client_edit_replace(const lt_client_text *file, lt_json old, lt_json server, lt_buf *out) {
  lt_str base = client_edit_indent(file->text, client_edit_start(old));
  const lt_client_layout layout = {base, client_edit_unit(file), lt_client_edit_line_end(file->text)};
  bool is_one_line = lt_str_find(lt_json_text(old), LT_STR("\n"), 0) == SIZE_MAX &&
                     lt_str_find(file->text, LT_STR("\n"), 0) >= file->text.n - 1;
  client_edit_add_text(file, 0, client_edit_start(old), out);
  if (is_one_line) {
    lt_json_compact(server, out);
  } else {
    lt_client_print_json(server, &layout, out);
  }
  client_edit_add_text(file, client_edit_end(old), file->text.n, out);
}

/* A file without any object. */
static void client_edit_begin(const lt_client_text *file, json_addition *add, lt_buf *out) {
  bool needs_break = file->text.n > 0 && file->text.p[file->text.n - 1] != '\n';
  lt_buf_add(out, file->text);
  lt_buf_addc(out, needs_break ? "\n{\n  " : "{\n  ");
  client_edit_put_member(file, add, LT_STR("  "), out);
  lt_buf_addc(out, "\n}\n");
}

lt_status lt_client_edit_put_json(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err) {
  lt_json old = lt_client_text_server(file, name), root = lt_json_root(&file->doc);
  bool has_section = lt_json_exists(file->section);
  json_addition add = {.key = name, .value = server};
  add.section = has_section ? LT_STR_NULL : lt_str_of(file->client->section);
  lt_json object = has_section ? file->section : root;
  json_member last = client_edit_member(file, object, NULL);
  if (lt_json_exists(old)) {
    client_edit_replace(file, old, server, out);
  } else if (lt_str_trim(file->commentless).n == 0) {
    client_edit_begin(file, &add, out);
  } else if (last.is_found) {
    client_edit_append(file, &last, &add, out);
  } else {
    client_edit_fill(file, object, &add, out);
  }
  return lt_buf_check(out, err, "out of memory");
}

/* --- Taking out --------------------------------------------------------------------------------------------------- */

/* From where the member's line begins, its line break included; or the member itself, when it shares its line. */
static size_t client_edit_cut_start(const lt_client_text *file, const json_member *member) {
  if (!client_edit_begins_line(file->text, member->start)) {
    return member->before_comma != SIZE_MAX ? member->before_comma + 1 : member->start;
  }
  size_t at = client_edit_line_start(file->text, member->start);
  at -= at > 0 ? 1 : 0;
  return at > 0 && file->text.p[at - 1] == '\r' ? at - 1 : at;
}

/* The only member: the object becomes {}, if nothing else is in it. */
static void client_edit_empty(const lt_client_text *file, lt_json object, const json_member *member, lt_buf *out) {
  size_t from = client_edit_cut_start(file, member), open = client_edit_start(object),
         close = client_edit_end(object) - 1;
  size_t to = member->comma != SIZE_MAX ? member->comma + 1 : member->end;
  bool is_empty = lt_str_trim(lt_str_sub(file->text, open + 1, from)).n == 0 &&
                  lt_str_trim(lt_str_sub(file->text, to, close)).n == 0;
  client_edit_add_text(file, 0, is_empty ? open + 1 : from, out);
  client_edit_add_text(file, is_empty ? close : to, file->text.n, out);
}

static void client_edit_cut(const lt_client_text *file, lt_json object, const json_member *member, lt_buf *out) {
  size_t from = client_edit_cut_start(file, member);
  if (member->is_first && member->is_last) {
    client_edit_empty(file, object, member, out);
    return;
  }
  if (member->is_last && member->comma == SIZE_MAX) { /* the comma before it goes, too */
    client_edit_add_text(file, 0, member->before_comma, out);
    client_edit_add_text(file, member->before_comma + 1, from, out);
    client_edit_add_text(file, member->end, file->text.n, out);
    return;
  }
  client_edit_add_text(file, 0, from, out);
  client_edit_add_text(file, member->comma + 1, file->text.n, out);
}

/* Whether putting the server into `made` gives the file again: then the section was made for it. */
static bool client_edit_was_made_from(const lt_client_text *file, lt_str name, const lt_buf *made) {
  LT_AUTO_BUF(again, LT_CLIENT_FILE_BYTES);
  lt_client_text before;
  bool is_same = lt_client_text_read(file->client, file->path, lt_buf_view(made), &before, NULL) == LT_OK &&
                 lt_client_edit_put_json(&before, name, lt_client_text_server(file, name), &again, NULL) == LT_OK &&
                 lt_str_eq(lt_buf_view(&again), file->text);
  lt_client_text_release(&before);
  return is_same;
}

lt_status lt_client_edit_drop_json(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err) {
  const lt_str section = lt_str_of(file->client->section);
  json_member server = client_edit_member(file, file->section, &name);
  json_member around = client_edit_member(file, lt_json_root(&file->doc), &section);
  if (server.is_first && server.is_last) {
    client_edit_cut(file, lt_json_root(&file->doc), &around, out);
    if (client_edit_was_made_from(file, name, out)) {
      return lt_buf_check(out, err, "out of memory");
    }
    lt_buf_clear(out);
  }
  client_edit_cut(file, file->section, &server, out);
  return lt_buf_check(out, err, "out of memory");
}
