/* Images that are packed: by LZ4, whose decoder is faster than reading the plain bytes from a disk.
 *
 * The plain image is not packed, since every process begins with it. The others would be half of the program's bytes.
 */
#ifndef LT_SANDBOX_IMAGE_PACKING_H
#define LT_SANDBOX_IMAGE_PACKING_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Writes the `size` bytes that were packed. Errors: LT_E_INTERNAL (they are not that many, or damaged). */
lt_status lt_image_unpack(lt_str packed, uint8_t *bytes, size_t size, lt_err *err);

#endif
