/* A tool's input as JSON text.
 *
 * Most inputs are one object with a few plain values. The engine's JSON.stringify takes 13,000 instructions for one,
 * most of them for what such an object does not have: getters, cycles, indentation, objects that say what they are by
 * toJSON. Here it is read property by property.
 */
#ifndef LT_SANDBOX_GUEST_INPUT_H
#define LT_SANDBOX_GUEST_INPUT_H

#include "sandbox/guest.h"

/* Appends the text that JSON.stringify would give, if the value is an object without a toJSON and all its properties
 * are data: numbers that are small and whole, booleans, null, and strings without anything to be escaped. False: it is
 * something else; what was appended must be thrown away. */
bool lt_guest_flat_input(lt_guest *guest, lt_js value, lt_buf *out) LT_YIELDS;

/* JSON.stringify(value): a string, undefined, or LT_JS_EXCEPTION with what was thrown pending. */
lt_js lt_guest_stringify(lt_guest *guest, lt_js value) LT_YIELDS;

#endif
