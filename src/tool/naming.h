/* Giving the tools of a snapshot their JavaScript and TypeScript names; internal to tool/.
 */
#ifndef LT_TOOL_NAMING_H
#define LT_TOOL_NAMING_H

#include "base/arena.h"
#include "tool/catalog.h"
#include "tool/table.h"

/* A sentence about the tool at `index`. */
typedef struct lt_naming_warning {
  uint32_t index;
  lt_str text;
  struct lt_naming_warning *next;
} lt_naming_warning;

typedef struct lt_naming {
  lt_arena *arena; /* of the snapshot: what is made here stays */
  lt_tool *tools;  /* sorted by id, ids distinct */
  uint32_t count;
  lt_table js;                 /* filled */
  lt_table ts;                 /* filled */
  lt_naming_warning *warnings; /* in no particular order */
  uint32_t warning_count;
} lt_naming;

/* Sets js_name, ts_name and ts_type of every tool. LT_E_NOMEM. */
lt_status lt_naming_run(lt_naming *naming);

/* Adds a warning whose text is in the snapshot's arena; LT_E_NOMEM, also when that text could not be made. */
lt_status lt_naming_warn(lt_naming *naming, uint32_t index, lt_str text);

#endif
