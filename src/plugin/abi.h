/* Converts values of include/lathe_plugin.h to Lathe's own types, and back.
 *
 * A plugin may be built with an older or newer header: its structs state their size. Any thread.
 */
#ifndef LT_PLUGIN_ABI_H
#define LT_PLUGIN_ABI_H

#include <stdbool.h>

#include "base/str.h"
#include "lathe_plugin.h"

/* Copies a plugin's struct into one of `size` bytes; members that the plugin's header does not have become 0. False:
 * the plugin's size is below `least` or above LT_PLUGIN_STRUCT_BYTES. */
bool lt_abi_read_struct(void *ret, size_t size, size_t least, const void *plugin_struct);
/* A plugin's C string of at most `max` bytes as a view; {NULL, 0} for a longer one and for NULL. */
lt_str lt_abi_view_text(const char *text, size_t max);
/* Whether the text is a valid id of a plugin or a mode: 1 to LT_PLUGIN_ID_BYTES of a-z, 0-9 and "-". */
bool lt_abi_is_id(lt_str id);

static inline lt_str lt_abi_to_str(lathe_text text) {
  return (lt_str){text.p, text.n};
}
static inline lathe_text lt_abi_to_text(lt_str s) {
  return (lathe_text){s.p != NULL ? s.p : "", s.n};
}

#endif
