/* Finds tools by the names that programs use. On the worker. */
#ifndef LT_RUNNER_QUICKJS_TOOL_NAMES_H
#define LT_RUNNER_QUICKJS_TOOL_NAMES_H

#include "tool/catalog.h"

typedef struct lt_run lt_run;

/* The tool with this name, as a word of the program's text; NULL: none. */
const lt_tool *lt_tool_names_find_word(const lt_run *run, lt_str word);
/* The tool with this id or name; NULL: none. */
const lt_tool *lt_tool_names_find(const lt_run *run, lt_str name);
/* The tool, unless it is hidden from this caller (lt_caller.hidden); NULL is allowed. */
const lt_tool *lt_tool_names_unless_hidden(const lt_run *run, const lt_tool *tool);
/* The name by which the program calls the tool. */
lt_str lt_tool_names_of(const lt_run *run, const lt_tool *tool);
/* Names near `name` among the tools this program may see, best first; at most LT_TOOL_SUGGESTIONS. */
size_t lt_tool_names_suggest(const lt_run *run, lt_str name, lt_str ret[]);
/* A suggested name as this program can write it: its language's function name. */
lt_str lt_tool_names_near(const lt_run *run, lt_str near);

#endif
