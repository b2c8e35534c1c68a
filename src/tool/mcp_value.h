/* The value of an MCP tool's answer, as programs of every language see it (DESIGN.md section 4, "Result values").
 *
 * Pure: no provider, no loop, no state.
 */
#ifndef LT_TOOL_MCP_VALUE_H
#define LT_TOOL_MCP_VALUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/json.h"

/* Appends the value of a CallToolResult to `out`, as JSON text:
 *   structuredContent, if there is any;
 *   else one text block: its text as it came when that is a JSON object or array, or has the type `output_schema` asks
 *   for; otherwise as a string;
 *   several text blocks: one string, joined by newlines;
 *   one other block: an object, {type, mimeType, bytes, artifact} for what programs get no bytes of;
 *   blocks of several kinds: an array of such objects, texts as {type, text};
 *   nothing: null.
 * LT_E_TOOL: the result is an error, `out` has its text, never empty; `id` is for when the tool gave none.
 * LT_E_NOMEM, LT_E_LIMIT (the ceiling of `out`). `output_schema` may be empty. The arena is for working memory. */
lt_status lt_mcp_value(lt_arena *arena, lt_json result, lt_str id, lt_str output_schema, lt_buf *out);

#endif
