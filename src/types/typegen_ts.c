/* TypeScript declarations: tools, their types, their functions. */
#include "types/typegen.h"
#include "types/typegen_schema.h"
#include "types/typegen_text.h"
#include "types/typegen_ts.h"

/* --- Declarations ------------------------------------------------------------------------------------------------- */

static void ts_put_declaration(lt_typegen_ts_context *g, lt_str name, lt_json schema) {
  bool object = lt_typegen_is_plain_object(schema);
  lt_typegen_ts_put(g, "\n");
  lt_typegen_ts_put_doc(g, schema);
  lt_typegen_ts_put(g, object ? "export interface " : "export type ");
  lt_buf_add(g->out, name);
  g->defining = schema;
  g->direct = !object;
  g->where = (lt_typegen_ts_where){false, false};
  if (object) {
    lt_typegen_ts_put(g, " ");
    lt_typegen_ts_put_object(g, schema);
    lt_typegen_ts_put(g, "\n");
  } else {
    lt_typegen_ts_put(g, " = ");
    lt_typegen_ts_put_type(g, schema, LT_TSGEN_UNION);
    lt_typegen_ts_put(g, ";\n");
  }
}

static void ts_put_any_alias(lt_buf *out, lt_str name, const char *why, const char *detail) {
  lt_buf_addc(out, "\nexport type ");
  lt_buf_add(out, name);
  lt_buf_addc(out, " = any; // ");
  lt_buf_addc(out, why);
  lt_typegen_put_line(out, lt_str_of(detail), 200);
  lt_buf_addc(out, "\n");
}

/* Declares the root's type, then the types that it needs. */
static lt_status ts_put_declarations(lt_typegen_ts_context *g) {
  ts_put_declaration(g, g->name, g->root);
  for (size_t i = 0; i < g->def_count && !lt_typegen_ts_is_over(g); i++) {
    if (g->defs[i].name.n > 0) {
      ts_put_declaration(g, g->defs[i].name, g->defs[i].target);
    }
  }
  if (g->status == LT_OK && g->out->status == LT_OK && lt_typegen_ts_is_over(g)) {
    lt_buf_cut(g->out, g->begin);
    ts_put_any_alias(g->out, g->name, "the schema is too large for a type", "");
  }
  return g->status;
}

/* Declares `name` for the schema; `ret_optional` may be NULL. */
static lt_status ts_put_schema(lt_buf *out, lt_str name, lt_str text, bool input, bool *ret_optional) {
  LT_AUTO_ARENA(arena, LT_TYPEGEN_MEMORY_BYTES);
  lt_typegen_doc doc;
  LT_ERR_VAR(why);
  lt_status status = LT_E_LIMIT;
  if (text.n <= LT_TYPEGEN_SCHEMA_MAX_BYTES) {
    status = lt_typegen_parse(&arena, text, &doc, &why);
  }
  bool optional = true;
  if (status == LT_OK) {
    lt_typegen_ts_context g = {
        .out = out, .arena = &arena, .root = lt_json_root(&doc.json), .name = name, .begin = out->n};
    g.input = input;
    g.vague = input ? "unknown" : "any";
    lt_buf_init(&g.doc, LT_TYPEGEN_SCHEMA_MAX_BYTES);
    status = ts_put_declarations(&g);
    optional = lt_typegen_allows_nothing(g.root);
    lt_buf_release(&g.doc);
  } else if (status != LT_E_NOMEM) {
    ts_put_any_alias(out, name, "the schema is broken: ", text.n > LT_TYPEGEN_SCHEMA_MAX_BYTES ? "too large" : why.msg);
    status = LT_OK;
  }
  if (status == LT_OK && ret_optional != NULL) {
    *ret_optional = optional;
  }
  return status;
}

static lt_status ts_join(lt_buf *scratch, lt_str a, const char *b) {
  lt_buf_clear(scratch);
  lt_buf_add(scratch, a);
  lt_buf_addc(scratch, b);
  return scratch->status;
}

