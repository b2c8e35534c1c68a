/* Things that a host knows by number: its runs, and the calls that wait for its answer. Under the lock of the
 * environment. */
#ifndef LT_EMBED_EMBED_TABLE_H
#define LT_EMBED_EMBED_TABLE_H

#include <stdint.h>

#define LT_EMBED_BUCKETS 1024 /* numbers follow each other, and so spread evenly */

/* First in the struct of the thing. */
typedef struct lt_embed_entry {
  struct lt_embed_entry *next;
  uint64_t number; /* stays when it is removed; never 0 */
} lt_embed_entry;

typedef struct lt_embed_table {
  lt_embed_entry *buckets[LT_EMBED_BUCKETS];
} lt_embed_table;

/* Borrows: until lt_embed_table_remove. */
void lt_embed_table_add(lt_embed_table *table, lt_embed_entry *entry, uint64_t number);
void lt_embed_table_remove(lt_embed_table *table, lt_embed_entry *entry);
/* Any one of them. NULL: there is none. */
lt_embed_entry *lt_embed_table_first(const lt_embed_table *table);
/* NULL: there is none. */
lt_embed_entry *lt_embed_table_find(const lt_embed_table *table, uint64_t number);

#endif
