#include <string.h>

#include "base/limits.h"
#include "sandbox/image.h"

extern const char lt_image_base_data[], lt_image_base_end[];
extern const char lt_image_web_data[], lt_image_web_end[];
extern const char lt_image_intl_data[], lt_image_intl_end[];
extern const char lt_image_strip_data[], lt_image_strip_end[];

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

uint64_t lt_image_fingerprint(void) {
  uint64_t each[LT_IMAGE_KINDS];
  for (unsigned kind = 0; kind < LT_IMAGE_KINDS; kind++) {
    lt_image_header head;
    memcpy(&head, lt_image_bytes((lt_image_kind)kind).p, sizeof head);
    each[kind] = head.fingerprint;
  }
  return lt_str_hash(lt_str_from(each, sizeof each));
}
