/* Images: a guest's memory, frozen after everything was loaded.
 *
 * Built once, at build time (mkimage.c), stored in the program, and mapped copy-on-write into every box. The layout on
 * disk is the header below, then the bytes from `start` to `size` of the memory, packed or not; [0, start) is all zero
 * (the shadow stack).
 */
#ifndef LT_SANDBOX_IMAGE_H
#define LT_SANDBOX_IMAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/image_choice.h"
#include "sandbox/image_layout.h"
#include "sandbox/wasm_module.h"

#define LT_IMAGE_MAGIC 0x474d494cu /* "LIMG" */
#define LT_IMAGE_ROOTS 16

/* The header before the bytes, in the byte order of the building machine: an image belongs to one build. */
typedef struct lt_image_header {
  uint32_t magic;
  uint32_t start;  /* first byte that is stored; a multiple of 64 KiB */
  uint32_t size;   /* bytes of the memory; a multiple of 64 KiB */
  uint32_t packed; /* bytes after the header, when they are packed (image_packing.h); 0: they are not */
  uint32_t extra;  /* bytes of `size` that the scripts after the prelude needed: a program's memory limit does not count
                      them */
  uint32_t stack_pointer;
  uint32_t random_state; /* address of the engine's 8-byte Math.random state: every box is reseeded there */
  uint32_t context;      /* the engine's context and runtime */
  uint32_t runtime;
  uint32_t scratch;               /* LT_SCRATCH_BYTES of the guest for arguments and results (guest.h) */
  uint32_t to_json;               /* the engine's atom of the name toJSON */
  uint64_t fingerprint;           /* of engine and scripts */
  uint64_t roots[LT_IMAGE_ROOTS]; /* values the engine calls by hand: functions of the prelude */
} lt_image_header;

_Static_assert(sizeof(lt_image_header) == LT_IMAGE_HEADER_BYTES &&
                   offsetof(lt_image_header, fingerprint) == LT_IMAGE_FINGERPRINT_AT,
               "image_layout.h says how a header lies in the program");

/* The pages of the image that programs write to, learnt from the first boxes whose programs wait, and from the first
 * ones that are cleaned. A new box gets its own copies of these pages at once, which costs less than one fault per
 * page. It saves even more for pages that were read before, or mapped beside one that was: their fault would interrupt
 * every other processor. */
#define LT_IMAGE_SAMPLES 8
typedef struct lt_image_hot {
  _Atomic uint32_t waiting; /* samples of programs that wait: those that begin at once are learnt from, too */
  _Atomic uint32_t samples; /* of boxes that are cleaned */
  _Atomic uint8_t dirty[];  /* by page: in how many of the samples */
} lt_image_hot;

typedef struct lt_image {
  lt_image_header head;
  const lt_module *module;
  const uint8_t *bytes; /* [start, size): part of the program, or the file's mapping */
  void *mapping;        /* of a packed image; else NULL */
  int fd;               /* file with the same bytes, for mapping: the program's, or in memory */
  off_t offset;         /* where they begin in it */
  int page_map;         /* of the process, to see which pages of a box are its own; -1: there is none */
  lt_image_hot *hot;
  const void *instance; /* the module's template (wasm_rt.h): copied into every clone */
} lt_image;

/* Opens an image for cloning. `plain`: the image that a packed one was packed against; NULL: none is packed. Borrows:
 * `data`, until lt_image_close. Owns: the caller, lt_image_close. Errors: LT_E_INTERNAL (not an image), LT_E_NOMEM,
 * LT_E_IO. */
lt_status lt_image_open(lt_image *image, const lt_module *module, lt_str data, lt_str plain, lt_err *err);
/* All boxes made from the image must be freed before. */
void lt_image_close(lt_image *image);

/* An image that is built into the program, and the same opened: as lt_image_open. */
lt_str lt_image_bytes(lt_image_kind kind);
lt_status lt_image_open_built_in(lt_image *image, lt_image_kind kind, lt_err *err);
/* One number for all images that are built into the program: journals name it. */
uint64_t lt_image_fingerprint(void);

#endif
