#include "runner/quickjs/program_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "js/commonjs.h"
#include "js/jsscan.h"
#include "js/session_variables.h"
#include "js/top_return.h"
#include "json/json.h"
#include "runner/quickjs/program_image.h"
#include "runner/quickjs/run.h"
#include "runner/quickjs/source_place.h"
#include "runner/quickjs/tool_names.h"
#include "runner/save_tool.h"

void lt_program_text_init(lt_program_text *text) {
  *text = (lt_program_text){0};
  lt_buf_init(&text->code, LT_RUN_CODE_MAX_BYTES * 2);
  lt_buf_init(&text->bindings, LT_JSON_MAX_BYTES);
  lt_buf_init(&text->joined, LT_RUN_CODE_MAX_BYTES * 2);
}

void lt_program_text_release(lt_program_text *text) {
  lt_buf_release(&text->code);
  lt_buf_release(&text->bindings);
  lt_buf_release(&text->joined);
}

/* --- Text that can be run ----------------------------------------------------------------------------------------- */
static void text_fail_at(lt_run *run, size_t at, const char *what) {
  run->text.source = run->request->code;
  lt_source_place_set_byte(run, at);
  lt_run_result_fail(run->result, LT_E_INVALID, "%s (line %u, column %u): save the program as UTF-8 text", what,
                     run->result->line, run->result->column);
  lt_buf_clear(&run->result->context); /* the code is not valid text */
}

static bool text_is_utf8(lt_run *run) {
  size_t bad = lt_run_request_find_bad_byte(run->request);
  if (bad != SIZE_MAX) {
    text_fail_at(run, bad,
                 run->request->code.p[bad] == 0 ? "the program contains a NUL byte" : "the program is not valid UTF-8");
  }
  return bad == SIZE_MAX;
}

/* --- Tools and functions that are named --------------------------------------------------------------------------- */
typedef struct name_binder {
  const lt_run *run;
  lt_json_writer writer;
  lt_str *bound; /* the words so far: a tool may be called by several of its names */
  size_t count;
  size_t room;
  bool failed; /* no memory */
} name_binder;

static bool binder_has(const name_binder *b, lt_str word) {
  for (size_t i = 0; i < b->count; i++) {
    if (lt_str_eq(b->bound[i], word)) {
      return true;
    }
  }
  return false;
}

static bool binder_add(name_binder *b, lt_str word) {
  if (b->count == b->room) {
    size_t room = b->room == 0 ? 16 : b->room * 2;
    lt_str *bound = lt_mem_realloc(b->bound, room * sizeof *bound);
    if (bound == NULL) {
      b->failed = true;
      return false;
    }
    b->bound = bound;
    b->room = room;
  }
  b->bound[b->count++] = word;
  return true;
}

/* The bindings have a tool by its id and a function by its index. */
static void binder_add_function(name_binder *b, lt_str word, size_t index) {
  if (!binder_has(b, word) && binder_add(b, word)) {
    lt_json_key_str(&b->writer, word);
    lt_json_put_int(&b->writer, (int64_t)index);
  }
}

/* What a cell may call beside its tools, in other programs where nothing else has the name. */
static bool binder_is_cell_name(lt_str word) {
  static const char *const names[] = {"ALL_TOOLS", "text",   "image", "forward_output",
                                      "load",      "notify", "exit",  "yield_control"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (lt_str_eqc(word, names[i])) {
      return true;
    }
  }
  return false;
}

/* save() is the tool with arguments. */
static bool binder_is_save(const name_binder *b, lt_str word) {
  return lt_str_eqc(word, "save") && lt_catalog_find(b->run->catalog, LT_STR(LT_SAVE_TOOL)) != NULL;
}

static void binder_add_cell_name(name_binder *b, lt_str word) {
  if ((binder_is_cell_name(word) || binder_is_save(b, word)) && !binder_has(b, word) && binder_add(b, word)) {
    lt_json_key_str(&b->writer, word);
    lt_json_put_bool(&b->writer, true);
  }
}

static void binder_add_word(void *arg, lt_str word) {
  name_binder *b = arg;
  if (b->run->request->is_cell) {
    binder_add_cell_name(b, word);
  }
  size_t index = lt_run_request_find_function(b->run->request, word);
  if (index < b->run->request->function_count) {
    binder_add_function(b, word, index);
    return;
  }
  const lt_tool *tool = lt_tool_names_find_word(b->run, word);
  if (tool == NULL) {
    binder_add_cell_name(b, word);
  } else if (!binder_has(b, word) && binder_add(b, word)) {
    lt_json_key_str(&b->writer, word);
    lt_json_put_str(&b->writer, tool->id);
  }
}

/* Only tools that the program names are bound; other tools are found through tools["id"]. */
static lt_status text_bind_names(lt_run *run, lt_str code) {
  name_binder b = {.run = run, .writer = lt_json_writer_on(&run->text.bindings)};
  lt_buf_clear(&run->text.bindings);
  lt_json_begin_object(&b.writer);
  lt_jsscan_words(code, binder_add_word, &b);
  lt_json_end_object(&b.writer);
  if (b.count == 0) {
    lt_buf_clear(&run->text.bindings);
  }
  lt_mem_free(b.bound);
  return b.failed ? LT_E_NOMEM : run->text.bindings.status;
}

/* --- The shape of the program ------------------------------------------------------------------------------------- */
/* Replaces the text that runs; it then differs from the written text. `prefix`: characters put before its first line.
 */
static lt_status text_replace(lt_run *run, lt_buf *changed, unsigned prefix, lt_str *code) {
  lt_buf_release(&run->text.code);
  run->text.code = *changed;
  run->text.column_offset += prefix;
  *code = lt_buf_view(&run->text.code);
  return changed->status;
}

