/* mkimage PRELUDE [SCRIPT] OUT: freezes the engine with its prelude (and a script) into an image. Build time only. */
#include <stdio.h>

#include "base/buf.h"
#include "sandbox/engine.h"

static bool mkimage_read_file(const char *path, lt_buf *out) {
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

static bool mkimage_write_file(const char *path, lt_str bytes) {
  FILE *file = fopen(path, "wb");
  bool ok = file != NULL && fwrite(bytes.p, 1, bytes.n, file) == bytes.n;
  if (file == NULL || fclose(file) != 0 || !ok) {
    perror(path);
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: mkimage PRELUDE [SCRIPT] OUT\n");
    return 2;
  }
  LT_AUTO_BUF(prelude, 16 * LT_MIB);
  LT_AUTO_BUF(script, 16 * LT_MIB);
  LT_AUTO_BUF(image, 64 * LT_MIB);
  lt_err err = LT_ERR_INIT;
  bool ok = mkimage_read_file(argv[1], &prelude) && (argc == 3 || mkimage_read_file(argv[2], &script));
  if (ok && lt_engine_freeze(lt_buf_view(&prelude), lt_buf_view(&script), &image, &err) != LT_OK) {
    fprintf(stderr, "mkimage: %s\n", lt_err_msg(&err));
    ok = false;
  }
  ok = ok && mkimage_write_file(argv[argc - 1], lt_buf_view(&image));
  return ok ? 0 : 1;
}