static lt_status ts_put_about(lt_typegen_ts_context *g, const lt_typegen_tool *tool) {
  lt_buf_init(&g->doc, LT_TYPEGEN_SCHEMA_MAX_BYTES);
  lt_typegen_put_text(&g->doc, tool->description, LT_TYPEGEN_DOC_MAX_BYTES);
  lt_typegen_ts_put(g, "\n");
  lt_typegen_ts_put_jsdoc(g, lt_buf_view(&g->doc));
  lt_status status = g->doc.status;
  lt_buf_release(&g->doc);
  return status;
}

static lt_status ts_put_function(lt_buf *out, const lt_typegen_tool *tool, bool optional) {
  lt_typegen_ts_context g = {.out = out};
  lt_status status = ts_put_about(&g, tool);
  lt_typegen_ts_put(&g, "declare function ");
  lt_buf_add(out, tool->ts_name);
  lt_typegen_ts_put(&g, optional ? "(input?: " : "(input: ");
  lt_buf_add(out, tool->ts_type);
  lt_typegen_ts_put(&g, "Input): Promise<Result<");
  lt_buf_add(out, tool->ts_type);
  lt_typegen_ts_put(&g, "Output>>;\n");
  return status;
}

static lt_status ts_put_member(lt_buf *out, const lt_typegen_tool *tool, const lt_typegen_member *as, bool optional) {
  lt_typegen_ts_context g = {.out = out};
  lt_status status = ts_put_about(&g, tool);
  lt_typegen_ts_put(&g, "declare const tools: { ");
  lt_buf_add(out, as->name);
  lt_typegen_ts_put(&g, optional ? "(args?: " : "(args: ");
  lt_buf_add(out, tool->ts_type);
  lt_typegen_ts_put(&g, as->is_whole ? "Input): Promise<CallToolResult<" : "Input): Promise<");
  lt_buf_add(out, tool->ts_type);
  lt_typegen_ts_put(&g, as->is_whole ? "Output>>; };\n" : "Output>; };\n");
  return status;
}

static lt_status ts_put_tool(lt_buf *out, const lt_typegen_tool *tool, const lt_typegen_member *as, lt_buf *scratch) {
  bool optional = true;
  lt_str input = lt_str_trim(tool->input_schema).n > 0 ? tool->input_schema : LT_STR("{\"type\":\"object\"}");
  LT_TRY(ts_join(scratch, tool->ts_type, "Input"));
  LT_TRY(ts_put_schema(out, lt_buf_view(scratch), input, true, &optional));
  LT_TRY(ts_join(scratch, tool->ts_type, "Output"));
  if (lt_str_trim(tool->output_schema).n > 0) {
    LT_TRY(ts_put_schema(out, lt_buf_view(scratch), tool->output_schema, false, NULL));
  } else {
    ts_put_any_alias(out, lt_buf_view(scratch), "not declared", "");
  }
  return as != NULL ? ts_put_member(out, tool, as, optional) : ts_put_function(out, tool, optional);
}

static lt_status ts_finish(lt_status status, const lt_buf *out, lt_err *err) {
  status = out->status != LT_OK ? out->status : status;
  if (status == LT_OK) {
    return LT_OK;
  }
  return lt_fail(err, status,
                 status == LT_E_NOMEM ? "no memory for the tools' declarations"
                                      : "the tools' declarations are too long: use fewer tools");
}

lt_status lt_typegen_ts_tool(const lt_typegen_tool *tool, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(scratch, LT_TYPEGEN_SCHEMA_MAX_BYTES);
  lt_status status = ts_put_tool(out, tool, NULL, &scratch);
  return ts_finish(status, out, err);
}

lt_status lt_typegen_ts_member(const lt_typegen_tool *tool, const lt_typegen_member *as, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(scratch, LT_TYPEGEN_SCHEMA_MAX_BYTES);
  lt_status status = ts_put_tool(out, tool, as, &scratch);
  return ts_finish(status, out, err);
}

lt_status lt_typegen_ts(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(scratch, LT_TYPEGEN_SCHEMA_MAX_BYTES);
  lt_buf_addc(out, "type Result<T> =\n  | { success: true; value: T }\n  | { success: false; error: string };\n");
  lt_status status = LT_OK;
  for (size_t i = 0; i < count && status == LT_OK && out->status == LT_OK; i++) {
    status = ts_put_tool(out, &tools[i], NULL, &scratch);
  }
  return ts_finish(status, out, err);
}
