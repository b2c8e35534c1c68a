/* Makes untrusted text safe to show: removes terminal escapes, control characters, invisible characters and direction
 * marks, which could make the text look different from its content. */
#ifndef LT_TEXT_PLAIN_H
#define LT_TEXT_PLAIN_H

#include "base/buf.h"
#include "base/str.h"

/* Whether a character is a direction mark, has no width, or is DEL or a C1 control. Joiners do not count: scripts and
 * emoji need them. */
bool lt_plain_is_invisible(uint32_t cp);

/* The next visible character at or after `*p`. White space is ' ', '\t' or '\n'; a malformed character is U+FFFD. False
 * at the end. */
bool lt_plain_next(const char **p, const char *end, uint32_t *ret_cp);

/* Appends the visible text, with its line breaks and tabs. */
void lt_plain_add(lt_buf *out, lt_str text);
/* The same with spaces in place of line breaks and tabs. */
void lt_plain_add_line(lt_buf *out, lt_str text);

#endif
