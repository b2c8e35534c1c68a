/* The value of an MCP tool's answer, as programs of every language see it (docs/internals/door.md).
 *
 * Pure: no provider, no loop, no state.
 */
#ifndef LT_SOURCE_MCP_VALUE_H
#define LT_SOURCE_MCP_VALUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

/* Binary content of an answer. Programs get a description of it, not the bytes. */
typedef struct lt_mcp_media {
  struct lt_mcp_media *next;
  lt_str type; /* "image", "audio" or "resource" */
  lt_str mime_type;
  lt_str data;
  size_t at; /* position in `out` of the null that the artifact's id replaces */
} lt_mcp_media;

typedef struct lt_mcp_media_list {
  lt_mcp_media *first; /* in the order of `at` */
  lt_mcp_media **last;
  size_t count;
} lt_mcp_media_list;

/* Appends the value of a CallToolResult to `out`, as JSON text:
 *   structuredContent, if present;
 *   else one text block: its text unchanged when it is a JSON object or array, or has the type that `output_schema`
 * names; otherwise as a string; several text blocks: one string, joined by newlines; one other block: an object, {type,
 * mimeType, bytes, artifact} for binary content; blocks of several kinds: an array of such objects, with texts as
 * {type, text}; nothing: null. LT_E_TOOL: the result is an error, and `out` has its text, never empty; without a text
 * from the tool, the message names `id`. LT_E_NOMEM, LT_E_LIMIT (the ceiling of `out`). `output_schema` may be empty.
 * The arena holds working memory and the items of `media`, at most LT_ANSWER_MEDIA_MAX. `media` may be NULL: then no
 * bytes are decoded. */
lt_status lt_mcp_value(lt_arena *arena, lt_json result, lt_str id, lt_str output_schema, lt_mcp_media_list *media,
                       lt_buf *out);

#endif
