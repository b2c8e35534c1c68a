/* The inverted index of a catalog: the words of each tool, and their weights; internal to tool/.
 *
 * The first search of a snapshot builds the index. It never changes, so any number of threads may read it. The cost of
 * a search depends on the number of matching tools, not of all tools.
 */
#ifndef LT_TOOL_SEARCH_SEARCH_INDEX_H
#define LT_TOOL_SEARCH_SEARCH_INDEX_H

#include "base/arena.h"
#include "tool/catalog.h"

/* The frequency of a word in a tool, weighted by field and length of the text. */
typedef struct lt_posting {
  uint32_t tool;
  float weight;
} lt_posting;

typedef struct lt_index_word {
  lt_str text;
  lt_str stem;
  const lt_posting *postings; /* sorted by tool */
  uint32_t count;
} lt_index_word;

typedef struct lt_search_index {
  lt_arena arena;
  const lt_index_word *words; /* sorted by text */
  const uint32_t *by_stem;    /* indices of words, sorted by stem and then text */
  uint32_t count;
} lt_search_index;

/* Builds the index of a catalog's tools. NULL without memory. Owns: the caller, lt_search_index_free. */
lt_search_index *lt_search_index_new(const lt_tool *tools, size_t count);
void lt_search_index_free(lt_search_index *index); /* NULL is allowed */

/* The index of the first word >= `text`, and of the first entry of `by_stem` whose stem is >= `stem`. */
uint32_t lt_search_index_find(const lt_search_index *index, lt_str text);
uint32_t lt_search_index_find_stem(const lt_search_index *index, lt_str stem);

/* The catalog's index (catalog.c). The first thread that needs the index builds it. NULL without memory. Borrows: while
 * the catalog is held. */
const lt_search_index *lt_catalog_index(const lt_catalog *catalog);

#endif
