#include "json/jsonc.h"

/* One past the string that begins at `at`; the end of the text when it does not end. */
static size_t jsonc_string_end(lt_str text, size_t at) {
  for (size_t i = at + 1; i < text.n && text.p[i] != '\n'; i++) {
    if (text.p[i] == '"') {
      return i + 1;
    }
    i += text.p[i] == '\\';
  }
  return text.n;
}

/* One past the comment at `at`; `at` when there is none. */
static size_t jsonc_comment_end(lt_str text, size_t at) {
  lt_str rest = lt_str_sub(text, at, text.n);
  if (lt_str_starts(rest, LT_STR("//"))) {
    size_t end = lt_str_find(text, LT_STR("\n"), at);
    return end < text.n ? end : text.n;
  }
  if (lt_str_starts(rest, LT_STR("/*"))) {
    size_t end = lt_str_find(text, LT_STR("*/"), at + 2);
    return end < text.n ? end + 2 : at; /* it does not end: the parser shows the place */
  }
  return at;
}

static void jsonc_add_blanks(lt_str text, lt_buf *out) {
  for (size_t i = 0; i < text.n; i++) {
    lt_buf_byte(out, text.p[i] == '\n' || text.p[i] == '\r' ? text.p[i] : ' ');
  }
}

void lt_jsonc_blank_comments(lt_str text, lt_buf *out) {
  size_t at = lt_str_starts(text, LT_STR("\xEF\xBB\xBF")) ? 3 : 0;
  jsonc_add_blanks(lt_str_sub(text, 0, at), out);
  while (at < text.n) {
    size_t comment = jsonc_comment_end(text, at);
    size_t end = text.p[at] == '"' ? jsonc_string_end(text, at) : at + 1;
    if (comment > at) {
      jsonc_add_blanks(lt_str_sub(text, at, comment), out);
    } else {
      lt_buf_add(out, lt_str_sub(text, at, end));
    }
    at = comment > at ? comment : end;
  }
}

static bool jsonc_closes_next(lt_str text, size_t at) {
  while (at < text.n && strchr(" \t\r\n", text.p[at]) != NULL && text.p[at] != '\0') {
    at++;
  }
  return at < text.n && (text.p[at] == '}' || text.p[at] == ']');
}

void lt_jsonc_blank_commas(lt_str text, lt_buf *out) {
  for (size_t at = 0; at < text.n;) {
    size_t end = text.p[at] == '"' ? jsonc_string_end(text, at) : at + 1;
    if (text.p[at] == ',' && jsonc_closes_next(text, at + 1)) {
      lt_buf_byte(out, ' ');
    } else {
      lt_buf_add(out, lt_str_sub(text, at, end));
    }
    at = end;
  }
}
