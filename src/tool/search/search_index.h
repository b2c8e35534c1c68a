/* The inverted index of a catalog: which words stand in which tools, and how much they say there; internal to tool/.
 *
 * Made once per snapshot, when it is first searched, and not changed after: any number of threads may read it. Of the
 * tools it keeps no more than words, so a search costs what the matching tools are, not what all of them are.
 */
#ifndef LT_TOOL_SEARCH_SEARCH_INDEX_H
#define LT_TOOL_SEARCH_SEARCH_INDEX_H

#include "base/arena.h"
#include "tool/catalog.h"

/* How often a word stands in a tool, weighted by where, and against the length of where it stands. */
typedef struct lt_posting {
  uint32_t tool;
  float weight;
} lt_posting;

typedef struct lt_index_word {
  lt_str text;
  lt_str stem;
  const lt_posting *postings; /* by tool */
  uint32_t count;
} lt_index_word;

typedef struct lt_search_index {
  lt_arena arena;
  const lt_index_word *words; /* by text */
  const uint32_t *by_stem;    /* indices of words, by stem and then text */
  uint32_t count;
} lt_search_index;

/* NULL without memory. Owns: the caller, lt_search_index_free. */
lt_search_index *lt_search_index_new(const lt_catalog *catalog);
void lt_search_index_free(lt_search_index *index); /* NULL is allowed */

/* The first word that is not before `text`; the first place in `by_stem` whose stem is not before `stem`. */
uint32_t lt_search_index_find(const lt_search_index *index, lt_str text);
uint32_t lt_search_index_find_stem(const lt_search_index *index, lt_str stem);

/* The catalog's own (catalog.c): made when it is first asked for, by whichever thread. NULL without memory.
 * Borrows: while the catalog is held. */
const lt_search_index *lt_catalog_index(const lt_catalog *catalog);

#endif
