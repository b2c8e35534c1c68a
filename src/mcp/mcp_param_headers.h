/* Arguments of tools as headers over HTTP: the schema's "x-mcp-header" (2026-07-28, Streamable HTTP, Custom Headers
 * from Tool Parameters). Pure. */
#ifndef LT_MCP_MCP_PARAM_HEADERS_H
#define LT_MCP_MCP_PARAM_HEADERS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Whether the schema's annotations follow the rules: "clients MUST exclude the invalid tool". `ret_why` gets a literal
 * that says what is wrong. A schema that is no JSON has no annotations. */
bool lt_mcp_param_headers_are_valid(lt_str input_schema, const char **ret_why);
/* Appends a line "Mcp-Param-NAME: VALUE", with LF behind it, for each annotated argument that is there. `arguments` is
 * the JSON text of an object. */
void lt_mcp_param_headers_add(lt_buf *out, lt_str input_schema, lt_str arguments);
/* Appends a header's value: as it is, or in base64 where a header cannot have it. */
void lt_mcp_param_headers_encode(lt_buf *out, lt_str value);

#endif
