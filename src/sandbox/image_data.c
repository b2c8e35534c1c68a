#include <string.h>

#include "base/limits.h"
#include "sandbox/image.h"

extern const char lt_image_base_data[], lt_image_base_end[];
extern const char lt_image_web_data[], lt_image_web_end[];
extern const char lt_image_intl_data[], lt_image_intl_end[];
extern const char lt_image_strip_data[], lt_image_strip_end[];

extern const uint64_t lt_image_fingerprints[LT_IMAGE_KINDS];

lt_str lt_image_bytes(lt_image_kind kind) {
  static const struct {
    const char *data, *end;
  } images[LT_IMAGE_KINDS] = {
      [LT_IMAGE_BASE] = {lt_image_base_data, lt_image_base_end},
      [LT_IMAGE_WEB] = {lt_image_web_data, lt_image_web_end},
      [LT_IMAGE_INTL] = {lt_image_intl_data, lt_image_intl_end},
      [LT_IMAGE_STRIP] = {lt_image_strip_data, lt_image_strip_end},
  };
  return lt_str_from(images[kind].data, (size_t)(images[kind].end - images[kind].data));
}

lt_status lt_image_open_built_in(lt_image *image, lt_image_kind kind, lt_err *err) {
  return lt_image_open(image, &lt_qjs_module, lt_image_bytes(kind), lt_image_bytes(LT_IMAGE_BASE), err);
}

uint64_t lt_image_fingerprint(void) {
  return lt_str_hash(lt_str_from(lt_image_fingerprints, sizeof lt_image_fingerprints));
}
