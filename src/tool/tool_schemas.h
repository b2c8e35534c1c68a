/* A tool's schemas, compiled when they are first needed; internal to tool/.
 *
 * A schema that cannot be used checks nothing, and a person is warned of it once: the tool stays. The schemas belong to
 * the catalog's tool. Loop thread only, but for lt_tool_schema_check.
 */
#ifndef LT_TOOL_TOOL_SCHEMAS_H
#define LT_TOOL_TOOL_SCHEMAS_H

#include "json/schema.h"
#include "io/loop.h"

typedef struct lt_tool_schema {
  bool is_compiled;  /* or could not be */
  bool has_warned;   /* of an answer that broke it: once is enough */
  lt_schema *schema; /* NULL: everything fits */
} lt_tool_schema;

typedef struct lt_tool_schemas {
  lt_tool_schema input;
  lt_tool_schema output;
} lt_tool_schemas;

void lt_tool_schemas_release(lt_tool_schemas *schemas);

/* Compiles the schema, the first time it is asked to; a long text on the pool. LT_YIELDS: the schema and the text must
 * stay. Anything but LT_OK is returned once: its caller gives the warning, with what `err` says is wrong. */
lt_status lt_tool_schema_compile(lt_tool_schema *schema, lt_loop *loop, lt_str text, lt_err *err) LT_YIELDS;

/* LT_OK, also where checking takes too much work. LT_E_INVALID: `faults` holds what is wrong with the value, which the
 * text calls `name`. LT_E_NOMEM. Any thread. */
lt_status lt_tool_schema_check(const lt_tool_schema *schema, lt_json value, lt_str name, lt_buf *faults);

#endif
