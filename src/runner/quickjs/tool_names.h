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
/* Appends "Did you mean: a, b?": functions of tools with a name similar to `name`. Returns false when the program sees
 * no such tool. */
bool lt_tool_names_suggest(lt_run *run, lt_str name, lt_buf *message);
/* The same for a name in `tools["name"]`, where an id is a name, too. */
bool lt_tool_names_suggest_ids(lt_run *run, lt_str name, lt_buf *message);

#endif
