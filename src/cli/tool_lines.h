/* The tools as lines for a dialogue: /tools [QUERY]. */
#ifndef LT_CLI_TOOL_LINES_H
#define LT_CLI_TOOL_LINES_H

#include "cli/console.h"
#include "tool/door.h"

/* Prints the signatures of the tools that match, best first, and how many there are beside them; an error likewise. */
void lt_tool_lines_print(const lt_console *console, lt_door *door, lt_str query);

#endif
