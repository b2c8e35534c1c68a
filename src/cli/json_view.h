/* A call's input, for a person to read before they decide on it. */
#ifndef LT_CLI_JSON_VIEW_H
#define LT_CLI_JSON_VIEW_H

#include "base/buf.h"
#include "base/str.h"

/* Appends JSON text: on one line when it is short, else indented (`indent` before each line but the first). Nothing in
 * it is invisible or steers a terminal. Unless the `whole` of it is wanted, the middle of a long text, the rest of a
 * long list and what lies deep is hidden, with its size said. False: something is, or there was no room in `out`. */
bool lt_json_view_add(lt_buf *out, lt_str json, const char *indent, bool whole);

#endif
