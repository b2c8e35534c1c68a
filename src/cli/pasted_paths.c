#include "cli/pasted_paths.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "text/pair_list.h"

static bool pasted_is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/* Reads a path as a shell has it. Returns where the text goes on. */
static size_t pasted_read_path(lt_str text, size_t at, lt_buf *path) {
  char quote = '\0';
  for (; at < text.n && (quote != '\0' || !pasted_is_space(text.p[at])); at++) {
    char c = text.p[at];
    if (quote == '\0' ? c == '\'' || c == '"' : c == quote) {
      quote = quote == '\0' ? c : '\0';
    } else if (c == '\\' && quote != '\'' && at + 1 < text.n) {
      lt_buf_byte(path, text.p[++at]);
    } else {
      lt_buf_byte(path, c);
    }
  }
  return at;
}

/* RFC 8089: file:///PATH or file://localhost/PATH. An address of anything else gives no path. */
static size_t pasted_read_address(lt_str text, size_t at, lt_buf *path) {
  size_t end = at;
  while (end < text.n && !pasted_is_space(text.p[end])) {
    end++;
  }
  lt_str address = lt_str_sub(text, at, end);
  static const char *const begins[] = {"file://localhost", "file://"};
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
    if (path->n == 0 && lt_str_starts(address, lt_str_of(begins[i]))) {
      lt_pair_list_decode(lt_str_sub(address, strlen(begins[i]), address.n), path);
    }
  }
  return end;
}

static bool pasted_is_picture(lt_str path) {
  static const char *const endings[] = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    size_t n = strlen(endings[i]);
    if (path.n > n && strncasecmp(path.p + path.n - n, endings[i], n) == 0) {
      return true;
    }
  }
  return false;
}

/* A relative path is a word of a sentence as well. */
static bool pasted_is_file(lt_buf *path) {
  struct stat about;
  lt_str view = lt_buf_view(path);
  bool may_be = lt_str_starts(view, LT_STR("/")) && pasted_is_picture(view) && memchr(view.p, '"', view.n) == NULL &&
                memchr(view.p, '\0', view.n) == NULL;
  lt_buf_byte(path, '\0');
  bool is_there = may_be && path->status == LT_OK && stat(path->p, &about) == 0 && S_ISREG(about.st_mode);
  lt_buf_cut(path, view.n);
  return is_there;
}

/* @PATH as a word of its own, whatever is before it in the line; @"PATH" where a space would end it. */
static void pasted_add_named(lt_str path, lt_buf *out) {
  bool has_space = false;
  for (size_t i = 0; i < path.n; i++) {
    has_space = has_space || pasted_is_space(path.p[i]);
  }
  lt_buf_addc(out, out->n == 0 ? " @" : "@");
  lt_buf_addc(out, has_space ? "\"" : "");
  lt_buf_add(out, path);
  lt_buf_addc(out, has_space ? "\" " : " ");
}

void lt_pasted_paths_attach(lt_buf *text) {
  LT_AUTO_BUF(named, LT_INPUT_LINE_BYTES);
  LT_AUTO_BUF(path, LT_INPUT_LINE_BYTES);
  lt_str pasted = lt_buf_view(text);
  size_t at = 0;
  while (at < pasted.n) {
    if (pasted_is_space(pasted.p[at])) {
      at++;
      continue;
    }
    lt_buf_clear(&path);
    bool is_address = lt_str_starts(lt_str_sub(pasted, at, pasted.n), LT_STR("file:"));
    at = is_address ? pasted_read_address(pasted, at, &path) : pasted_read_path(pasted, at, &path);
    if (path.status != LT_OK || !pasted_is_file(&path)) {
      return;
    }
    pasted_add_named(lt_buf_view(&path), &named);
  }
  if (named.n > 0 && named.status == LT_OK) {
    lt_buf_clear(text);
    lt_buf_add(text, lt_buf_view(&named));
  }
}
