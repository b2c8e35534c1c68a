/* JSON Schema: compiled once, then any number of values checked against it.
 *
 * Supports 2020-12, 2019-09, draft-07, draft-06 and draft-04. `$schema` selects the draft; without it, 2020-12 applies,
 * plus the keywords that only older drafts have. Every validation keyword is checked. `format`, `contentMediaType` and
 * similar keywords are annotations. `nullable` has its OpenAPI meaning.
 *
 * Nothing is fetched. A reference that leaves the document, or has no target in it, accepts every value. So does a
 * pattern that json/regex.h does not support. lt_schema_notes lists these parts.
 *
 * A compiled schema borrows nothing, is immutable and may be used by any thread. Nothing here suspends.
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

/* The parts of the schema that are not checked, and why: one line of text with "; " between the parts, or empty.
 * Borrows: the schema. */
lt_str lt_schema_notes(const lt_schema *schema);

/* Checks `value`, which errors call `root_name`. LT_OK, or
 *   LT_E_INVALID the value does not fit. The faults are appended to `ret_faults` (may be NULL), at most
 *                 LT_TOOL_INPUT_ERRORS_MAX faults with "; " between them, such as
 *                 `input.latitude: expected number, got string; input["odd key"][2]: is required`.
 *   LT_E_LIMIT    too much work (deep nesting, alternatives in alternatives): the result is unknown.
 *   LT_E_NOMEM
 * `err` is not written for LT_E_INVALID. The time is at most linear in the value's length, with a large factor
 * (LT_SCHEMA_STEPS). */
lt_status lt_schema_check(const lt_schema *schema, lt_json value, lt_str root_name, lt_buf *ret_faults, lt_err *err);

#endif
