/* Hash tables of tools by one of their names: open addressing over the indices of an array; internal to tool/.
 */
#ifndef LT_TOOL_TOOL_TABLE_H
#define LT_TOOL_TOOL_TABLE_H

#include <stddef.h>

#include "base/arena.h"
#include "tool/catalog.h"

#define LT_TOOL_TABLE_NONE UINT32_MAX

typedef struct lt_tool_table {
  const lt_tool *tools;
  size_t field;    /* offset of the lt_str that is the key */
  uint32_t *slots; /* index + 1, or 0 */
  uint32_t mask;
} lt_tool_table;

/* Makes room for `count` entries. LT_E_NOMEM. Borrows: `tools`. Owns: the arena. */
lt_status lt_tool_table_init(lt_tool_table *table, lt_arena *arena, const lt_tool *tools, size_t field, uint32_t count);

/* The index of the tool with this name, or LT_TOOL_TABLE_NONE. */
uint32_t lt_tool_table_find(const lt_tool_table *table, lt_str key);

/* Adds tools[i] under its name, unless another tool has that name. The name must be set and must not change. Returns
 * the index of the tool with that name. */
uint32_t lt_tool_table_enter(lt_tool_table *table, uint32_t i);
/* Puts tools[i] in the place of the tool that has its name. */
void lt_tool_table_replace(lt_tool_table *table, uint32_t i);

#endif
