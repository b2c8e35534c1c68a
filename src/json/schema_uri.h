/* The syntax of URI references (RFC 3986), as far as schemas need it.
 */
#ifndef LT_JSON_SCHEMA_URI_H
#define LT_JSON_SCHEMA_URI_H

#include "base/arena.h"
#include "base/str.h"

/* RFC 3986, 5.2: resolves `ref` against `base`. The fragment is separate, still escaped, without its "#". False: no
 * memory. */
bool lt_schema_uri_resolve(lt_arena *arena, lt_str base, lt_str ref, lt_str *ret_uri, lt_str *ret_fragment);
/* Decodes percent escapes. A text without escapes is returned unchanged. {NULL, 0}: no memory. */
lt_str lt_schema_uri_unescape(lt_arena *arena, lt_str text);

#endif
