/* Characters that get into programs from word processors and web pages, and that no language takes for what they look
 * like: typographic quotes, dashes, wide brackets, characters without a width. Pure. */
#ifndef LT_JS_ODD_TEXT_H
#define LT_JS_ODD_TEXT_H

#include "base/str.h"

/* What to write for the character that `text` begins with, such as "a typographic quote: write \" or '"; NULL: it is an
 * ordinary one. */
const char *lt_odd_text_advise(lt_str text);

#endif
