/* Images: a guest's memory as it was when everything was loaded, frozen.
 *
 * Built once, at build time (mkimage.c), stored in the program, and mapped copy-on-write into every box. The layout on
 * disk is the header below, then the bytes from `start` to `size` of the memory; [0, start) is all zero (the shadow
 * stack).
 */
#ifndef LT_SANDBOX_IMAGE_H
#define LT_SANDBOX_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/module.h"

#define LT_IMAGE_MAGIC 0x474d494cu /* "LIMG" */
#define LT_IMAGE_ROOTS 16

/* What is stored in front of the bytes. Values of the machine that built it: an image is part of one build. */
typedef struct lt_image_header {
  uint32_t magic;
  uint32_t start; /* first byte that is stored; a multiple of 64 KiB */
  uint32_t size;  /* bytes of the memory; a multiple of 64 KiB */
  uint32_t stack_pointer;
  uint32_t random_state; /* address of the engine's 8-byte Math.random state: clones are reseeded there */
  uint32_t context;      /* the engine's context and runtime */
  uint32_t runtime;
  uint32_t scratch;               /* LT_SCRATCH_BYTES of the guest for arguments and results (guest.h) */
  uint64_t fingerprint;           /* of engine and prelude: journals name it */
  uint64_t roots[LT_IMAGE_ROOTS]; /* values the engine calls by hand: functions of the prelude */
} lt_image_header;

typedef struct lt_image {
  lt_image_header head;
  const lt_module *module;
  const uint8_t *bytes;     /* [start, size) */
  int fd;                   /* memory file with the same bytes, for mapping */
  void *instance;           /* template: copied into every clone */
  wasm_rt_funcref_t *table; /* shared by all clones: nothing changes it after it was made */
} lt_image;

/* Opens an image for cloning. Borrows: `data` (it is part of the program). Owns: the caller, lt_image_close.
 * Errors: LT_E_INTERNAL (not an image), LT_E_NOMEM, LT_E_IO. */
lt_status lt_image_open(lt_image *image, const lt_module *module, lt_str data, lt_err *err);
/* All boxes made from it must be gone. */
void lt_image_close(lt_image *image);

/* The images that are built into the program; base: QuickJS and the prelude; strip: the same with sucrase. */
lt_str lt_image_base(void);
lt_str lt_image_strip(void);

#endif
