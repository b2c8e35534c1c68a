/* A catalog's tools as JSON and back, with all that models and programs are shown of them. It is kept beside a prompt,
 * so that the prompt can be run again without the tools' providers (docs/internals/replay.md).
 */
#ifndef LT_TOOL_TOOL_LIST_H
#define LT_TOOL_TOOL_LIST_H

#include "base/arena.h"
#include "json/json.h"
#include "tool/catalog.h"

/* Writes them as an array, in id order; the same bytes for the same tools. */
void lt_tool_list_put(const lt_catalog *catalog, lt_json_writer *w);

/* The tools of one provider, as `lt_catalog_source` has them. */
typedef struct lt_tool_list {
  lt_catalog_source *sources; /* without providers */
  size_t count;
} lt_tool_list;

/* Reads what was written, into the arena. Borrows: the text. Errors: LT_E_SYNTAX, LT_E_INVALID: it is no such list;
 * LT_E_NOMEM. */
lt_status lt_tool_list_read(lt_str text, lt_arena *arena, lt_tool_list *ret_list, lt_err *err);

#endif
