#include "tool/tool_schemas.h"

#include "base/limits.h"

void lt_tool_schemas_release(lt_tool_schemas *checks) {
  lt_schema_free(checks->input.schema);
  lt_schema_free(checks->output.schema);
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

/* Whether it says nothing at all. {"type":"object"} does, of an answer. */
static bool tool_schema_is_trivial(lt_str schema) {
  return schema.n == 0 || lt_str_eqc(schema, "{}");
}

lt_status lt_tool_schema_compile(lt_tool_schema *check, lt_loop *loop, lt_str schema, lt_err *err) {
  if (check->tried) {
    return LT_OK;
  }
  schema_compilation c = {.text = lt_str_trim(schema), .err = LT_ERR_INIT};
  if (tool_schema_is_trivial(c.text)) {
    check->tried = true;
    return LT_OK;
  }
  if (c.text.n <= LT_SCHEMA_INLINE_BYTES) {
    tool_schema_compile(&c);
  } else {
    LT_TRY(lt_loop_offload(loop, tool_schema_compile, &c, err));
  }
  if (check->tried) { /* somebody else was faster, and has told what is to be told */
    lt_schema_free(c.schema);
    return LT_OK;
  }
  if (c.status == LT_E_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "no memory to read a schema");
  }
  check->tried = true;
  check->schema = c.schema;
  if (c.status != LT_OK && err != NULL) {
    *err = c.err;
  }
  return c.status;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */
lt_status lt_tool_schema_check(const lt_tool_schema *check, lt_json value, lt_str name, lt_buf *faults) {
  if (check->schema == NULL) {
    return LT_OK;
  }
  lt_status status = lt_schema_check(check->schema, value, name, faults, NULL);
  return status == LT_E_LIMIT ? LT_OK : status;
}
