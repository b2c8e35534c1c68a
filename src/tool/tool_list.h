/* Writes a catalog's tools as JSON and reads them back, with every property that models and programs see. The list is
 * stored with a prompt, so that the prompt can run again without the tools' providers (docs/internals/replay.md).
 */
#ifndef LT_TOOL_TOOL_LIST_H
#define LT_TOOL_TOOL_LIST_H

#include "base/arena.h"
#include "json/json.h"
#include "tool/catalog.h"

/* Writes the tools as an array, in id order; the same tools give the same bytes. */
void lt_tool_list_put(const lt_catalog *catalog, lt_json_writer *w);

/* The tools by provider, in the form of `lt_catalog_source`. */
typedef struct lt_tool_list {
  lt_catalog_source *sources; /* without providers */
  size_t count;
} lt_tool_list;

/* Reads a written list into the arena. Borrows: the text. Errors: LT_E_SYNTAX, LT_E_INVALID: the text is no such list;
 * LT_E_NOMEM. */
lt_status lt_tool_list_read(lt_str text, lt_arena *arena, lt_tool_list *ret_list, lt_err *err);

#endif
