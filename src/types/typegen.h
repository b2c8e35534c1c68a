/* Describes tools as text: TypeScript declarations, Python stubs, the prompt's listing, a JSON list.
 *
 * The text is made from JSON Schemas; this module does not know the tools' sources or how to call them. The output
 * depends on the input alone, byte for byte. A schema that is broken, too large or nested too deeply becomes `any` with
 * a comment that says why: a bad tool does not affect the types of the others. Descriptions are peers' text: control
 * characters, terminal escapes and ends of comments are removed.
 *
 * Nothing suspends and nothing is kept between calls. The functions append to `out`. After a failure, `out` keeps the
 * text appended so far. Errors, all of them: LT_E_LIMIT (the buffer's ceiling), LT_E_NOMEM.
 */
#ifndef LT_TYPES_TYPEGEN_H
#define LT_TYPES_TYPEGEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* One tool; borrowed. The names are those of tool/catalog.h, unique and fit to be identifiers. */
typedef struct lt_typegen_tool {
  lt_str id;            /* weather.get-weather */
  lt_str ns;            /* weather */
  lt_str js_name;       /* weatherGetWeather; empty: only tools["weather.get-weather"] reaches it */
  lt_str ts_name;       /* get_weather */
  lt_str ts_type;       /* GetWeather */
  lt_str description;   /* may be empty */
  lt_str input_schema;  /* JSON text; empty counts as {} */
  lt_str output_schema; /* JSON text, or empty */
} lt_typegen_tool;

/* Of several tools with one name in a language, the one with the highest rank has it, and of equal ranks the first one:
 * a tool without a namespace, then the one with the longest. So the server "git" cannot have the names of "git_hub". */
static inline size_t lt_typegen_name_rank(lt_str ns) {
  return ns.n > 0 ? ns.n : SIZE_MAX;
}

/* `type Result<T>` and, for every tool in the order given, its types and `declare function`. */
lt_status lt_typegen_ts(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);
/* One tool's part of that, without `type Result<T>`. Types that a schema defines have the tool's type name as a prefix
 * (`GetWeatherInput_Node`), so that names of different tools never collide. */
lt_status lt_typegen_ts_tool(const lt_typegen_tool *tool, lt_buf *out, lt_err *err);

/* A tool as a member of the object `tools`, for the programs of mode codex. */
typedef struct lt_typegen_member {
  lt_str name;
  bool is_whole; /* it gives the whole answer, CallToolResult<Output>; else the output alone */
} lt_typegen_member;
/* The tool's types and `declare const tools: { NAME(args: Input): Promise<...>; }`. */
lt_status lt_typegen_ts_member(const lt_typegen_tool *tool, const lt_typegen_member *as, lt_buf *out, lt_err *err);

/* `def call_tool(...)`, the other functions of every program, and a stub per tool, `def weather_get_weather(*,
 * latitude: float, ...) -> Any`, with a docstring. If two tools have the same Python name, the one of lower rank
 * becomes a comment that says how to call it. */
lt_status lt_typegen_py(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);
/* The Python name of a tool (its id) or an argument. Characters that are not allowed in identifiers become "_". A
 * keyword gets a "_" after it, a leading digit gets one before it. */
void lt_typegen_py_name(lt_str name, lt_buf *out);

/* The compact listing of the system prompt, a line per namespace, both in byte order: "**weather**: weatherGetWeather
 * (ID: weather.get-weather) - Get current weather | ...". Only the first sentence of a description is shown. Without
 * tools, nothing is appended.
 *
 * Never longer, in bytes, than the same tools' definitions as a model's API takes them, a JSON array of {type:
 * "function", function: {name, description, parameters}} with the smallest possible schemas: for very long names
 * without descriptions the listing is shortened as below. */
lt_status lt_typegen_prompt(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);
/* The same within a budget of tokens, estimated by text/tokens.h. 0: no budget; a smaller one than
 * LT_LISTING_TOKENS_MIN is raised to it. A listing that is too long is shortened in steps. Every namespace gets a step
 * before one gets the next better step; smaller namespaces come first: shorter descriptions; names alone, "**weather**:
 * weatherGetWeather | ..."; the number of tools, "**weather**: 12 tools"; then only the largest namespaces and the
 * number of the others. If tools or descriptions are left out, a first line says so and how to find them. */
lt_status lt_typegen_prompt_budget(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out,
                                   lt_err *err);

/* A JSON array of {id, jsName, tsName, description, inputSchema, outputSchema?} in the order given, the schemas
 * unchanged, except that invisible characters are escaped. A missing jsName is null. An invalid schema is {} (input) or
 * left out (output). */
lt_status lt_typegen_json(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

/* For people: a line per tool in the order given, its id, its JavaScript name or "-", its description's first line. */
lt_status lt_typegen_lines(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

#endif
