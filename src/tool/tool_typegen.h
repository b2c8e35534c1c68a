/* Converts a catalog's tool into the input of the generators of types and listings. */
#ifndef LT_TOOL_TOOL_TYPEGEN_H
#define LT_TOOL_TOOL_TYPEGEN_H

#include "types/typegen.h"
#include "tool/catalog.h"

/* Borrows everything from the tool. */
lt_typegen_tool lt_tool_typegen(const lt_tool *tool);
#endif
