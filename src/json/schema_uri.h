/* The syntax of URI references (RFC 3986), as far as schemas need it.
 */
#ifndef LT_JSON_SCHEMA_URI_H
#define LT_JSON_SCHEMA_URI_H

#include "base/arena.h"
#include "base/str.h"

/* RFC 3986, 5.2: what `ref` means in a document at `base`; the fragment apart, still escaped, without its "#".
 * False: no memory. */
bool lt_schema_uri_resolve(lt_arena *arena, lt_str base, lt_str ref, lt_str *ret_uri, lt_str *ret_fragment);
/* Undoes %41. A text without any is returned as it is. {NULL, 0}: no memory. */
lt_str lt_schema_uri_unescape(lt_arena *arena, lt_str text);

#endif
