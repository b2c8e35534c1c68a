#include "sandbox/image.h"

extern const char lt_image_base_data[], lt_image_base_end[];
extern const char lt_image_strip_data[], lt_image_strip_end[];

lt_str lt_image_base(void) {
  return lt_str_from(lt_image_base_data, (size_t)(lt_image_base_end - lt_image_base_data));
}

lt_str lt_image_strip(void) {
  return lt_str_from(lt_image_strip_data, (size_t)(lt_image_strip_end - lt_image_strip_data));
}
