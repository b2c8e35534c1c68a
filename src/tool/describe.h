/* A tool of the catalog, as those who write types and listings of it take it. */
#ifndef LT_TOOL_DESCRIBE_H
#define LT_TOOL_DESCRIBE_H

#include "types/typegen.h"
#include "tool/catalog.h"

/* Borrows everything from the tool. */
lt_typegen_tool lt_tool_describe(const lt_tool *tool);

#endif
