/* Images that are packed: their difference to the plain image, by LZ4, whose decoder is faster than reading the plain
 * bytes from a disk.
 *
 * The plain image is not packed, since every process begins with it. The others begin nearly as it does (the engine and
 * the prelude), and would be half of the program's bytes.
 */
#ifndef LT_SANDBOX_IMAGE_PACKING_H
#define LT_SANDBOX_IMAGE_PACKING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/image_layout.h"

/* Makes the bytes of an image to their difference to those of the plain one, and that to the bytes again. `plain`: with
 * its header. What one of them has more stays as it is. All sizes are multiples of 8. */
static inline void lt_image_subtract(lt_str plain, uint8_t *bytes, size_t size) {
  for (size_t at = 0; at < size && LT_IMAGE_HEADER_BYTES + at < plain.n; at += sizeof(uint64_t)) {
    uint64_t word, of_plain;
    memcpy(&word, bytes + at, sizeof word);
    memcpy(&of_plain, plain.p + LT_IMAGE_HEADER_BYTES + at, sizeof of_plain);
    word ^= of_plain;
    memcpy(bytes + at, &word, sizeof word);
  }
}

/* Writes the `size` bytes of an image that was packed against `plain`. Errors: LT_E_INTERNAL (they are not that many,
 * or damaged). */
lt_status lt_image_unpack(lt_str packed, lt_str plain, uint8_t *bytes, size_t size, lt_err *err);

#endif
