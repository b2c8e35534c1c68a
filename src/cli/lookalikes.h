/* Points out words in a call's input that look like other words: mixed scripts, encoded international host names. */
#ifndef LT_CLI_LOOKALIKES_H
#define LT_CLI_LOOKALIKES_H

#include "base/buf.h"
#include "base/str.h"

/* Appends a line for each such word of the JSON text's strings and names, at most NOTES_MAX of them and then their
 * number; nothing when there is none. */
void lt_lookalikes_add(lt_buf *out, lt_str json);

#endif
