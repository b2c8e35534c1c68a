/* The files of a run: the program, the modules it may import, declarations for the compiler, and lathe.js. They contain
 * only the tools that the program's text names, so that the others cost nothing. */
#include <stdio.h>

#include "base/random.h"
#include "json/json.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_run.h"
#include "runner/deno/deno_source.h"
#include "runner/deno/deno_state.h"
#include "js/commonjs.h"
#include "js/jsscan.h"
#include "js/top_return.h"
#include "runner/typecheck/named_tools.h"
#include "runner/typecheck/typecheck_declare.h"

extern const char lt_deno_inspect_data[], lt_deno_inspect_end[];
extern const char lt_deno_boot_data[], lt_deno_boot_end[];

static lt_str deno_source_bytes_between(const char *from, const char *to) {
  return lt_str_from(from, (size_t)(to - from));
}

/* --- Names in the text -------------------------------------------------------------------------------------------- */

static const lt_tool *deno_source_unless_hidden(const lt_deno_run *run, const lt_tool *tool) {
  const lt_caller *caller = run->request->caller;
  bool hidden = tool != NULL && caller != NULL && caller->hidden.n > 0 && lt_str_eq(tool->id, caller->hidden);
  return hidden ? NULL : tool;
}

const lt_tool *lt_deno_source_find_tool(const lt_deno_run *run, lt_str word) {
  if (lt_run_request_find_function(run->request, word) < run->request->function_count) {
    return NULL;
  }
  lt_tool_language language = run->is_typescript ? LT_TOOL_TYPESCRIPT : LT_TOOL_JAVASCRIPT;
  return deno_source_unless_hidden(run, lt_catalog_find_word(run->catalog, language, word).tool);
}

lt_str lt_deno_source_name_of(const lt_deno_run *run, const lt_tool *tool) {
  if (deno_source_unless_hidden(run, tool) == NULL) {
    return LT_STR_NULL;
  }
  return run->is_typescript ? tool->ts_name : tool->js_name;
}

/* What differs from other runners: here these ask the host, which takes time. */
static const char deno_globals[] =
    "declare function discoverTools(query?: string): Promise<{ id: string; name: string; description: string }[]>;\n"
    "declare function toolSchema(name: string): Promise<any>;\n";

/* --- Declarations ------------------------------------------------------------------------------------------------- */

static const lt_tool *deno_source_find_named_tool(void *arg, lt_str word) {
  return lt_deno_source_find_tool(arg, word);
}

static lt_status deno_source_write_types(lt_deno_run *run, lt_err *err) {
  const lt_typecheck_program program = {.request = run->request,
                                        .source = run->source,
                                        .globals = lt_str_of(deno_globals),
                                        .find_tool = deno_source_find_named_tool,
                                        .arg = run};
  LT_AUTO_BUF(out, 2 * LT_TYPECHECK_TYPES_MAX_BYTES);
  lt_buf_add(&out, lt_typecheck_globals());
  LT_TRY(lt_typecheck_declare(&program, &out, err));
  return lt_deno_folder_write(&run->instance, "lathe.d.ts", lt_buf_view(&out), err);
}

/* --- The program and its modules ---------------------------------------------------------------------------------- */

/* The text round the program. */
typedef struct program_frame {
  lt_str first; /* before its first line */
  size_t start; /* the number of bytes of the program before the frame */
  lt_str head;
  lt_str tail;
} program_frame;

/* A program that reads `import.meta.main` gets `true`, although it is imported. A first line `#!...` becomes a comment.
 */
static lt_str deno_source_first_of(const lt_deno_run *run) {
  if (lt_str_find(run->source, LT_STR("import.meta.main"), 0) == SIZE_MAX) {
    return LT_STR_NULL;
  }
  return lt_str_starts(run->source, LT_STR("#!")) ? LT_STR("import.meta.main = true; //")
                                                  : LT_STR("import.meta.main = true; ");
}

/* The result is the module's default export. A program that is one function is called. One with a top-level `return`
 * becomes a function's body; its imports stay before it. */
static program_frame deno_source_frame_of(const lt_deno_run *run, lt_str source, const lt_jsscan *scan) {
  program_frame frame = {.first = deno_source_first_of(run)};
  if (scan->is_function && !scan->has_import && !scan->has_export) {
    frame.head = LT_STR("export default ");
  } else if (scan->has_return && !scan->is_function && !scan->has_export) {
    frame.start = lt_top_return_find_start(source);
    frame.head = frame.start > 0 ? LT_STR(";export default await (async () => {")
                                 : LT_STR("export default await (async () => {");
    frame.tail = LT_STR("\n})();");
  } else if (scan->has_idle_main && !scan->is_function) {
    frame.tail = run->is_typescript ? LT_STR("\nexport default await (main as any)(input);")
                                    : LT_STR("\nexport default await main(input);");
  }
  return frame;
}

