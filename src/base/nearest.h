/* "Did you mean": finds, among known names, the nearest one to a misspelled name.
 *
 *   lt_nearest nearest = lt_nearest_to(word, 2);
 *   for (...) { lt_nearest_offer(&nearest, known[i]); }
 *   if (nearest.name.p != NULL) { ... }
 */
#ifndef LT_BASE_NEAREST_H
#define LT_BASE_NEAREST_H

#include "base/str.h"

typedef struct lt_nearest {
  lt_str wanted;
  lt_str name;    /* the nearest so far; {NULL, 0}: none is near enough */
  unsigned limit; /* a name must be fewer edits away than this */
} lt_nearest;

/* Starts a search for a name at most `edits` (lt_str_distance) away from `wanted`. Borrows: `wanted`. */
static inline lt_nearest lt_nearest_to(lt_str wanted, unsigned edits) {
  return (lt_nearest){.wanted = wanted, .limit = edits + 1};
}

/* Considers one name. Among equally near names the first one wins. Borrows: `name`. */
void lt_nearest_offer(lt_nearest *nearest, lt_str name);

#endif