static lt_status text_add_around(lt_run *run, const char *before, const char *after, lt_str *code) {
  lt_buf whole;
  lt_buf_init(&whole, LT_RUN_CODE_MAX_BYTES * 2);
  lt_buf_addc(&whole, before);
  lt_buf_add(&whole, *code);
  lt_buf_addc(&whole, after);
  return text_replace(run, &whole, (unsigned)strlen(before), code);
}

static lt_status text_take_returns(lt_run *run, lt_str *code) {
  unsigned prefix = 0;
  lt_buf whole;
  lt_buf_init(&whole, LT_RUN_CODE_MAX_BYTES * 2);
  lt_top_return_rewrite(*code, run->text.program.module, &whole, &prefix);
  return text_replace(run, &whole, prefix, code);
}

/* Gives `module` and `exports` to a program that exports as Node's older modules do. `ret_has_value`: what it exports
 * is its value. */
static lt_status text_take_exports(lt_run *run, const lt_jsscan *scan, lt_str *code, bool *ret_has_value) {
  lt_program *program = &run->text.program;
  lt_commonjs found = lt_commonjs_read(*code);
  *ret_has_value = found.has_exports && !found.calls_its_exports && !scan->has_return && !scan->has_default;
  if (!found.is_used) {
    return LT_OK;
  }
  unsigned prefix = 0;
  lt_buf whole;
  lt_buf_init(&whole, LT_RUN_CODE_MAX_BYTES * 2);
  lt_commonjs_rewrite(*code, program->module ? LT_COMMONJS_MODULE : LT_COMMONJS_SCRIPT, *ret_has_value, &whole,
                      &prefix);
  program->call_result = program->call_result || *ret_has_value;
  return text_replace(run, &whole, prefix, code);
}

/* A module has a scope of its own, and so has a function. */
static lt_status text_share_variables(lt_run *run, const lt_jsscan *scan, lt_str *code) {
  const lt_program *program = &run->text.program;
  if (run->request->session == NULL || program->module || program->call_result) {
    return LT_OK;
  }
  unsigned prefix = 0;
  lt_buf whole;
  lt_buf_init(&whole, LT_RUN_CODE_MAX_BYTES * 2);
  lt_session_variables_rewrite(*code, scan->has_return, &whole, &prefix);
  return text_replace(run, &whole, prefix, code);
}

/* Gives the program the shape in which the engine finds its value. */
static lt_status text_shape(lt_run *run, const lt_jsscan *scan, lt_str *code) {
  const lt_program *program = &run->text.program;
  LT_TRY(text_share_variables(run, scan, code));
  if (program->call_result) { /* as a statement a function declaration has no value; as an expression it has one */
    return scan->is_declaration ? text_add_around(run, "0,", "", code) : LT_OK;
  }
  bool has_value = false;
  LT_TRY(text_take_exports(run, scan, code, &has_value));
  if (has_value) {
    return LT_OK;
  }
  if (scan->has_return && !scan->has_export) {
    return text_take_returns(run, code);
  }
  if (scan->has_idle_main && !run->request->is_typed) {
    return text_add_around(run, "", program->module ? "\nexport default main(input);" : "\n;main(input)", code);
  }
  return LT_OK;
}

/* Functions of a session's earlier programs keep their places, which are none in this program: so each has a name of
 * its own. */
static lt_str text_name_file(lt_run *run, bool is_typed) {
  const char *ending = is_typed ? "ts" : "js";
  if (run->request->session != NULL) {
    snprintf(run->text.file, sizeof run->text.file, "program-%016" PRIx64 ".%s", lt_str_hash(run->request->code),
             ending);
  } else {
    snprintf(run->text.file, sizeof run->text.file, "program.%s", ending);
  }
  return lt_str_of(run->text.file);
}

lt_status lt_program_text_prepare(lt_run *run, lt_str code, lt_err *err) {
  lt_jsscan scan = lt_program_image_scan(run, code, &run->text.image);
  bool typed = run->request->lang == LT_LANG_TYPESCRIPT;
  lt_program *program = &run->text.program;
  run->text.column_offset = 0;
  if (run->request->session != NULL) { /* a later program may need what this one does not */
    run->text.image = LT_IMAGE_INTL;
  }
  program->module = scan.has_import || scan.has_export;
  program->call_result = scan.is_function && !program->module && !run->request->is_typed;
  bool has_promises = scan.uses_promises || run->request->is_cell;
  program->calls = typed ? LT_CALLS_RESULT : has_promises ? LT_CALLS_PROMISE : LT_CALLS_PLAIN;
  lt_status status = text_bind_names(run, code);
  if (status == LT_OK) {
    status = text_shape(run, &scan, &code);
  }
  if (status != LT_OK) {
    return lt_fail(err, status, "no memory for another program");
  }
  program->code = code;
  program->file = text_name_file(run, typed);
  program->input = run->request->input;
  program->is_continued = run->request->session != NULL && run->request->session->memory.n > 0;
  program->is_cell = run->request->is_cell;
  program->without_output = run->request->without_output;
  program->shows_value = run->request->shows_value;
  program->only_parses = run->request->faults != NULL;
  program->bindings = lt_buf_view(&run->text.bindings);
  program->memory_bytes = lt_run_request_memory_bytes(run->request);
  return LT_OK;
}

bool lt_program_text_read(lt_run *run) {
  if (!lt_run_request_check_size(run->request, run->result) || !text_is_utf8(run) ||
      !lt_run_request_check_input(run->request, run->result)) {
    return false;
  }
  run->text.source = lt_jsscan_unfence(run->request->code, &run->text.joined, &run->text.line_offset);
  return true;
}
