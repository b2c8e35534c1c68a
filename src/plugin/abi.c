/* Converts the values of include/lathe_plugin.h to those of Lathe. */
#include "plugin/abi.h"

#include <string.h>

#include "base/limits.h"

bool lt_abi_read_struct(void *ret, size_t size, size_t least, const void *plugin_struct) {
  size_t plugin_size = 0;
  if (plugin_struct == NULL) {
    return false;
  }
  memcpy(&plugin_size, plugin_struct, sizeof plugin_size);
  if (plugin_size < least || plugin_size > LT_PLUGIN_STRUCT_BYTES) {
    return false;
  }
  memset(ret, 0, size);
  memcpy(ret, plugin_struct, plugin_size < size ? plugin_size : size);
  return true;
}

lt_str lt_abi_view_text(const char *text, size_t max) {
  size_t n = text != NULL ? strnlen(text, max + 1) : 0;
  return text == NULL || n > max ? LT_STR_NULL : lt_str_from(text, n);
}

bool lt_abi_is_id(lt_str id) {
  for (size_t i = 0; i < id.n; i++) {
    char c = id.p[i];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
      return false;
    }
  }
  return id.n > 0 && id.n <= LT_PLUGIN_ID_BYTES;
}
