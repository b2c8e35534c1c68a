/* Whether a text that should be a program is prose.
 *
 * No program has two words side by side but where the first is a keyword, and prose has little else. A text with both,
 * such as a program with a mistake in it, is prose only where more of it is: a program that is taken for prose is not
 * run, while prose that is taken for a program only fails as one.
 *
 * Pure. Linear time.
 */
#ifndef LT_JS_JS_PROSE_H
#define LT_JS_JS_PROSE_H

#include "base/buf.h"

/* `scratch` is empty, and gets a copy of the text. A text without words (comments, nothing) is not prose. */
bool lt_js_prose_is(lt_str source, lt_buf *scratch);

#endif
