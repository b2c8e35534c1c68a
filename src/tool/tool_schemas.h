/* A tool's schemas, compiled when they are first needed; internal to tool/.
 *
 * A schema that cannot be used checks nothing and is told of once: it never takes its tool away. Belongs to the
 * catalog's tool; loop thread only, but for lt_tool_schema_check.
 */
#ifndef LT_TOOL_TOOL_SCHEMAS_H
#define LT_TOOL_TOOL_SCHEMAS_H

#include "json/schema.h"
#include "io/loop.h"

typedef struct lt_tool_schema {
  bool tried;
  bool told;         /* that an answer broke it: once is enough */
  lt_schema *schema; /* NULL: everything fits */
} lt_tool_schema;

typedef struct lt_tool_schemas {
  lt_tool_schema input;
  lt_tool_schema output;
} lt_tool_schemas;

void lt_tool_schemas_release(lt_tool_schemas *checks);

/* Compiles the schema unless that was tried; long ones on the pool, LT_YIELDS: the check and the text must stay.
 * Anything but LT_OK is told once, by whoever gets it: `err` says what is wrong with it. */
lt_status lt_tool_schema_compile(lt_tool_schema *check, lt_loop *loop, lt_str schema, lt_err *err) LT_YIELDS;

/* LT_OK, also when nobody can tell. LT_E_INVALID: `faults` holds what is wrong with the value, which is called `name`.
 * LT_E_NOMEM. Any thread. */
lt_status lt_tool_schema_check(const lt_tool_schema *check, lt_json value, lt_str name, lt_buf *faults);

#endif
