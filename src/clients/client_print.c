#include "clients/client_print.h"

/* Names are short here; one that has escapes is written as it stands. */
static lt_str client_print_key_of(lt_json key) {
  lt_str quoted = lt_json_text(key);
  return lt_str_sub(quoted, 1, quoted.n > 0 ? quoted.n - 1 : 0);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void client_print_json_list(lt_json list, lt_buf *out) {
  const char *between = "";
  lt_buf_byte(out, '[');
  for (lt_json_iter it = lt_json_each(list); lt_json_next(&it); between = ", ") {
    lt_buf_addc(out, between);
    lt_json_compact(it.value, out);
  }
  lt_buf_byte(out, ']');
}

static void client_print_json_indent(const lt_client_layout *layout, unsigned depth, lt_buf *out) {
  lt_buf_addc(out, layout->line_end);
  lt_buf_add(out, layout->base);
  for (unsigned i = 0; i < depth; i++) {
    lt_buf_add(out, layout->unit);
  }
}

/* At most as deep as a JSON document may be. */
static void client_print_json_value(lt_json value, const lt_client_layout *layout, unsigned depth, lt_buf *out) {
  const char *between = "";
  if (lt_json_typeof(value) == LT_JSON_ARRAY) {
    client_print_json_list(value, out);
    return;
  }
  if (lt_json_typeof(value) != LT_JSON_OBJECT || lt_json_count(value) == 0) {
    lt_json_compact(value, out);
    return;
  }
  lt_buf_byte(out, '{');
  for (lt_json_iter it = lt_json_each(value); lt_json_next(&it); between = ",") {
    lt_buf_addc(out, between);
    client_print_json_indent(layout, depth + 1, out);
    lt_buf_add(out, lt_json_text(it.key));
    lt_buf_addc(out, ": ");
    client_print_json_value(it.value, layout, depth + 1, out);
  }
  client_print_json_indent(layout, depth, out);
  lt_buf_byte(out, '}');
}

void lt_client_print_json(lt_json value, const lt_client_layout *layout, lt_buf *out) {
  client_print_json_value(value, layout, 0, out);
}

/* --- YAML --------------------------------------------------------------------------------------------------------- */

static bool client_print_is_word(lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-'))) {
      return false;
    }
  }
  return text.n > 0;
}

/* YAML 1.1 reads these as something else. */
static bool client_print_is_reserved(lt_str text) {
  static const char *const words[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", NULL};
  for (size_t i = 0; words[i] != NULL; i++) {
    if (lt_str_eq_fold(text, lt_str_of(words[i]))) {
      return true;
    }
  }
  return false;
}

void lt_client_print_yaml_key(lt_str key, lt_buf *out) {
  bool is_plain = client_print_is_word(key) && !client_print_is_reserved(key);
  lt_buf_addc(out, is_plain ? "" : "\"");
  lt_buf_add(out, key);
  lt_buf_addc(out, is_plain ? "" : "\"");
}

void lt_client_print_yaml(lt_json object, size_t indent, bool has_dash, const char *line_end, lt_buf *out) {
  bool is_first = true;
  for (lt_json_iter it = lt_json_each(object); lt_json_next(&it); is_first = false) {
    bool is_item = has_dash && is_first;
    lt_buf_printf(out, "%*s%s", (int)(is_item ? indent - 2 : indent), "", is_item ? "- " : "");
    lt_client_print_yaml_key(client_print_key_of(it.key), out);
    lt_buf_byte(out, ':');
    if (lt_json_typeof(it.value) == LT_JSON_OBJECT && lt_json_count(it.value) > 0) {
      lt_buf_addc(out, line_end);
      lt_client_print_yaml(it.value, indent + 2, false, line_end, out);
      continue;
    }
    lt_buf_byte(out, ' ');
    if (lt_json_typeof(it.value) == LT_JSON_ARRAY) {
      client_print_json_list(it.value, out);
    } else {
      lt_json_compact(it.value, out);
    }
    lt_buf_addc(out, line_end);
  }
}

/* --- TOML --------------------------------------------------------------------------------------------------------- */

void lt_client_print_toml_key(lt_str key, lt_buf *out) {
  lt_buf_addc(out, client_print_is_word(key) ? "" : "\"");
  lt_buf_add(out, key);
  lt_buf_addc(out, client_print_is_word(key) ? "" : "\"");
}

static void client_print_toml_value(lt_json value, lt_buf *out) {
  const char *between = " ";
  if (lt_json_typeof(value) == LT_JSON_ARRAY) {
    client_print_json_list(value, out);
    return;
  }
  if (lt_json_typeof(value) != LT_JSON_OBJECT) {
    lt_json_compact(value, out);
    return;
  }
  lt_buf_byte(out, '{');
  for (lt_json_iter it = lt_json_each(value); lt_json_next(&it); between = ", ") {
    lt_buf_addc(out, between);
    lt_client_print_toml_key(client_print_key_of(it.key), out);
    lt_buf_addc(out, " = ");
    client_print_toml_value(it.value, out);
  }
  lt_buf_addc(out, lt_json_count(value) > 0 ? " }" : "}");
}

void lt_client_print_toml(lt_json object, const char *line_end, lt_buf *out) {
  for (lt_json_iter it = lt_json_each(object); lt_json_next(&it);) {
    lt_client_print_toml_key(client_print_key_of(it.key), out);
    lt_buf_addc(out, " = ");
    client_print_toml_value(it.value, out);
    lt_buf_addc(out, line_end);
  }
}
