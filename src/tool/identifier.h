/* Names for programs, and what had to be done to a tool's own name to make them; internal to tool/.
 */
#ifndef LT_TOOL_IDENTIFIER_H
#define LT_TOOL_IDENTIFIER_H

#include "base/buf.h"
#include "base/str.h"

/* What it took beyond camelCase (JavaScript) or underscores (TypeScript): a person is told of anything but PLAIN. */
typedef enum lt_identifier_change {
  LT_IDENTIFIER_PLAIN,
  LT_IDENTIFIER_PREFIXED, /* "_" before it: it would have begun with a digit, or been empty */
  LT_IDENTIFIER_SUFFIXED, /* "_" after it: a reserved word or a built-in has this name */
} lt_identifier_change;

/* lt_identifier_js and lt_identifier_ts (tool/catalog.h), and what it took. */
lt_identifier_change lt_identifier_make_js(lt_buf *out, lt_str id);
lt_identifier_change lt_identifier_make_ts(lt_buf *out, lt_str name);

#endif
