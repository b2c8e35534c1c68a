/* The catalog: an immutable snapshot of the callable tools and their names.
 *
 * A tool's id is `<server or plugin>.<tool>`, or the tool's name alone when its provider has no name. The names
 * programs use are derived from it: camelCase for JavaScript, the tool's own name for TypeScript. Snapshots are sorted
 * by id and byte-stable, counted by reference and safe to read from any thread; a change in a provider makes a new
 * snapshot, and running programs keep the old one.
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
  lt_str name;            /* the provider's name for the tool */
  lt_str title;           /* for people; may be empty */
  lt_str description;     /* may be empty */
  lt_str input_schema;    /* JSON text of an object schema; empty counts as {} */
  lt_str checked_schema;  /* the schema that inputs are checked against; empty: input_schema */
  lt_str output_schema;   /* JSON text, or empty */
  lt_str annotations;     /* JSON text, or empty */
  bool needs_approval;    /* a person has to approve each call, unless the policy says otherwise */
  lt_str approval;        /* the reason; may be empty */
  bool may_need_approval; /* the provider decides for each input (lt_provider.needs_approval) */
  bool of_plugin;         /* its TypeScript name begins with the plugin's id, because plugins have tools like "list" */
  bool not_for_programs;  /* only models may call it; programs do not see it */
  bool is_direct;         /* clients of the gateway call it without a program */
  bool only_calls;        /* it only makes calls, and each of those calls is recorded */
} lt_tool_spec;

typedef struct lt_tool {
  lt_str id;      /* weather.get-weather */
  lt_str ns;      /* weather: the provider's name */
  lt_str name;    /* get-weather */
  lt_str js_name; /* weatherGetWeather; empty: another tool has the name, and only tools["weather.get-weather"] reaches
                     this tool */
  lt_str ts_name; /* get_weather */
  lt_str ts_type; /* GetWeather: + Input / Output */
  lt_str long_name;           /* weather_get_weather, in TypeScript and Python; empty: the tool has no namespace */
  lt_str short_name;          /* get_weather; empty for plugins' tools, whose names ("list") say nothing alone */
  bool is_short_shared;       /* a tool in another namespace has the short name, too */
  lt_str snake_long;          /* shop_get_order, of shop.getOrder; empty: the same as long_name */
  lt_str snake_short;         /* get_order; empty: the same as short_name */
  bool is_snake_long_shared;  /* another tool has this snake_long, too */
  bool is_snake_short_shared; /* another tool has this snake_short, too */
  lt_str title;
  lt_str description;
  lt_str input_schema;
  lt_str checked_schema; /* the schema that inputs are checked against; differs in a catalog built from a record */
  lt_str output_schema;
  lt_str annotations;
  bool needs_approval;
  bool may_need_approval;
  lt_str approval;
  bool of_plugin;
  bool not_for_programs;
  bool is_direct;
  bool only_calls;
  lt_provider *provider;
  struct lt_tool_schemas *schemas; /* used by the door only */
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
/* The snapshot's number, which no other of this process has or will have: for comparing, without keeping the snapshot
 * and the pointers to providers in it. Never 0. */
uint64_t lt_catalog_number(const lt_catalog *catalog);
/* The snapshot without the tools that are not for programs; the snapshot itself when it has no such tools. The same
 * snapshot always gives the same result. Loop thread only. Owns: one reference. LT_E_NOMEM. */
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

/* The name of a tool that a word of a program is. */
typedef enum lt_tool_name_kind {
  LT_TOOL_NAME_NONE,
  LT_TOOL_NAME_ID,
  LT_TOOL_NAME_JS,
  LT_TOOL_NAME_TS,
  LT_TOOL_NAME_LONG,
  LT_TOOL_NAME_SHORT,
  LT_TOOL_NAME_SNAKE_LONG,
  LT_TOOL_NAME_SNAKE_SHORT,
} lt_tool_name_kind;

typedef enum lt_tool_language { LT_TOOL_JAVASCRIPT, LT_TOOL_TYPESCRIPT, LT_TOOL_PYTHON } lt_tool_language;

typedef struct lt_tool_match {
  const lt_tool *tool; /* NULL: none */
  lt_tool_name_kind kind;
} lt_tool_match;

/* Finds a tool by a word of a program: exact id, the language's own name, the names of other languages, the short
 * name where it is unique, and last the snake_case form of a camelCase name where that is unique. A word that means
 * something else in the language (`parallel`) is no other language's name.
 */
lt_tool_match lt_catalog_find_word(const lt_catalog *catalog, lt_tool_language language, lt_str word);
/* Finds a tool by any of its names: those of lt_catalog_find_word, the id with "_" for each character that a model's
 * API does not allow, or the id in snake_case (shop.get_order). The form for an API needs linear time, all need no
 * memory but a copy of the name. */
const lt_tool *lt_catalog_find_any(const lt_catalog *catalog, lt_str name);
/* Warnings about renamed tools and name collisions, one sentence each, in id order. */
size_t lt_catalog_warnings(const lt_catalog *catalog, const lt_str **ret_warnings);

/* The namespaces of sources without tools, such as servers that are down. A call of any id in such a namespace fails
 * with the reason.
 */
size_t lt_catalog_silent(const lt_catalog *catalog, const lt_str **ret_names);
/* The ids that a snapshot for programs leaves out. */
size_t lt_catalog_withheld(const lt_catalog *catalog, const lt_str **ret_ids);

/* Finds the tools that match a query by id, description and parameters, best first. A query without words matches all
 * tools, in id order. Of a long query the beginning counts (LT_SEARCH_QUERY_MAX_BYTES). Returns the number of indices
 * written, at most `max`; 0 without memory. The first search of a snapshot builds its index (40 ms for 5,000 tools);
 * later searches take microseconds. */
size_t lt_catalog_search(const lt_catalog *catalog, lt_str query, uint32_t *ret_indices, size_t max);

#endif
