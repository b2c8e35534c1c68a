#include "serve/page_files.h"

#include <limits.h>

#include "base/file.h"

static const struct {
  const char *end, *type;
} page_types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

const char *lt_page_files_type(lt_str name) {
  for (size_t i = 0; i < sizeof page_types / sizeof page_types[0]; i++) {
    if (lt_str_ends(name, lt_str_of(page_types[i].end))) {
      return page_types[i].type;
    }
  }
  return NULL;
}

/* --- Embedded ----------------------------------------------------------------------------------------------------- */
typedef struct page_row {
  char name[48], hash[24];
  uint32_t at, bytes;
} page_row;

extern const page_row lt_page_rows[], lt_page_rows_end[]; /* page_data.S */
extern const char lt_page_data[], lt_page_sources[];

bool lt_page_files_find(lt_str name, lt_page_file *ret_file) {
  for (const page_row *row = lt_page_rows; row < lt_page_rows_end; row++) {
    if (lt_str_eqc(name, row->name)) {
      *ret_file = (lt_page_file){
          .type = lt_page_files_type(name), .hash = row->hash, .gzip = lt_str_from(lt_page_data + row->at, row->bytes)};
      return true;
    }
  }
  return false;
}

lt_str lt_page_files_sources(void) {
  return lt_str_of(lt_page_sources);
}

/* --- In a folder -------------------------------------------------------------------------------------------------- */
static bool page_is_plain_name(lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i], low = (char)(c | ' ');
    bool is_plain = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && i > 0);
    if (!is_plain) {
      return false;
    }
  }
  return name.n > 0;
}

lt_status lt_page_files_read(const char *folder, lt_str name, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(path, PATH_MAX);
  if (!page_is_plain_name(name)) {
    return lt_fail(err, LT_E_NOTFOUND, "the page has no such file");
  }
  lt_buf_printf(&path, "%s/%.*s", folder, LT_STR_ARG(name));
  LT_TRY(lt_buf_check(&path, err, "the name of the page's folder is too long"));
  return lt_file_read(path.p, out, err);
}
