#include "sandbox/image_packing.h"

#include <limits.h>
#include <lz4.h>

#include "sandbox/image.h"

lt_status lt_image_unpack(lt_str packed, uint8_t *bytes, size_t size, lt_err *err) {
  if (packed.n > INT_MAX || size > INT_MAX ||
      LZ4_decompress_safe(packed.p, (char *)bytes, (int)packed.n, (int)size) != (int)size) {
    return lt_fail(err, LT_E_INTERNAL, "the engine's image is damaged");
  }
  lt_image_subtract(lt_image_bytes(LT_IMAGE_BASE), bytes, size);
  return LT_OK;
}
