#include "clients/client_edit.h"

const char *lt_client_edit_line_end(lt_str text) {
  size_t end = lt_str_find(text, LT_STR("\n"), 0);
  return end < text.n && end > 0 && text.p[end - 1] == '\r' ? "\r\n" : "\n";
}
