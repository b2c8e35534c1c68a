/* Finds the constant that a module exports under a name.
 *
 * Pure. Borrows the source. Linear time.
 */
#ifndef LT_JS_JS_EXPORT_H
#define LT_JS_JS_EXPORT_H

#include "base/str.h"

/* The source from the first token of the value on, of `export const NAME = ...` (or let, var; with a type in
 * TypeScript) at the top level. {NULL, 0}: there is none. */
lt_str lt_js_export_find(lt_str source, const char *name);

#endif
