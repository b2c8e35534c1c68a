/* The names of tools for cells, the programs of mode codex: `mcp__server__tool` for a server's tool, `plugin_tool` for
 * a plugin's (docs/internals/codex.md). They are members of `tools`. Pure; any thread. */
#ifndef LT_TOOL_CELL_NAME_H
#define LT_TOOL_CELL_NAME_H

#include "tool/catalog.h"

/* Appends the name. Two tools may have the same; it means the first one in id order, and the other one is called by its
 * id. */
void lt_cell_name_put(const lt_tool *tool, lt_buf *out);
/* The tool with this name; NULL: none. Linear time. */
const lt_tool *lt_cell_name_find(const lt_catalog *catalog, lt_str name);

#endif
