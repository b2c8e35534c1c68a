/* Strangers' text made fit for a terminal: without terminal escapes and control characters, and without what has no
 * width or turns the direction of text, which make it read otherwise than it is. */
#ifndef LT_TEXT_PLAIN_H
#define LT_TEXT_PLAIN_H

#include "base/buf.h"
#include "base/str.h"

/* Direction marks, characters without a width, DEL and C1. Joiners are none of these: scripts and emoji need them. */
bool lt_plain_is_invisible(uint32_t cp);

/* The next character from `*p` on that is worth showing: white space is ' ', '\t' or '\n', a broken character
 * U+FFFD. False at the end. */
bool lt_plain_next(const char **p, const char *end, uint32_t *ret_cp);

/* Appends what is worth showing, with its lines and tabs. */
void lt_plain_add(lt_buf *out, lt_str text);
/* The same with spaces in place of line breaks and tabs. */
void lt_plain_add_line(lt_buf *out, lt_str text);

#endif
