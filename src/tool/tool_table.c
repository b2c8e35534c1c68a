#include "tool/tool_table.h"

lt_status lt_tool_table_init(lt_tool_table *table, lt_arena *arena, const lt_tool *tools, size_t field,
                             uint32_t count) {
  uint32_t size = 8;
  while (size < 2 * count) {
    size *= 2;
  }
  uint32_t *slots = lt_arena_zalloc(arena, size, sizeof *slots);
  if (slots == NULL) {
    return LT_E_NOMEM;
  }
  *table = (lt_tool_table){.tools = tools, .field = field, .slots = slots, .mask = size - 1};
  return LT_OK;
}

static lt_str tool_table_key(const lt_tool_table *table, uint32_t i) {
  return *(const lt_str *)(const void *)((const char *)&table->tools[i] + table->field);
}

/* The slot that holds `key`, or the empty one where it belongs. There always is one: at most half are used. */
static uint32_t *tool_table_slot(const lt_tool_table *table, lt_str key) {
  uint64_t hash = lt_str_hash(key);
  uint32_t at = (uint32_t)(hash ^ (hash >> 32)) & table->mask;
  while (table->slots[at] != 0 && !lt_str_eq(tool_table_key(table, table->slots[at] - 1), key)) {
    at = (at + 1) & table->mask;
  }
  return &table->slots[at];
}

uint32_t lt_tool_table_find(const lt_tool_table *table, lt_str key) {
  uint32_t entry = *tool_table_slot(table, key);
  return entry != 0 ? entry - 1 : LT_TOOL_TABLE_NONE;
}

void lt_tool_table_replace(lt_tool_table *table, uint32_t i) {
  *tool_table_slot(table, tool_table_key(table, i)) = i + 1;
}

uint32_t lt_tool_table_enter(lt_tool_table *table, uint32_t i) {
  uint32_t *slot = tool_table_slot(table, tool_table_key(table, i));
  if (*slot == 0) {
    *slot = i + 1;
  }
  return *slot - 1;
}
