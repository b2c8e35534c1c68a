/* What a call that writes a file would change.
 *
 * Such a call is recognised by its shape: an input with a path and a text (or a list of replacements), and a tool of
 * the same server that says it is read-only, takes nothing but a path and has "read" in its name. That tool is called
 * for the old text, as the person's own call: the policy applies, and a call that needs an approval is not made.
 */
#ifndef LT_CLI_WRITE_PREVIEW_H
#define LT_CLI_WRITE_PREVIEW_H

#include "tool/door.h"

typedef struct lt_write_preview {
  lt_door *door; /* NULL: there are no previews */
  const lt_policy *policy;
} lt_write_preview;

/* Appends the change as a diff. `input`: JSON text. False: nothing was appended, since the call does not write a file,
 * or the old text cannot be had within LT_PREVIEW_MS and LT_PREVIEW_BYTES. LT_YIELDS. */
bool lt_write_preview_add(const lt_write_preview *preview, lt_str tool, lt_str input, lt_cancel *cancel,
                          lt_buf *out) LT_YIELDS;

#endif
