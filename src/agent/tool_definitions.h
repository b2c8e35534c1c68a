/* The names and definitions of tools in a model's API. Internal to agent/.
 *
 * The API allows names of [A-Za-z0-9_-]{1,64}. A tool id is any text with a dot in it. The id weather.get-weather
 * becomes the name weather_get-weather, and a table maps names to ids. When a name is too long or already used by an
 * earlier id, it ends in a hash of its id. The same catalog gives the same names and the same text.
 */
#ifndef LT_AGENT_TOOL_DEFINITIONS_H
#define LT_AGENT_TOOL_DEFINITIONS_H

#include "base/arena.h"
#include "json/json.h"
#include "tool/catalog.h"

typedef struct lt_tool_definitions lt_tool_definitions;

/* Makes the names of all tools in the catalog. Borrows: the catalog. Owns: the arena. Errors: LT_E_NOMEM. */
lt_status lt_tool_definitions_new(lt_arena *arena, const lt_catalog *catalog, lt_tool_definitions **ret_wire,
                                  lt_err *err);

/* The name of the tool with this id; empty: no such tool. `definitions` may be NULL. */
lt_str lt_tool_definitions_name(const lt_tool_definitions *definitions, lt_str id);
/* Finds a tool by its name in the API or by its id, which some models write; NULL: no such tool. */
const lt_tool *lt_tool_definitions_find(const lt_tool_definitions *definitions, lt_str name);

/* Makes a valid name of any text: its first 64 characters, with "_" for each character that is not allowed. `ret` has
 * room for 65 bytes. */
#define LT_TOOL_NAME_CHARS 64
void lt_tool_definitions_plain_name(lt_str id, char ret[LT_TOOL_NAME_CHARS + 1]);

/* One definition, {"type": "function", "function": {"name", "description"?, "parameters"}}. The parameters are the
 * input schema as the API accepts it: an object with properties, without alternatives at its top. The door checks those
 * when the tool is called. Any other schema becomes an object without restrictions. */
void lt_tool_definitions_put_one(lt_json_writer *w, lt_str name, lt_str description, lt_str input_schema);
/* Appends the definitions of all tools, a JSON array in id order. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_tool_definitions_put_all(const lt_tool_definitions *definitions, lt_buf *out, lt_err *err);

/* A text about all tools of a catalog, kept for the next prompt while the tools stay the same. */
typedef struct lt_tool_text {
  uint64_t catalog; /* its number; 0: nothing is kept */
  lt_buf text;
} lt_tool_text;

/* Whether the kept text is about this catalog. */
bool lt_tool_text_is_of(const lt_tool_text *kept, const lt_catalog *catalog);
/* Keeps a copy instead of what was kept. Without memory nothing is kept. */
void lt_tool_text_keep(lt_tool_text *kept, const lt_catalog *catalog, lt_str text);
void lt_tool_text_release(lt_tool_text *kept);

/* Writes a call's answer as the content of a `tool` message: the characters of a string, or the text of other JSON;
 * never empty. */
#define LT_TOOL_ANSWER_NOTHING "(completed, no output)"
void lt_tool_answer_put(lt_json_writer *w, lt_str json);
/* The beginning of the message for a call whose arguments are no JSON; the tool's name follows. */
#define LT_TOOL_ANSWER_BROKEN "Invalid JSON in arguments for tool \""
/* Appends a failure. The tool's name comes first, unless the message names it. A stored conversation has only the text
 * of a message, so the text has to tell. */
void lt_tool_answer_put_failure(lt_buf *out, lt_str tool, lt_str message);

#endif
