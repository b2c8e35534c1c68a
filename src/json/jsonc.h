/* JSON with comments and trailing commas, as editors write it, made plain JSON of the same length: what is found in the
 * plain text stands at the same place in the file. Pure. */
#ifndef LT_JSON_JSONC_H
#define LT_JSON_JSONC_H

#include "base/buf.h"
#include "base/str.h"

/* Appends the text with blanks in place of comments (line breaks stay) and of a byte order mark. */
void lt_jsonc_blank_comments(lt_str text, lt_buf *out);
/* Appends such a text with blanks in place of commas before a closing brace or bracket. */
void lt_jsonc_blank_commas(lt_str commentless, lt_buf *out);

#endif
