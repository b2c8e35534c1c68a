/* Top-level variables of a program that the program after it sees, too.
 *
 * Scripts of one realm share what `var` and functions declare; `const`, `let` and `class` would be shared as well, but
 * could not be declared again, and models declare the same name again. So at the top level `const` and `let` become
 * `var`, and `class C {}` becomes `var C=class C {};`. Inside of functions and blocks nothing changes. Lines stay where
 * they are, and columns but those behind a `class`.
 *
 * Pure. For JavaScript scripts, types already removed.
 */
#ifndef LT_JS_SESSION_VARIABLES_H
#define LT_JS_SESSION_VARIABLES_H

#include "base/buf.h"

/* Appends the program with shared variables. `is_block`: the program will become a block (top_return.h), in which
 * functions are local; so its first line shares them. `ret_prefix` is how many bytes stand before the first line. */
void lt_session_variables_rewrite(lt_str source, bool is_block, lt_buf *out, unsigned *ret_prefix);

#endif
