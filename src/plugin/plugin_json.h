/* The host functions for plugins without a JSON library. Returned texts belong to the call. */
#ifndef LT_PLUGIN_PLUGIN_JSON_H
#define LT_PLUGIN_PLUGIN_JSON_H

#include <stdarg.h>

#include "plugin/plugin_call.h"

lathe_text lt_plugin_json_quote(lathe_call *call, lathe_text characters);
lathe_text lt_plugin_json_characters(lathe_call *call, lathe_text json);
lathe_text lt_plugin_json_member(lathe_call *call, lathe_text json, const char *key);
lathe_text lt_plugin_json_format(lathe_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a formatted text of any length. */
void lt_plugin_json_vformat(lt_buf *out, const char *format, va_list args);
/* Whether a text is JSON. A long one is checked off the loop. LT_YIELDS. */
lt_status lt_plugin_json_check(const lathe_call *call, lt_str json, lt_err *err) LT_YIELDS;

#endif
