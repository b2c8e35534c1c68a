/* Letters of different scripts in one word: a host name or a path that looks like another one ("раypal" with Cyrillic
 * letters). */
#ifndef LT_TEXT_SCRIPTS_H
#define LT_TEXT_SCRIPTS_H

#include "base/str.h"

typedef struct lt_scripts_find {
  lt_str word;        /* a part of the text */
  const char *first;  /* names of two scripts in the word ... */
  const char *second; /* ... NULL: it is an encoded international name (RFC 3492, "xn--") */
} lt_scripts_find;

/* Finds the next suspicious word of `text` at or after `*at` and moves `*at` behind it. A word ends at white space and
 * punctuation; the host of a URL or of an address is one word. False: there is no more. */
bool lt_scripts_next(lt_str text, size_t *at, lt_scripts_find *ret_find);

#endif
