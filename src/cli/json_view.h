/* Writes a call's input for a person who decides about the call. */
#ifndef LT_CLI_JSON_VIEW_H
#define LT_CLI_JSON_VIEW_H

#include "base/buf.h"
#include "base/str.h"

/* Appends JSON text: on one line when it is short, else indented (`indent` before each line but the first). A string of
 * several lines is shown as lines below its name, each with a margin (cli/text_block.h). The text
 * has no invisible and no control characters. Unless `whole` is set, it hides the middle of a long text, the end of a
 * long list and deeply nested values, and states their sizes. False: something is hidden, or `out` has no room. */
bool lt_json_view_add(lt_buf *out, lt_str json, const char *indent, bool whole);

#endif
