/* What a call that writes a file would change, at a terminal. */
#ifndef LT_CLI_WRITE_VIEW_H
#define LT_CLI_WRITE_VIEW_H

#include "app/write_preview.h"

/* Appends the change as a diff. `input`: JSON text. False: nothing was appended, since the call does not write a file,
 * or its change cannot be told (lt_write_preview_read). LT_YIELDS. */
bool lt_write_view_add(const lt_write_preview *preview, lt_str tool, lt_str input, lt_cancel *cancel,
                       lt_buf *out) LT_YIELDS;

#endif
