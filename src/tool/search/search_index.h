/* The inverted index of a catalog: which words are in which tools, and how much each says there; internal to tool/.
 *
 * It is made once per snapshot, for the first search, and never changes: any number of threads may read it. It keeps
 * only the words of the tools, so a search costs as much as the tools that match, not as all tools.
 */
#ifndef LT_TOOL_SEARCH_SEARCH_INDEX_H
#define LT_TOOL_SEARCH_SEARCH_INDEX_H

#include "base/arena.h"
#include "tool/catalog.h"

/* How often a word is in a tool, weighted by the field and by the length of the text. */
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

/* Of a catalog's tools. NULL without memory. Owns: the caller, lt_search_index_free. */
lt_search_index *lt_search_index_new(const lt_tool *tools, size_t count);
void lt_search_index_free(lt_search_index *index); /* NULL is allowed */

/* The index of the first word that is not before `text`; of the first entry of `by_stem` whose stem is not before
 * `stem`. */
uint32_t lt_search_index_find(const lt_search_index *index, lt_str text);
uint32_t lt_search_index_find_stem(const lt_search_index *index, lt_str stem);

/* The catalog's index (catalog.c), made by the thread that asks for it first. NULL without memory. Borrows: while the
 * catalog is held. */
const lt_search_index *lt_catalog_index(const lt_catalog *catalog);

#endif
