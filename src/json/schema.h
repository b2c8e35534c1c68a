/* JSON Schema: compiled once, then any number of values checked against it.
 *
 * 2020-12 and draft-07, with what 2019-09, draft-06 and draft-04 have that differs (`$schema` says which; none: 2020-12
 * and all that the older ones had and it has not). Every keyword that says what is valid is checked; `format`,
 * `contentMediaType` and the like are annotations. `nullable` counts, as OpenAPI has it.
 *
 * What is not: nothing is fetched. A reference that leaves the document, or leads nowhere in it, accepts everything,
 * and so does a pattern that json/regex.h does not understand: a value is never refused for what we do not know. Such
 * places are told by lt_schema_notes.
 *
 * A compiled schema owns all that it needs, is immutable and may be used by any thread. Nothing here suspends.
 */
#ifndef LT_JSON_SCHEMA_H
#define LT_JSON_SCHEMA_H

#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"

typedef struct lt_schema lt_schema;

/* Compiles a schema: an object, true or false. Borrows nothing.
 * Errors: LT_E_SYNTAX (not JSON), LT_E_INVALID with where and what, such as `#/properties/size/minimum: must be a
 * number`; LT_E_LIMIT (over LT_SCHEMA_MAX_BYTES and the like); LT_E_NOMEM. */
lt_status lt_schema_new(lt_str text, lt_schema **ret, lt_err *err);
/* NULL is allowed. */
void lt_schema_free(lt_schema *schema);

/* What of the schema is not checked, and why: one line of text, "; " between several; empty when there is nothing.
 * Borrows: the schema. */
lt_str lt_schema_notes(const lt_schema *schema);

/* Checks `value`, which errors call `root_name`. LT_OK, or
 *   LT_E_INVALID  it does not fit. What is wrong is appended to `ret_faults` (may be NULL), at most
 *                 LT_TOOL_INPUT_ERRORS_MAX faults with "; " between them, such as
 *                 `input.latitude: expected number, got string; input["odd key"][2]: is required`.
 *   LT_E_LIMIT    it was too much work (nested too deeply, alternatives in alternatives): nobody knows.
 *   LT_E_NOMEM
 * `err` is not written for LT_E_INVALID. Takes time linear in the value's length at most, with a large factor
 * (LT_SCHEMA_STEPS). */
lt_status lt_schema_check(const lt_schema *schema, lt_json value, lt_str root_name, lt_buf *ret_faults, lt_err *err);

#endif