static void deno_source_put_framed(lt_deno_run *run, lt_str source, const program_frame *frame, lt_buf *out) {
  run->column_offset += (unsigned)(frame->first.n + (frame->start == 0 ? frame->head.n : 0));
  lt_buf_add(out, frame->first);
  lt_buf_add(out, lt_str_sub(source, 0, frame->start));
  lt_buf_add(out, frame->head);
  lt_buf_add(out, lt_str_sub(source, frame->start, source.n));
  lt_buf_add(out, frame->tail);
}

/* Deno reads a program as a module: `module.exports` is made for it, and `export =` is `export default`. True: what is
 * exported is the program's value. */
static bool deno_source_take_exports(lt_deno_run *run, const lt_jsscan *scan, lt_buf *out) {
  size_t start, end;
  lt_commonjs found = lt_commonjs_read(run->source);
  bool has_value = found.has_exports && !found.calls_its_exports && !scan->has_return && !scan->has_default;
  if (lt_commonjs_find_export_equals(run->source, &start, &end)) {
    lt_buf_add(out, lt_str_sub(run->source, 0, start));
    lt_buf_addc(out, "export default ");
    lt_buf_add(out, lt_str_sub(run->source, end, run->source.n));
    return true;
  }
  if (!found.is_used || scan->is_function) {
    lt_buf_add(out, run->source);
    return false;
  }
  lt_commonjs_form form = run->is_typescript ? LT_COMMONJS_TYPED : LT_COMMONJS_MODULE;
  lt_commonjs_rewrite(run->source, form, has_value, out, &run->column_offset);
  return has_value;
}

/* Empty lines replace the lines removed before the program, so that its line numbers do not change. */
static lt_status deno_source_write_program(lt_deno_run *run, lt_err *err) {
  lt_jsscan scan = lt_jsscan_program(run->source);
  LT_AUTO_BUF(source, 2 * LT_RUN_CODE_MAX_BYTES);
  LT_AUTO_BUF(out, 2 * LT_RUN_CODE_MAX_BYTES);
  for (unsigned i = 0; i < run->line_offset; i++) {
    lt_buf_byte(&out, '\n');
  }
  run->column_offset = 0;
  bool has_value = deno_source_take_exports(run, &scan, &source);
  program_frame frame = {.first = deno_source_first_of(run)};
  if (!has_value) {
    frame = deno_source_frame_of(run, lt_buf_view(&source), &scan);
  }
  deno_source_put_framed(run, lt_buf_view(&source), &frame, &out);
  LT_TRY(lt_buf_check(&source, err, "no memory for another program"));
  LT_TRY(lt_buf_check(&out, err, "no memory for another program"));
  return lt_deno_folder_write(&run->instance, LT_DENO_PROGRAM(run), lt_buf_view(&out), err);
}

/* A module's name may contain anything, so its file has a number, and imports.json maps the name to it. */
lt_status lt_deno_source_write_modules(const lt_deno_run *run, lt_err *err) {
  LT_AUTO_BUF(map, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&map);
  lt_json_begin_object(&w);
  lt_json_key(&w, "imports");
  lt_json_begin_object(&w);
  for (size_t i = 0; i < run->request->module_count; i++) {
    char name[32], place[40];
    snprintf(name, sizeof name, "module-%zu.js", i);
    snprintf(place, sizeof place, "./%s", name);
    LT_TRY(lt_deno_folder_write(&run->instance, name, run->request->modules[i].source, err));
    lt_json_key_str(&w, run->request->modules[i].name);
    lt_json_put_cstr(&w, place);
  }
  lt_json_end_object(&w);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&map, err, "no room for the names of the program's modules"));
  return lt_deno_folder_write(&run->instance, "imports.json", lt_buf_view(&map), err);
}

/* --- lathe.js ----------------------------------------------------------------------------------------------------- */

lt_status lt_deno_source_make_secret(lt_deno_instance *instance, lt_err *err) {
  return lt_random_hex(instance->secret, 32) ? LT_OK
                                             : lt_fail(err, LT_E_IO, "no random numbers for the bridge's secret");
}

