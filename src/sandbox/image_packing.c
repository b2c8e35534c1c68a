#include "sandbox/image_packing.h"

#include <limits.h>
#include <lz4.h>

lt_status lt_image_unpack(lt_str packed, lt_str plain, uint8_t *bytes, size_t size, lt_err *err) {
  if (packed.n > INT_MAX || size > INT_MAX ||
      LZ4_decompress_safe(packed.p, (char *)bytes, (int)packed.n, (int)size) != (int)size) {
    return lt_fail(err, LT_E_INTERNAL, "the engine's image is damaged");
  }
  lt_image_subtract(plain, bytes, size);
  return LT_OK;
}
