/* A tool's schemas, compiled when they are first needed; internal to tool/.
 *
 * An unusable schema checks nothing and gives one warning; the tool stays callable. The schemas belong to the catalog's
 * tool. Loop thread only, except lt_tool_schema_check.
 */
#ifndef LT_TOOL_TOOL_SCHEMAS_H
#define LT_TOOL_TOOL_SCHEMAS_H

#include "json/schema.h"
#include "io/loop.h"

typedef struct lt_tool_schema {
  bool is_compiled;  /* also after a failure */
  bool has_warned;   /* the warning about a wrong answer was given */
  lt_schema *schema; /* NULL: every value fits */
} lt_tool_schema;

typedef struct lt_tool_schemas {
  lt_tool_schema input;
  lt_tool_schema output;
} lt_tool_schemas;

void lt_tool_schemas_release(lt_tool_schemas *schemas);

/* Compiles the schema at the first call; a long text on the pool. LT_YIELDS: the schema and the text must stay. An
 * error is returned once: the caller then gives the warning, with the message in `err`. */
lt_status lt_tool_schema_compile(lt_tool_schema *schema, lt_loop *loop, lt_str text, lt_err *err) LT_YIELDS;

/* Checks a value. LT_OK also when the check takes too much work. LT_E_INVALID: `faults` describes the faults of the
 * value, which the text calls `name`. LT_E_NOMEM. Any thread. */
lt_status lt_tool_schema_check(const lt_tool_schema *schema, lt_json value, lt_str name, lt_buf *faults);

#endif
