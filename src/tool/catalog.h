/* The catalog: the tools that can be called right now, under all of their names; an immutable snapshot.
 *
 * A tool's id is `<server or plugin>.<tool>`, or the tool's name alone where its provider has no name. The names
 * programs use are derived from it: camelCase for JavaScript, the tool's own name for TypeScript. Snapshots are sorted
 * by id and byte-stable, counted by reference and safe to read from any thread; a change in a provider makes a new one,
 * running programs keep theirs.
 */
#ifndef LT_TOOL_CATALOG_H
#define LT_TOOL_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef struct lt_provider lt_provider; /* tool/door.h */

/* A tool as its provider describes it; the catalog copies it. */
typedef struct lt_tool_spec {
  lt_str name;           /* the provider's own name for it */
  lt_str description;    /* may be empty */
  lt_str input_schema;   /* JSON text of an object schema; empty counts as {} */
  lt_str output_schema;  /* JSON text, or empty */
  lt_str annotations;    /* JSON text, or empty */
  bool needs_approval;   /* a person has to approve each call, unless the policy says otherwise */
  lt_str approval;       /* why; may be empty */
  bool of_plugin;        /* its TypeScript name begins with the plugin's: plugins have tools like "list" */
  bool not_for_programs; /* for models only, which call it one by one: programs do not see it */
  bool only_calls;       /* it does nothing but make calls, and each of those is recorded */
} lt_tool_spec;

typedef struct lt_tool {
  lt_str id;      /* weather.get-weather */
  lt_str ns;      /* weather: the provider's name */
  lt_str name;    /* get-weather */
  lt_str js_name; /* weatherGetWeather; empty: lost to an earlier id, only tools["weather.get-weather"] reaches it */
  lt_str ts_name; /* get_weather */
  lt_str ts_type; /* GetWeather: + Input / Output */
  lt_str description;
  lt_str input_schema;
  lt_str output_schema;
  lt_str annotations;
  bool needs_approval;
  lt_str approval;
  bool of_plugin;
  bool not_for_programs;
  bool only_calls;
  lt_provider *provider;
  struct lt_tool_schemas *schemas; /* the door's */
} lt_tool;

typedef struct lt_catalog lt_catalog;

/* --- Building ----------------------------------------------------------------------------------------------------- */
typedef struct lt_catalog_source {
  lt_str ns;
  lt_provider *provider;
  const lt_tool_spec *tools;
  size_t count;
} lt_catalog_source;

/* Builds a snapshot of all sources; a repeated name within a source keeps the first (a warning says so).
 * Errors: LT_E_LIMIT (LT_TOOLS_MAX), LT_E_NOMEM. Owns: one reference. */
lt_status lt_catalog_new(const lt_catalog_source *sources, size_t count, lt_catalog **ret_catalog, lt_err *err);
lt_catalog *lt_catalog_ref(lt_catalog *catalog);
void lt_catalog_unref(lt_catalog *catalog); /* NULL is allowed */
/* The snapshot without the tools that are not for programs: itself where there are none. Always the same one for the
 * same snapshot. Loop thread only. Owns: one reference. LT_E_NOMEM. */
lt_status lt_catalog_for_programs(lt_catalog *catalog, lt_catalog **ret_catalog, lt_err *err);
/* Whether this snapshot is for programs and leaves out the tool with that id. */
bool lt_catalog_withholds(const lt_catalog *catalog, lt_str id);

/* --- Reading ------------------------------------------------------------------------------------------------------ */
size_t lt_catalog_count(const lt_catalog *catalog);
/* In id order. Borrows: while the reference is held. */
const lt_tool *lt_catalog_at(const lt_catalog *catalog, size_t i);
const lt_tool *lt_catalog_find(const lt_catalog *catalog, lt_str id);
const lt_tool *lt_catalog_find_js(const lt_catalog *catalog, lt_str js_name);
const lt_tool *lt_catalog_find_ts(const lt_catalog *catalog, lt_str ts_name);
/* By any of its names: id, JavaScript or TypeScript name, or the id with "_" for each character that a model cannot
 * write in a tool's name. Linear where it is none of the first three. */
const lt_tool *lt_catalog_find_any(const lt_catalog *catalog, lt_str name);
/* Renames and collisions, a sentence each, in id order: the warnings at start-up. */
size_t lt_catalog_warnings(const lt_catalog *catalog, const lt_str **ret_warnings);

/* The namespaces of sources without tools, such as servers that are down. A call of any id there fails with the reason.
 */
size_t lt_catalog_silent(const lt_catalog *catalog, const lt_str **ret_names);

/* Up to LT_TOOL_SUGGESTIONS names near `name`, best first, among ids, JavaScript and TypeScript names; returns how
 * many. `ret` borrows. */
size_t lt_catalog_suggest(const lt_catalog *catalog, lt_str name, lt_str ret[]);

/* Appends the message for an id that no tool has: names that are near, and the tools there are. */
void lt_catalog_explain_unknown(const lt_catalog *catalog, lt_str id, lt_buf *out);

/* The indices of the tools that match a query by id, description and parameters, best first; of all tools in id order
 * for a query without words. Returns how many were written, at most `max`; none without memory.
 * The first search of a snapshot makes its index (40 ms for 5,000 tools); later searches take microseconds. */
size_t lt_catalog_search(const lt_catalog *catalog, lt_str query, uint32_t *ret_indices, size_t max);

#endif
