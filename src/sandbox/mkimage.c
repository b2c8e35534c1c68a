/* mkimage KIND OUT PROGRAMS INSPECT PRELUDE SCRIPT...: freezes the engine with its prelude and further scripts into an
 * image. Build time only. */
#include <lz4hc.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "sandbox/engine.h"
#include "sandbox/image.h"
#include "sandbox/image_packing.h"

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

/* An image is the same wherever it is built. */
static const char *mkimage_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool mkimage_find_kind(const char *name, lt_image_kind *ret_kind) {
  static const char *const names[LT_IMAGE_KINDS] = {"base", "web", "intl", "strip"};
  for (int i = 0; i < LT_IMAGE_KINDS; i++) {
    if (strcmp(name, names[i]) == 0) {
      *ret_kind = (lt_image_kind)i;
      return true;
    }
  }
  return false;
}

/* Appends the image with its bytes packed against the plain one's (image_packing.h). */
static bool mkimage_pack(lt_str plain, lt_buf *image, lt_buf *out) {
  lt_image_header head;
  memcpy(&head, image->p, sizeof head);
  char *bytes = image->p + sizeof head;
  int n = (int)(image->n - sizeof head), room = LZ4_compressBound(n);
  lt_image_subtract(plain, (uint8_t *)bytes, (size_t)n);
  lt_buf_add(out, lt_str_from(&head, sizeof head));
  char *packed = lt_buf_reserve(out, (size_t)room);
  if (packed == NULL) {
    return false;
  }
  head.packed = (uint32_t)LZ4_compress_HC(bytes, packed, n, room, LZ4HC_CLEVEL_MAX);
  lt_buf_commit(out, head.packed);
  memcpy(out->p, &head, sizeof head);
  return head.packed != 0;
}

int main(int argc, char **argv) {
  lt_image_kind kind;
  if (argc < 6 || argc - 4 > LT_ENGINE_SCRIPTS_MAX || !mkimage_find_kind(argv[1], &kind)) {
    fprintf(stderr, "usage: mkimage base|web|intl|strip OUT PROGRAMS INSPECT PRELUDE SCRIPT...\n");
    return 2;
  }
  static lt_buf texts[LT_ENGINE_SCRIPTS_MAX];
  lt_engine_script scripts[LT_ENGINE_SCRIPTS_MAX];
  size_t count = (size_t)(argc - 4);
  LT_AUTO_BUF(programs, LT_MIB);
  LT_AUTO_BUF(image, 64 * LT_MIB);
  LT_AUTO_BUF(plain, 64 * LT_MIB);
  LT_AUTO_BUF(packed, 64 * LT_MIB);
  LT_ERR_VAR(err);
  bool ok = mkimage_read_file(argv[3], &programs);
  for (size_t i = 0; i < count && ok; i++) {
    lt_buf_init(&texts[i], 16 * LT_MIB);
    ok = mkimage_read_file(argv[4 + i], &texts[i]);
    const char *file = mkimage_base_name(argv[4 + i]);
    /* Programs see the classes of the web. */
    bool has_classes = strcmp(file, "web.js") == 0;
    scripts[i] = (lt_engine_script){.file = lt_str_of(file), .text = lt_buf_view(&texts[i]), .keeps_text = has_classes};
  }
  /* Every process opens the plain image: it is not packed. */
  bool is_packed = kind != LT_IMAGE_BASE;
  if (ok &&
      (lt_engine_freeze(kind, scripts, count, lt_buf_view(&programs), &image, &err) != LT_OK ||
       (is_packed && lt_engine_freeze(LT_IMAGE_BASE, scripts, 2, lt_buf_view(&programs), &plain, &err) != LT_OK))) {
    fprintf(stderr, "mkimage: %s\n", lt_err_msg(&err));
    ok = false;
  }
  if (ok && is_packed && !mkimage_pack(lt_buf_view(&plain), &image, &packed)) {
    fprintf(stderr, "mkimage: the image cannot be packed\n");
    ok = false;
  }
  ok = ok && mkimage_write_file(argv[2], lt_buf_view(is_packed ? &packed : &image));
  for (size_t i = 0; i < count; i++) {
    lt_buf_release(&texts[i]);
  }
  return ok ? 0 : 1;
}
