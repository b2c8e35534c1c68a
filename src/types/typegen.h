/* What a program is told of the tools: TypeScript declarations, Python stubs, the prompt's listing, a JSON list.
 *
 * Pure text from JSON Schemas; nothing here knows where the tools come from or how they are called. The output depends
 * on the input alone, byte for byte. A schema that is broken, too large or nested too deeply becomes `any` with a
 * comment that says why: one bad tool never costs the others their types. Descriptions are peers' text: control
 * characters, terminal escapes and what would end a comment are taken out.
 *
 * Nothing suspends and nothing is kept between calls. The functions append to `out`; when they fail, what they have
 * appended so far is left in it.
 * Errors, all of them: LT_E_LIMIT (the buffer's ceiling), LT_E_NOMEM.
 */
#ifndef LT_TYPES_TYPEGEN_H
#define LT_TYPES_TYPEGEN_H

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

/* `type Result<T>` and, for every tool in the order given, its types and `declare function`. */
lt_status lt_typegen_ts(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);
/* One tool's part of that, without `type Result<T>`. Types that a schema defines for itself are named after the tool's
 * (`GetWeatherInput_Node`), so that no two tools' can be the same. */
lt_status lt_typegen_ts_tool(const lt_typegen_tool *tool, lt_buf *out, lt_err *err);

/* `def call_tool(...)`, what else every program has, and a stub per tool, `def weather_get_weather(*, latitude: float,
 * ...) -> Any`, with a docstring. Of two tools with the same Python name the later one is a comment that says how to
 * call it. */
lt_status lt_typegen_py(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);
/* The Python name of a tool (its id) or an argument: characters that cannot be in an identifier become "_", a keyword
 * gets one after it, a digit one before it. */
void lt_typegen_py_name(lt_str name, lt_buf *out);

/* The compact listing of the system prompt, a line per namespace, both in byte order:
 * "**weather**: weatherGetWeather (ID: weather.get-weather) - Get current weather | ...". Of a description, the first
 * sentence. Nothing for no tools.
 *
 * Never longer, in bytes, than the same tools' definitions as a model's API takes them, a JSON array of
 * {type: "function", function: {name, description, parameters}} with the smallest possible schemas: where names are
 * very long and nothing else is said of the tools, less is told, as below. */
lt_status lt_typegen_prompt(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);
/* The same within a budget, which is estimated (text/tokens.h); 0: none, less than LT_LISTING_TOKENS_MIN: that. What
 * does not fit is told shorter, and that of all namespaces before more of any, the smaller ones first:
 * shorter descriptions; names alone, "**weather**: weatherGetWeather | ..."; the number of tools, "**weather**: 12
 * tools"; then only the largest namespaces and how many more there are. Where tools are missing or without their
 * description a first line says so and how to find them. */
lt_status lt_typegen_prompt_budget(const lt_typegen_tool *tools, size_t count, size_t max_tokens, lt_buf *out,
                                   lt_err *err);

/* A JSON array of {id, jsName, tsName, description, inputSchema, outputSchema?} in the order given, the schemas as they
 * came but for escapes in place of what is invisible. jsName is null where there is none; a schema that is no JSON is
 * {} (input) or left out (output). */
lt_status lt_typegen_json(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

/* For people: a line per tool in the order given, its id, its JavaScript name or "-", its description's first line. */
lt_status lt_typegen_lines(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

#endif
