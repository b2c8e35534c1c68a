/* A call's input, for a person to read before they decide on it. */
#ifndef LT_FRONT_SHOW_H
#define LT_FRONT_SHOW_H

#include "base/buf.h"
#include "base/str.h"

/* Appends JSON text: on one line when it is short, else indented (`indent` before each line but the first). Long texts
 * and lists are cut, with their size said; nothing in it is invisible or steers a terminal. */
void lt_show_json(lt_buf *out, lt_str json, const char *indent);

#endif
