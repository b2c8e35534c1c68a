/* Base64 (RFC 4648, sections 4 and 5). */
#ifndef LT_TEXT_BASE64_H
#define LT_TEXT_BASE64_H

#include "base/buf.h"

/* Appends the bytes in the standard alphabet, padded. */
void lt_base64_encode(lt_str bytes, lt_buf *out);
/* Appends what the text stands for. Both alphabets; white space and everything else that is no digit is skipped, as
 * peers wrap their lines, and so is what does not make a whole byte at the end. */
void lt_base64_decode(lt_str text, lt_buf *out);
/* How many bytes lt_base64_decode would append. */
size_t lt_base64_length(lt_str text);

#endif
