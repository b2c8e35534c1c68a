/* Between door.c (who has which tools) and call.c (one call); internal to tool/. */
#ifndef LT_TOOL_DOOR_IMPL_H
#define LT_TOOL_DOOR_IMPL_H

#include "base/arena.h"
#include "base/limits.h"
#include "tool/door.h"

/* A provider and its tools as it last gave them. */
typedef struct lt_door_entry {
  lt_provider *provider;
  lt_arena arena; /* the specs and their texts */
  lt_tool_spec *tools;
  size_t count;
} lt_door_entry;

struct lt_door {
  lt_loop *loop;
  lt_door_options options;
  lt_door_entry *entries;
  size_t count;
  lt_catalog *catalog;             /* NULL: something changed since */
  uint64_t told[LT_DOOR_TOLD_MAX]; /* hashes of the warnings that were given */
  size_t told_count;
  uint64_t calls; /* made so far: numbers them */
};

/* NULL when the door does not have it (any more). */
lt_door_entry *lt_door_find_entry(lt_door *door, const lt_provider *provider);

#endif
