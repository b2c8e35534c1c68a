/* Tools as a model's API takes them: their names on the wire and their definitions; internal to agent/.
 *
 * The API allows names of [A-Za-z0-9_-]{1,64}, tool ids are any text with a dot in it: weather.get-weather is
 * weather_get-weather there, and a table leads back. Where names would be too long or equal, the later one in id order
 * ends in a hash of its id. The same catalog gives the same names and the same text.
 */
#ifndef LT_AGENT_TOOL_DEFINITIONS_H
#define LT_AGENT_TOOL_DEFINITIONS_H

#include "base/arena.h"
#include "json/json.h"
#include "tool/catalog.h"

typedef struct lt_tool_definitions lt_tool_definitions;

/* The names of all the catalog's tools. Borrows: the catalog. Owns: the arena. Errors: LT_E_NOMEM. */
lt_status lt_tool_definitions_new(lt_arena *arena, const lt_catalog *catalog, lt_tool_definitions **ret_wire,
                                  lt_err *err);

/* The name of the tool with this id; empty where no tool has it. `definitions` may be NULL. */
lt_str lt_tool_definitions_name(const lt_tool_definitions *definitions, lt_str id);
/* The tool that a model means: by its name on the wire or, as some models write it, by its id; else NULL. */
const lt_tool *lt_tool_definitions_find(const lt_tool_definitions *definitions, lt_str name);

/* A name for any text: its first 64 characters, with "_" for what is not allowed. `ret` has room for 65 bytes. */
#define LT_TOOL_NAME_CHARS 64
void lt_tool_definitions_plain_name(lt_str id, char ret[LT_TOOL_NAME_CHARS + 1]);

/* One definition, {"type": "function", "function": {"name", "description"?, "parameters"}}. The input schema as the API
 * takes it: of an object, with properties, without alternatives at its top (they are checked when the tool is called);
 * anything else becomes an object of anything. */
void lt_tool_definitions_put_one(lt_json_writer *w, lt_str name, lt_str description, lt_str input_schema);
/* The definitions of all tools, a JSON array in id order. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_tool_definitions_put_all(const lt_tool_definitions *definitions, lt_buf *out, lt_err *err);

/* Writes a call's answer as the content of a `tool` message: the characters of a string, the text of other JSON, never
 * nothing. */
#define LT_TOOL_ANSWER_NOTHING "(completed, no output)"
void lt_tool_answer_put(lt_json_writer *w, lt_str json);
/* Appends a failure, with the tool's name unless the message begins with that. */
void lt_tool_answer_put_failure(lt_buf *out, lt_str tool, lt_str message);

#endif
