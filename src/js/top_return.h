/* A top-level `return`: most published programs of models end with one, and the language has none outside functions.
 *
 * A script's value is that of its last expression, and a `break` out of a block keeps the value so far
 * (ECMA-262, 14.13: completion values). So the program becomes a block with a label, and `return x` becomes
 * `{(x);break}`. Every line stays where it is, and every column up to the end of a returned expression. A program
 * without a return that is reached has its usual value.
 *
 * Pure. For JavaScript, types already removed.
 */
#ifndef LT_JS_TOP_RETURN_H
#define LT_JS_TOP_RETURN_H

#include "base/buf.h"

/* Appends the program without top-level returns. A module (`is_module`) has no value but its exports: its block begins
 * behind the import statements, and its value becomes the default export. `ret_prefix` is how many bytes stand before
 * the first line of the program. */
void lt_top_return_rewrite(lt_str source, bool is_module, lt_buf *out, unsigned *ret_prefix);

/* Where the part of a program begins that may become a block: behind a first line #!..., and behind the last import
 * statement. */
size_t lt_top_return_find_start(lt_str source);

#endif
