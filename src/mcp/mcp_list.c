#include "mcp/mcp_list.h"

#include "base/limits.h"
#include "base/mem.h"

struct lt_mcp_cursor {
  lt_mcp_cursor *next;
  lt_str text;
};

void lt_mcp_list_init(lt_mcp_list *list) {
  *list = (lt_mcp_list){0};
  lt_arena_init(&list->arena, LT_MCP_LIST_MAX_BYTES);
}

void lt_mcp_list_release(lt_mcp_list *list) {
  lt_arena_release(&list->arena);
  lt_mem_free(list->tools);
  lt_mcp_list_init(list);
}

static lt_status mcp_list_too_big(const lt_mcp_list *list, lt_err *err) {
  if (list->arena.used > LT_MCP_LIST_MAX_BYTES / 2) {
    return lt_fail(err, LT_E_LIMIT, "the server's list of tools is over %lu MiB", LT_MCP_LIST_MAX_BYTES / LT_MIB);
  }
  return lt_fail(err, LT_E_NOMEM, "no memory for the server's list of tools");
}

/* --- One tool ----------------------------------------------------------------------------------------------------- */

/* Copies the characters of `v`; nothing when it is no string. False: no memory. */
static bool mcp_list_copy_string(lt_arena *arena, lt_json v, lt_str *ret) {
  lt_str s = LT_STR_NULL;
  if (lt_json_typeof(v) == LT_JSON_STRING && !lt_json_str(v, arena, &s)) {
    return false;
  }
  lt_str copy = lt_arena_dup(arena, s);
  *ret = copy;
  return copy.p != NULL;
}

/* Copies an object's text, or `fallback`. */
static bool mcp_list_copy_object(lt_arena *arena, lt_json v, lt_str fallback, lt_str *ret) {
  *ret = lt_arena_dup(arena, lt_json_typeof(v) == LT_JSON_OBJECT ? lt_json_text(v) : fallback);
  return ret->p != NULL;
}

static bool mcp_list_copy_tool(lt_arena *arena, lt_json v, lt_mcp_tool *ret) {
  lt_json annotations = lt_json_get(v, "annotations");
  lt_json title = lt_json_get(v, "title");
  if (lt_json_typeof(title) != LT_JSON_STRING) {
    title = lt_json_get(annotations, "title"); /* its place before 2025-06-18 */
  }
  return mcp_list_copy_string(arena, lt_json_get(v, "name"), &ret->name) &&
         mcp_list_copy_string(arena, title, &ret->title) &&
         mcp_list_copy_string(arena, lt_json_get(v, "description"), &ret->description) &&
         mcp_list_copy_object(arena, lt_json_get(v, "inputSchema"), LT_STR("{}"), &ret->input_schema) &&
         mcp_list_copy_object(arena, lt_json_get(v, "outputSchema"), LT_STR_NULL, &ret->output_schema) &&
         mcp_list_copy_object(arena, annotations, LT_STR_NULL, &ret->annotations);
}

static bool mcp_list_make_room(lt_mcp_list *list) {
  if (list->count < list->cap) {
    return true;
  }
  size_t cap = list->cap ? 2 * list->cap : 16;
  lt_mcp_tool *tools = lt_mem_realloc(list->tools, cap * sizeof *tools);
  if (!tools) {
    return false;
  }
  list->tools = tools;
  list->cap = cap;
  return true;
}

/* A name is part of an id, which people read in questions and rules. So it has no control characters and a limited
 * length. MCP 2025-11-25 asks for 128 characters at most. */
static bool mcp_list_is_usable_name(lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    if ((unsigned char)name.p[i] < ' ' || name.p[i] == '\x7f') {
      return false;
    }
  }
  return name.n > 0 && name.n <= LT_MCP_TOOL_NAME_MAX_BYTES;
}

static lt_status mcp_list_add_tool(lt_mcp_list *list, lt_json v, lt_err *err) {
  lt_json name = lt_json_get(v, "name");
  if (lt_json_typeof(name) != LT_JSON_STRING || lt_json_str_eq(name, LT_STR(""))) {
    list->nameless++;
    return LT_OK;
  }
  if (list->count >= LT_MCP_TOOLS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "the server lists more than %d tools", LT_MCP_TOOLS_MAX);
  }
  lt_mcp_tool tool;
  if (!mcp_list_copy_tool(&list->arena, v, &tool) || !mcp_list_make_room(list)) {
    return mcp_list_too_big(list, err);
  }
  if (!mcp_list_is_usable_name(tool.name)) {
    list->misnamed++;
    return LT_OK;
  }
  list->tools[list->count++] = tool;
  return LT_OK;
}

/* --- Pages -------------------------------------------------------------------------------------------------------- */

/* "Clients MUST treat cursors as opaque tokens" (Pagination): it is sent back unchanged, with its escapes. "Treat a
 * missing `nextCursor` as the end of results": null counts as missing, and so does "", which some servers always send.
 */
static lt_status mcp_list_take_cursor(lt_mcp_list *list, lt_json v, lt_str *ret_cursor, lt_err *err) {
  if (lt_json_typeof(v) != LT_JSON_STRING || lt_json_str_eq(v, LT_STR(""))) {
    *ret_cursor = LT_STR_NULL;
    return LT_OK;
  }
  lt_str text = lt_json_text(v);
  for (const lt_mcp_cursor *c = list->cursors; c; c = c->next) {
    if (lt_str_eq(c->text, text)) {
      return lt_fail(err, LT_E_PROTOCOL, "the server's pages of tools go in a circle: it gave the same cursor twice");
    }
  }
  lt_mcp_cursor *cursor = lt_arena_alloc(&list->arena, sizeof *cursor);
  lt_str copy = lt_arena_dup(&list->arena, text);
  if (!cursor || !copy.p) {
    return mcp_list_too_big(list, err);
  }
  *cursor = (lt_mcp_cursor){list->cursors, copy};
  list->cursors = cursor;
  *ret_cursor = copy;
  return LT_OK;
}

lt_status lt_mcp_list_add_page(lt_mcp_list *list, lt_json result, lt_str *ret_cursor, lt_err *err) {
  if (++list->pages > LT_MCP_PAGES_MAX) {
    return lt_fail(err, LT_E_LIMIT, "the server's list of tools has more than %d pages", LT_MCP_PAGES_MAX);
  }
  lt_json tools = lt_json_get(result, "tools");
  if (lt_json_typeof(tools) != LT_JSON_ARRAY) {
    return lt_fail(err, LT_E_PROTOCOL, "the server's answer to tools/list has no array \"tools\"");
  }
  lt_json_iter it = lt_json_each(tools);
  while (lt_json_next(&it)) {
    LT_TRY(mcp_list_add_tool(list, it.value, err));
  }
  return mcp_list_take_cursor(list, lt_json_get(result, "nextCursor"), ret_cursor, err);
}

static bool mcp_list_tool_equal(const lt_mcp_tool *a, const lt_mcp_tool *b) {
  return lt_str_eq(a->name, b->name) && lt_str_eq(a->title, b->title) && lt_str_eq(a->description, b->description) &&
         lt_str_eq(a->input_schema, b->input_schema) && lt_str_eq(a->output_schema, b->output_schema) &&
         lt_str_eq(a->annotations, b->annotations);
}

bool lt_mcp_list_equal(const lt_mcp_list *a, const lt_mcp_list *b) {
  if (a->count != b->count) {
    return false;
  }
  for (size_t i = 0; i < a->count; i++) {
    if (!mcp_list_tool_equal(&a->tools[i], &b->tools[i])) {
      return false;
    }
  }
  return true;
}
