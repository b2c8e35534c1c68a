#include "json/schema.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/schema_compile.h"
#include "json/schema_faults.h"

static lt_status schema_fail_memory(lt_err *err) {
  return lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status schema_read_schema(lt_schema *schema, lt_str text, lt_err *err) {
  lt_str copy = lt_arena_dup(&schema->arena, text);
  if (copy.p == NULL) {
    return schema_fail_memory(err);
  }
  LT_TRY(lt_json_parse(&schema->arena, copy, &schema->doc, err));
  LT_AUTO_ARENA(scratch, LT_SCHEMA_MEMORY_BYTES);
  lt_schema_compiler c = {.schema = schema, .arena = &schema->arena, .scratch = &scratch, .err = err};
  return lt_schema_compile(&c);
}

lt_status lt_schema_new(lt_str text, lt_schema **ret, lt_err *err) {
  if (text.n > LT_SCHEMA_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "the schema has over %lu bytes", LT_SCHEMA_MAX_BYTES);
  }
  lt_schema *schema = lt_mem_zalloc(1, sizeof(*schema));
  if (schema == NULL) {
    return schema_fail_memory(err);
  }
  lt_arena_init(&schema->arena, LT_SCHEMA_MEMORY_BYTES);
  lt_status status = schema_read_schema(schema, text, err);
  if (status != LT_OK) {
    lt_schema_free(schema);
    return status;
  }
  *ret = schema;
  return LT_OK;
}

void lt_schema_free(lt_schema *schema) {
  if (schema != NULL) {
    lt_arena_release(&schema->arena);
    lt_mem_free(schema);
  }
}

lt_str lt_schema_notes(const lt_schema *schema) {
  return schema->notes;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

static bool schema_run_once(lt_schema_run *run, lt_json value) {
  lt_schema_place root = {.value = value};
  run->steps = LT_SCHEMA_STEPS + lt_json_text(value).n * LT_SCHEMA_STEPS_PER_BYTE;
  run->depth = 0;
  run->status = LT_OK;
  return lt_schema_apply(run, run->schema->root, &root);
}

/* Checks again, now with fault text. The first result stands even if the second check fails. */
static lt_status schema_describe_faults(lt_schema_run *run, lt_json value, lt_buf *ret_faults) {
  LT_AUTO_BUF(out, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_schema_sink sink = {.out = &out, .separator = "; ", .max = LT_TOOL_INPUT_ERRORS_MAX};
  run->sink = &sink;
  schema_run_once(run, value);
  if (sink.count == 0) {
    lt_buf_add(&out, run->root_name);
    lt_buf_addc(&out, ": does not fit the schema");
  } else if (sink.count > sink.max) {
    lt_buf_printf(&out, "; and %u more", sink.count - sink.max);
  }
  bool good = run->status != LT_E_NOMEM && out.status != LT_E_NOMEM;
  if (good) {
    lt_buf_add(ret_faults, lt_buf_view(&out));
    good = ret_faults->status != LT_E_NOMEM;
  }
  return good ? LT_E_INVALID : LT_E_NOMEM;
}

lt_status lt_schema_check(const lt_schema *schema, lt_json value, lt_str root_name, lt_buf *ret_faults, lt_err *err) {
  lt_schema_run run = {.schema = schema, .root_name = root_name, .work = LT_REGEX_WORK_INIT};
  lt_arena_init(&run.arena, LT_SCHEMA_MEMORY_BYTES + 4 * lt_json_text(value).n);
  lt_status status = schema_run_once(&run, value) ? LT_OK : run.status != LT_OK ? run.status : LT_E_INVALID;
  if (status == LT_E_INVALID && ret_faults != NULL) {
    status = schema_describe_faults(&run, value, ret_faults);
  }
  lt_regex_work_release(&run.work);
  lt_arena_release(&run.arena);
  if (status == LT_E_NOMEM) {
    return schema_fail_memory(err);
  }
  return status == LT_E_LIMIT ? lt_fail(err, LT_E_LIMIT, "checking this value takes too much work") : status;
}
