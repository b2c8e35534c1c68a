#include "tool/tool_schemas.h"

#include "base/limits.h"

void lt_tool_schemas_release(lt_tool_schemas *schemas) {
  lt_schema_free(schemas->input.schema);
  lt_schema_free(schemas->output.schema);
}

/* --- Compiling ---------------------------------------------------------------------------------------------------- */
typedef struct schema_compilation {
  lt_str text;
  lt_schema *schema;
  lt_status status;
  lt_err err;
} schema_compilation;

static void tool_schema_compile(void *arg) {
  schema_compilation *c = arg;
  c->status = lt_schema_new(c->text, &c->schema, &c->err);
}

/* Whether the schema allows everything. {"type":"object"} does not, for an answer. */
static bool tool_schema_is_trivial(lt_str schema) {
  return schema.n == 0 || lt_str_eqc(schema, "{}");
}

lt_status lt_tool_schema_compile(lt_tool_schema *schema, lt_loop *loop, lt_str text, lt_err *err) {
  if (schema->is_compiled) {
    return LT_OK;
  }
  schema_compilation c = {.text = lt_str_trim(text), .err = LT_ERR_INIT};
  if (tool_schema_is_trivial(c.text)) {
    schema->is_compiled = true;
    return LT_OK;
  }
  if (c.text.n <= LT_SCHEMA_INLINE_BYTES) {
    tool_schema_compile(&c);
  } else {
    LT_TRY(lt_loop_offload(loop, tool_schema_compile, &c, err));
  }
  if (schema->is_compiled) { /* another call was faster, and has given the warning */
    lt_schema_free(c.schema);
    return LT_OK;
  }
  if (c.status == LT_E_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "no memory to read a schema");
  }
  schema->is_compiled = true;
  schema->schema = c.schema;
  if (c.status != LT_OK && err != NULL) {
    *err = c.err;
  }
  return c.status;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */
lt_status lt_tool_schema_check(const lt_tool_schema *schema, lt_json value, lt_str name, lt_buf *faults) {
  if (schema->schema == NULL) {
    return LT_OK;
  }
  lt_status status = lt_schema_check(schema->schema, value, name, faults, NULL);
  return status == LT_E_LIMIT ? LT_OK : status;
}
