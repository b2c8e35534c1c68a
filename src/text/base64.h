/* Base64 (RFC 4648, sections 4 and 5). */
#ifndef LT_TEXT_BASE64_H
#define LT_TEXT_BASE64_H

#include "base/buf.h"

/* Appends the bytes in the standard alphabet, padded. */
void lt_base64_encode(lt_str bytes, lt_buf *out);
/* Appends the decoded bytes. Accepts both alphabets. Skips white space and all other characters that are not digits,
 * because peers wrap their lines. Drops an incomplete byte at the end. */
void lt_base64_decode(lt_str text, lt_buf *out);
/* How many bytes lt_base64_decode would append. */
size_t lt_base64_length(lt_str text);

#endif
