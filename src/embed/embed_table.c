#include "embed/embed_table.h"

#include <stddef.h>

void lt_embed_table_add(lt_embed_table *table, lt_embed_entry *entry, uint64_t number) {
  lt_embed_entry **bucket = &table->buckets[number % LT_EMBED_BUCKETS];
  *entry = (lt_embed_entry){.next = *bucket, .number = number};
  *bucket = entry;
}

void lt_embed_table_remove(lt_embed_table *table, lt_embed_entry *entry) {
  lt_embed_entry **at = &table->buckets[entry->number % LT_EMBED_BUCKETS];
  while (*at != NULL && *at != entry) {
    at = &(*at)->next;
  }
  if (*at != NULL) {
    *at = entry->next;
  }
  entry->next = NULL;
}

lt_embed_entry *lt_embed_table_first(const lt_embed_table *table) {
  lt_embed_entry *entry = NULL;
  for (size_t i = 0; i < LT_EMBED_BUCKETS && entry == NULL; i++) {
    entry = table->buckets[i];
  }
  return entry;
}

lt_embed_entry *lt_embed_table_find(const lt_embed_table *table, uint64_t number) {
  lt_embed_entry *entry = table->buckets[number % LT_EMBED_BUCKETS];
  while (entry != NULL && entry->number != number) {
    entry = entry->next;
  }
  return number != 0 ? entry : NULL;
}
