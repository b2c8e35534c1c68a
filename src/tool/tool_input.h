/* Reads a tool's input as one JSON object; internal to tool/. */
#ifndef LT_TOOL_TOOL_INPUT_H
#define LT_TOOL_TOOL_INPUT_H

#include "base/arena.h"
#include "json/json.h"

/* Reads JSON text. Empty text and null count as {}; an object inside a JSON string is unwrapped once. Borrows: the
 * text, the arena. Errors: LT_E_INVALID: the text is not JSON, or no object; LT_E_LIMIT; LT_E_NOMEM. Any thread. */
lt_status lt_tool_input_read(lt_arena *arena, lt_str text, lt_json *ret_object, lt_err *err);

#endif
