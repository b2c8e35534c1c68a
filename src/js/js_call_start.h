/* Where the call begins that an error of the engine is about.
 *
 * The engine reports the last place that it passed before a call: in a call over several lines, that is inside its
 * arguments. These functions go from there to the place where the call begins: the name of the function, or the object
 * before it on the same line. They return `at` when no such call contains the place. A guess from the tokens.
 *
 * Pure. Linear time. Offsets are in bytes.
 */
#ifndef LT_JS_JS_CALL_START_H
#define LT_JS_JS_CALL_START_H

#include "base/str.h"

/* The innermost call of a function or method `callee` whose arguments contain `at`. `callee` that is no identifier
 * means any call. */
size_t lt_js_call_start_of_callee(lt_str source, size_t at, lt_str callee);
/* The call whose arguments contain `at` and whose value is read in `call(...).property`. */
size_t lt_js_call_start_before_property(lt_str source, size_t at, lt_str property);
/* The outermost call, inside the function that contains `at`, whose arguments contain it: its value cannot be iterated.
 */
size_t lt_js_call_start_of_iterated(lt_str source, size_t at);

#endif
