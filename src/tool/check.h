/* Checking a tool's input against its schema: what a model gets wrong, said with a path; internal to tool/.
 *
 * `required`, `type` and the `enum` of strings, of the top level's properties. No full JSON Schema: the tool checks its
 * input itself, this is for messages that help. What it does not understand it lets pass.
 */
#ifndef LT_TOOL_CHECK_H
#define LT_TOOL_CHECK_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/json.h"

/* `input` is an object. LT_E_INVALID: `faults` holds what is wrong, "; " between several, such as
 * `input.latitude: expected number, got string; input.path: is required`. LT_E_NOMEM. */
lt_status lt_check_input(lt_arena *arena, lt_str schema, lt_json input, lt_buf *faults);

/* Whether a value of this type satisfies the `type` keyword (a name or a list of names). A keyword that is missing or
 * has names JSON Schema does not know is satisfied by anything. */
bool lt_check_type(lt_json keyword, lt_json value);

#endif
