/* Values that are written out in JavaScript, as JSON: names without quotes, strings in any quotes, commas at the end,
 * comments. Nothing is computed.
 *
 * Pure. Linear time.
 */
#ifndef LT_JSON_JSON_LITERAL_H
#define LT_JSON_JSON_LITERAL_H

#include "base/buf.h"
#include "base/err.h"

/* Reads the value with which `text` begins, and appends it as JSON. `ret_end` is the offset behind it. Errors:
 * LT_E_SYNTAX (no such value; the message says what stands there), LT_E_LIMIT (nested more than LT_JSON_LITERAL_DEPTH
 * deep), the buffer's. */
lt_status lt_json_literal_read(lt_str text, lt_buf *out, size_t *ret_end, lt_err *err);

#endif
