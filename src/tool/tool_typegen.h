/* Converts a catalog's tool into the input of the generators of types and listings. */
#ifndef LT_TOOL_TOOL_TYPEGEN_H
#define LT_TOOL_TOOL_TYPEGEN_H

#include "types/typegen.h"
#include "tool/catalog.h"

/* Borrows everything from the tool. */
lt_typegen_tool lt_tool_typegen(const lt_tool *tool);
/* Appends, as TypeScript, the other names by which TypeScript programs reach the tool: `declare const
 * memory_read_graph: typeof read_graph;`. The name of lt_typegen_ts's own declaration are not among them. */
void lt_tool_typegen_put_aliases(const lt_catalog *catalog, const lt_tool *tool, lt_buf *out);

#endif
