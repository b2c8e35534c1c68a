/* Makes untrusted text safe to show: removes terminal escapes, control characters, invisible characters and direction
 * marks, which could make the text look different from its content.
 *
 * Two rules. Ordinary text keeps what a script or an emoji needs: joiners and variation selectors where they have
 * something to act on, blanks as spaces, two combining marks on a letter. A question escapes all of these: there a
 * person compares what they see with what will happen.
 */
#ifndef LT_TEXT_PLAIN_H
#define LT_TEXT_PLAIN_H

#include "base/buf.h"
#include "base/str.h"

/* Reads visible characters. Starts as {text.p, end}. */
typedef struct lt_plain_reader {
  const char *p;
  const char *end;
  uint32_t before; /* the last character; 0: none */
  unsigned marks;  /* combining marks on the last letter */
} lt_plain_reader;

lt_plain_reader lt_plain_reader_of(lt_str text);
/* The next visible character. White space is ' ', '\t' or '\n'; a malformed character is U+FFFD. False at the end. */
bool lt_plain_next(lt_plain_reader *reader, uint32_t *ret_cp);

/* Appends the visible text, with its line breaks and tabs. */
void lt_plain_add(lt_buf *out, lt_str text);
/* The same with spaces in place of line breaks and tabs. */
void lt_plain_add_line(lt_buf *out, lt_str text);

/* The characters of a question that are shown escaped. `marks` counts combining marks on a letter; it begins as 0. */
bool lt_plain_needs_escape(uint32_t cp, unsigned *marks);

/* The columns that a visible character takes on a terminal: 0 for a mark, 2 for wide ones and tabs, else 1. */
unsigned lt_plain_columns(uint32_t cp);

#endif
