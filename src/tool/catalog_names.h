/* Gives the tools of a snapshot their names in programs; internal to tool/.
 */
#ifndef LT_TOOL_CATALOG_NAMES_H
#define LT_TOOL_CATALOG_NAMES_H

#include "base/arena.h"
#include "tool/catalog.h"
#include "tool/tool_table.h"

/* A sentence about the tool at `index`. */
typedef struct lt_catalog_names_warning {
  uint32_t index;
  lt_str text;
  struct lt_catalog_names_warning *next;
} lt_catalog_names_warning;

typedef struct lt_catalog_names {
  lt_arena *arena; /* the snapshot's; names and warnings live in it */
  lt_tool *tools;  /* sorted by id, ids distinct */
  uint32_t count;
  lt_tool_table js;                   /* filled */
  lt_tool_table ts;                   /* filled */
  lt_tool_table longs;                /* by long_name, filled */
  lt_tool_table shorts;               /* by short_name, filled: the first tool of each name */
  lt_tool_table snake_longs;          /* by snake_long, filled: the first tool of each name */
  lt_tool_table snake_shorts;         /* by snake_short, filled: the first tool of each name */
  lt_catalog_names_warning *warnings; /* in no particular order */
  uint32_t warning_count;
} lt_catalog_names;

/* Sets js_name, ts_name, ts_type, long_name, short_name, snake_long, snake_short and what is shared, of every tool.
 * LT_E_NOMEM. */
lt_status lt_catalog_names_assign(lt_catalog_names *naming);

/* Adds a warning whose text is in the snapshot's arena; LT_E_NOMEM, also when that text could not be made. */
lt_status lt_catalog_names_warn(lt_catalog_names *naming, uint32_t index, lt_str text);

#endif
