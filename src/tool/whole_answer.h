/* Whole answers: what a tool answers with all of its content, as MCP's CallToolResult has it (2025-11-25, Tools). A
 * client of the gateway that calls a tool directly gets one; programs get values. Pure.
 */
#ifndef LT_TOOL_WHOLE_ANSWER_H
#define LT_TOOL_WHOLE_ANSWER_H

#include "json/json.h"

/* Appends the whole answer that says this value: its text and, where the tool has an output schema and the value is an
 * object, the value itself. `value` is JSON text. */
void lt_whole_answer_put_value(lt_str value, bool has_output_schema, lt_buf *out);
/* Whether it is an object with a list of content. */
bool lt_whole_answer_is(lt_json value);

#endif
