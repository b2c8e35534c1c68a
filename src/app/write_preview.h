/* What a call that writes a file would change.
 *
 * Such a call is recognised by its shape: an input with a path and a text (or a list of replacements), and a tool of
 * the same server that says it is read-only, takes nothing but a path and has "read" in its name. That tool is called
 * for the old text, as the person's own call: the policy applies, and a call that needs an approval is not made.
 */
#ifndef LT_APP_WRITE_PREVIEW_H
#define LT_APP_WRITE_PREVIEW_H

#include "json/json.h"
#include "tool/door.h"

#define LT_WRITE_PREVIEW_CONTEXT 3 /* lines that stay, around a change */

typedef struct lt_write_preview {
  lt_door *door; /* NULL: there are no previews */
  const lt_policy *policy;
  lt_str user; /* for whom the old text is read */
} lt_write_preview;

/* A call that writes a file. */
typedef struct lt_write_change {
  lt_arena arena;
  lt_catalog *catalog;
  const lt_tool *tool;
  const lt_tool *reader; /* has read `before` */
  const char *path_name; /* the reader's member that takes the path */
  lt_json input;
  const char *own_path, *own_text; /* the members of the call itself */
  lt_str path;
  lt_json text;         /* the new text; or none, and ... */
  lt_json edits;        /* ... replacements in the old one */
  lt_buf before, after; /* secrets are masked */
} lt_write_change;

/* Reads the old text and makes the new one. `input`: JSON text, borrowed as long as the change is used. False: the call
 * does not write a file, or the old text cannot be had within LT_PREVIEW_MS and LT_PREVIEW_BYTES. LT_YIELDS. Owns: the
 * caller, lt_write_preview_release, also after false. */
bool lt_write_preview_read(const lt_write_preview *preview, lt_str tool, lt_str input, lt_cancel *cancel,
                           lt_write_change *ret_change) LT_YIELDS;
void lt_write_preview_release(lt_write_change *change);
/* Appends the change in the form of a unified diff, without line numbers. False: it is too long; part of it may have
 * been appended. */
bool lt_write_preview_put_diff(const lt_write_change *change, lt_buf *out);

#endif
