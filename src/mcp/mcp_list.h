/* A list of tools, gathered page by page from the results of tools/list. */
#ifndef LT_MCP_MCP_LIST_H
#define LT_MCP_MCP_LIST_H

#include "mcp/mcp_client.h"

typedef struct lt_mcp_cursor lt_mcp_cursor;

typedef struct lt_mcp_list {
  lt_arena arena; /* owns the strings */
  lt_mcp_tool *tools;
  size_t count;
  size_t cap;
  size_t pages;
  size_t nameless; /* entries left out because they had no name */
  size_t misnamed; /* entries left out because their name was too long, or had control characters */
  lt_mcp_cursor *cursors;
} lt_mcp_list;

void lt_mcp_list_init(lt_mcp_list *list);
void lt_mcp_list_release(lt_mcp_list *list);

/* Appends one page's tools. `ret_cursor` is the JSON text to ask the next page with (in the list's arena), or empty
 * when this was the last one. Errors: LT_E_PROTOCOL (no list, a cursor that was given before), LT_E_LIMIT (pages,
 * tools, bytes), LT_E_NOMEM. */
lt_status lt_mcp_list_add_page(lt_mcp_list *list, lt_json result, lt_str *ret_cursor, lt_err *err);

/* Whether both hold the same tools, in the same order. */
bool lt_mcp_list_equal(const lt_mcp_list *a, const lt_mcp_list *b);

#endif