static void deno_source_put_bridge(lt_json_writer *w, const lt_deno *deno, const lt_deno_instance *instance) {
  char text[sizeof instance->folder + 64];
  bool tcp = instance->transport == LT_DENO_TCP;
  lt_json_key(w, "bridge");
  lt_json_begin_object(w);
  lt_json_key(w, "transport");
  lt_json_put_cstr(w, tcp ? "tcp" : "unix");
  lt_json_key(w, tcp ? "hostname" : "path");
  lt_deno_folder_bridge_path(deno, instance, text, sizeof text);
  lt_json_put_cstr(w, tcp ? "127.0.0.1" : text);
  if (tcp) {
    lt_json_key(w, "port");
    lt_json_put_int(w, instance->port);
  }
  lt_json_end_object(w);
  lt_json_key(w, "header");
  snprintf(text, sizeof text, "X-Lathe-Secret: %s\r\n", instance->secret);
  lt_json_put_cstr(w, text);
  lt_json_key(w, "connections");
  lt_json_put_int(w, LT_DENO_CONNECTIONS_MAX);
  lt_json_key(w, "ahead");
  lt_json_put_bool(w, instance->is_spare);
}

lt_status lt_deno_source_write_boot(const lt_deno *deno, const lt_deno_instance *instance, lt_err *err) {
  LT_AUTO_BUF(out, LT_MIB);
  lt_buf_addc(&out, "const lathe = ");
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_object(&w);
  deno_source_put_bridge(&w, deno, instance);
  lt_json_end_object(&w);
  lt_buf_addc(&out, ";\n");
  lt_buf_addc(&out, "const roots = {};\n");
  lt_buf_add(&out, deno_source_bytes_between(lt_deno_inspect_data, lt_deno_inspect_end));
  lt_buf_addc(&out, "({}, roots);\n");
  lt_buf_add(&out, deno_source_bytes_between(lt_deno_boot_data, lt_deno_boot_end));
  LT_TRY(lt_buf_check(&out, err, "no memory for another program"));
  return lt_deno_folder_write(instance, "lathe.js", lt_buf_view(&out), err);
}

/* --- world.json --------------------------------------------------------------------------------------------------- */

static void deno_source_put_names(lt_json_writer *w, const lt_deno_run *run, const lt_named_tools *n) {
  lt_json_key(w, "tools");
  lt_json_begin_array(w);
  for (size_t i = 0; i < n->count; i++) {
    lt_json_begin_array(w);
    lt_json_put_str(w, n->list[i].word);
    lt_json_put_str(w, n->list[i].tool->id);
    lt_json_end_array(w);
  }
  lt_json_end_array(w);
  lt_json_key(w, "functions");
  lt_json_begin_array(w);
  for (size_t i = 0; i < run->request->function_count; i++) {
    lt_json_put_str(w, run->request->functions[i].name);
  }
  lt_json_end_array(w);
}

static void deno_source_put_world(lt_json_writer *w, const lt_deno_run *run) {
  lt_json_key(w, "program");
  lt_json_put_cstr(w, run->is_typescript ? "./program.ts" : "./program.js");
  lt_json_key(w, "typed");
  lt_json_put_bool(w, run->is_typescript);
  lt_json_key(w, "muted");
  lt_json_put_bool(w, run->request->without_output);
  lt_json_key(w, "values");
  if (run->values != NULL) {
    lt_stored_values_write(run->values, w);
  } else {
    lt_json_put_raw(w, LT_STR("{}"));
  }
  if (run->request->input.n > 0) {
    lt_json_key(w, "input");
    lt_json_put_raw(w, run->request->input);
  }
}

static lt_status deno_source_write_world(const lt_deno_run *run, const lt_named_tools *n, lt_err *err) {
  LT_AUTO_BUF(out, 2 * LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_object(&w);
  deno_source_put_names(&w, run, n);
  deno_source_put_world(&w, run);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&out, err, "no memory for the program's input"));
  return lt_deno_folder_write(&run->instance, "world.json", lt_buf_view(&out), err);
}

static lt_status deno_source_write_named(lt_deno_run *run, const lt_named_tools *n, lt_err *err) {
  if (lt_deno_run_is_checked(run)) {
    LT_TRY(deno_source_write_types(run, err));
  }
  return deno_source_write_world(run, n, err);
}

lt_status lt_deno_source_write_files(lt_deno_run *run, lt_err *err) {
  LT_TRY(deno_source_write_program(run, err));
  lt_named_tools n;
  LT_TRY(lt_named_tools_gather(run->source, deno_source_find_named_tool, run, &n, err));
  lt_status status = deno_source_write_named(run, &n, err);
  lt_named_tools_release(&n);
  return status;
}
