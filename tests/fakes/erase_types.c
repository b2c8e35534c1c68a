/* erase_types FILE...: writes each program of TypeScript without its types to FILE.js, if the eraser is sure of it. For
 * tests/flow/compare_types.mjs. */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "js/tserase.h"

static bool read_file(const char *path, lt_buf *out) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return false;
  }
  char bytes[65536];
  size_t n;
  while ((n = fread(bytes, 1, sizeof bytes, file)) > 0) {
    lt_buf_add(out, lt_str_from(bytes, n));
  }
  fclose(file);
  return out->status == LT_OK;
}

static bool write_beside(const char *path, lt_str text) {
  LT_AUTO_BUF(name, 4 * LT_KIB);
  lt_buf_printf(&name, "%s.js", path);
  FILE *file = name.status == LT_OK ? fopen(name.p, "wb") : NULL;
  bool is_written = file != NULL && fwrite(text.p, 1, text.n, file) == text.n;
  return file != NULL && fclose(file) == 0 && is_written;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    LT_AUTO_BUF(source, LT_RUN_CODE_MAX_BYTES);
    LT_AUTO_BUF(out, LT_RUN_CODE_MAX_BYTES);
    if (!read_file(argv[i], &source)) {
      return 1;
    }
    lt_tserase_end end = lt_tserase_program(lt_buf_view(&source), &out);
    const lt_buf *left = end == LT_TSERASE_NOTHING ? &source : &out;
    if (end != LT_TSERASE_UNSURE && !write_beside(argv[i], lt_buf_view(left))) {
      return 1;
    }
  }
  return 0;
}
