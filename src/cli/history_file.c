#include "cli/history_file.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "store/store.h"

char *lt_history_file_path(const char *name) {
  LT_AUTO_BUF(path, 4 * LT_KIB);
  if (lt_store_default_path(&path, NULL) != LT_OK || path.status != LT_OK) {
    return NULL;
  }
  while (path.n > 0 && path.p[path.n - 1] != '/') {
    path.n--;
  }
  lt_buf_addc(&path, name);
  char *text = lt_buf_take(&path, NULL);
  if (text != NULL) {
    lt_file_make_folders(text);
  }
  return text;
}
