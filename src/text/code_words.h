/* Finds keywords, strings, numbers and comments in a line of source code, to colour them.
 *
 * It knows the words and the quotes of some languages, no grammar: broken code is coloured oddly, and never refused.
 * Every byte is looked at a bounded number of times. Pure functions on text; nothing is allocated.
 */
#ifndef LT_TEXT_CODE_WORDS_H
#define LT_TEXT_CODE_WORDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

typedef struct lt_code_language lt_code_language;

/* The language of a fence's word ("js", "python", "sh", ...), case aside. NULL: not known. */
const lt_code_language *lt_code_language_of(lt_str name);

/* Where a text is: between two lines a comment or a string may be open. Starts as {language}. */
typedef struct lt_code_reader {
  const lt_code_language *language; /* NULL: nothing is coloured */
  const char *open;                 /* what ends the open comment or string; NULL: none is open */
  unsigned open_style;
} lt_code_reader;

/* Writes a line, or a piece of one, with styles (text/styled_text.h) over `style`, its tabs as they are and no style
 * after it. */
void lt_code_put_line(lt_code_reader *reader, lt_str line, unsigned style, lt_buf *out);

#endif
