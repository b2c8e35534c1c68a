#include "runner/typecheck/typecheck_declare.h"

#include "base/arena.h"
#include "json/json.h"
#include "runner/typecheck/named_tools.h"
#include "tool/tool_typegen.h"

/* --- Declarations ------------------------------------------------------------------------------------------------- */

static void declare_functions(const lt_run_request *request, lt_buf *out) {
  for (size_t i = 0; i < request->function_count; i++) {
    lt_buf_addc(out, "declare function ");
    lt_buf_add(out, request->functions[i].name);
    lt_buf_addc(out, "(...args: any[]): Promise<any>;\n");
  }
}

static void declare_modules(const lt_run_request *request, lt_buf *out) {
  for (size_t i = 0; i < request->module_count; i++) {
    lt_buf_addc(out, "declare module ");
    lt_json_writer w = lt_json_writer_on(out);
    lt_json_put_str(&w, request->modules[i].name);
    lt_buf_addc(out, ";\n");
  }
}

/* Whether the tool may take arguments although its schema names none. A model is told that it takes none, but a call
 * with arguments goes through. */
static bool declare_takes_anything(const lt_tool *tool) {
  LT_AUTO_ARENA(arena, LT_TYPEGEN_MEMORY_BYTES);
  lt_json_doc doc;
  return lt_str_trim(tool->input_schema).n == 0 || lt_json_parse(&arena, tool->input_schema, &doc, NULL) != LT_OK ||
         lt_json_bool(lt_json_get(lt_json_root(&doc), "additionalProperties"), true);
}

static lt_status declare_tool(const lt_tool *tool, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(text, LT_TYPECHECK_TYPES_MAX_BYTES);
  const lt_typegen_tool described = lt_tool_typegen(tool);
  lt_str nothing = LT_STR("Input { [k: string]: never }");
  LT_TRY(lt_typegen_ts_tool(&described, &text, err));
  size_t at = lt_str_find(lt_buf_view(&text), nothing, 0);
  if (at == SIZE_MAX || !declare_takes_anything(tool)) {
    lt_buf_add(out, lt_buf_view(&text));
    return LT_OK;
  }
  lt_buf_add(out, lt_str_sub(lt_buf_view(&text), 0, at));
  lt_buf_addc(out, "Input { [k: string]: any }");
  lt_buf_add(out, lt_str_sub(lt_buf_view(&text), at + nothing.n, text.n));
  return LT_OK;
}

/* Replaces `export` by `declare`, because an export would make the file a module, whose names are not global. */
static void declare_make_global(lt_buf *out, lt_str text) {
  lt_str exported = LT_STR("\nexport ");
  size_t at = 0;
  for (size_t next; (next = lt_str_find(text, exported, at)) != SIZE_MAX; at = next + exported.n) {
    lt_buf_add(out, lt_str_sub(text, at, next));
    lt_buf_addc(out, "\ndeclare ");
  }
  lt_buf_add(out, lt_str_sub(text, at, text.n));
}

static bool declare_is_first_of_tool(const lt_named_tools *named, size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (named->list[k].tool == named->list[i].tool) {
      return false;
    }
  }
  return true;
}

/* A tool may be named in other ways than by its own TypeScript name. */
static lt_status declare_tools(const lt_named_tools *named, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(text, LT_TYPECHECK_TYPES_MAX_BYTES);
  for (size_t i = 0; i < named->count; i++) {
    const lt_tool *tool = named->list[i].tool;
    if (declare_is_first_of_tool(named, i)) {
      LT_TRY(declare_tool(tool, &text, err));
    }
    if (!lt_str_eq(named->list[i].word, tool->ts_name)) {
      lt_buf_addc(&text, "\ndeclare const ");
      lt_buf_add(&text, named->list[i].word);
      lt_buf_addc(&text, ": typeof ");
      lt_buf_add(&text, tool->ts_name);
      lt_buf_addc(&text, ";\n");
    }
  }
  declare_make_global(out, lt_buf_view(&text));
  return lt_buf_check(&text, err, "no room for the declarations of the program's tools");
}

/* A function that the host gives the program hides a tool of its name. */
static const lt_tool *declare_find_tool(void *arg, lt_str word) {
  const lt_typecheck_program *program = arg;
  bool is_function = lt_run_request_find_function(program->request, word) < program->request->function_count;
  return is_function ? NULL : program->find_tool(program->arg, word);
}

lt_status lt_typecheck_declare(const lt_typecheck_program *program, lt_buf *out, lt_err *err) {
  lt_named_tools named;
  lt_typecheck_program searched = *program;
  LT_TRY(lt_named_tools_gather(program->source, declare_find_tool, &searched, &named, err));
  lt_buf_add(out, program->globals);
  declare_functions(program->request, out);
  declare_modules(program->request, out);
  lt_status status = declare_tools(&named, out, err);
  lt_named_tools_release(&named);
  return status == LT_OK ? lt_buf_check(out, err, "no room for the declarations of the program's tools") : status;
}
