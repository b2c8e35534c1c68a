/* From what was written to what is run: fences off, modules and functions recognised, the named tools bound. */
#include "base/mem.h"
#include "json/json.h"
#include "json/json_text.h"
#include "runner/quickjs/program.h"

/* --- The request's limits ----------------------------------------------------------------------------------------- */
uint64_t lt_run_request_timeout_ms(const lt_run_request *request) {
  uint64_t ms = request->timeout_ms != 0 ? request->timeout_ms : LT_RUN_TIMEOUT_MS;
  return ms < LT_RUN_TIMEOUT_MAX_MS ? ms : LT_RUN_TIMEOUT_MAX_MS;
}

uint64_t lt_run_request_memory_bytes(const lt_run_request *request) {
  uint64_t bytes = request->memory_bytes != 0 ? request->memory_bytes : LT_RUN_MEMORY_BYTES;
  uint64_t least = bytes > LT_RUN_MEMORY_MIN_BYTES ? bytes : LT_RUN_MEMORY_MIN_BYTES;
  return least < LT_RUN_MEMORY_MAX_BYTES ? least : LT_RUN_MEMORY_MAX_BYTES;
}

/* --- Text that can be run ----------------------------------------------------------------------------------------- */
static void fail_at(lt_run *run, size_t at, const char *what) {
  run->source = run->request->code;
  lt_run_place_source(run, at);
  lt_run_result_fail(run->result, LT_E_INVALID, "%s (line %u, column %u): save the program as UTF-8 text", what,
                     run->result->line, run->result->column);
  lt_buf_clear(&run->result->context); /* it is not text */
}

/* Bytes of the UTF-8 sequence at `p` (RFC 3629, section 4), or 0. */
static unsigned sequence(const char *p, const char *end) {
  uint32_t c = 0;
  unsigned n = lt_json_read_char(p, end, &c);
  return lt_json_is_surrogate(c) ? 0 : n;
}

static bool is_text(lt_run *run) {
  lt_str code = run->request->code;
  if (code.n > LT_RUN_CODE_MAX_BYTES) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the program has %zu bytes; at most %lu MiB can be run", code.n,
                       LT_RUN_CODE_MAX_BYTES / LT_MIB);
    return false;
  }
  for (size_t i = 0; i < code.n;) {
    unsigned length = sequence(code.p + i, code.p + code.n);
    if (length == 0 || code.p[i] == 0) {
      fail_at(run, i, length == 0 ? "the program is not valid UTF-8" : "the program contains a NUL byte");
      return false;
    }
    i += length;
  }
  return true;
}

static bool has_input(lt_run *run) {
  lt_err err = LT_ERR_INIT;
  if (run->request->input.n > 0 && lt_json_check(run->request->input, &err) != LT_OK) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the input is not JSON: %s", lt_err_msg(&err));
    return false;
  }
  return true;
}

/* --- Tools and functions that are named --------------------------------------------------------------------------- */
typedef struct binder {
  const lt_run *run;
  lt_json_writer writer;
  const void **bound; /* tools and functions, so far */
  size_t count;
  size_t room;
  bool failed; /* no memory */
} binder;

static bool is_bound(const binder *b, const void *what) {
  for (size_t i = 0; i < b->count; i++) {
    if (b->bound[i] == what) {
      return true;
    }
  }
  return false;
}

static bool remember(binder *b, const void *what) {
  if (b->count == b->room) {
    size_t room = b->room == 0 ? 16 : b->room * 2;
    const void **bound = lt_mem_realloc(b->bound, room * sizeof *bound);
    if (bound == NULL) {
      b->failed = true;
      return false;
    }
    b->bound = bound;
    b->room = room;
  }
  b->bound[b->count++] = what;
  return true;
}

size_t lt_run_request_find_function(const lt_run_request *request, lt_str name) {
  size_t i = 0;
  while (i < request->function_count && !lt_str_eq(request->functions[i].name, name)) {
    i++;
  }
  return i;
}

/* A tool's id is a string there, a function's place a number. */
static void bind_function(binder *b, lt_str word, size_t index) {
  const lt_run_function *function = &b->run->request->functions[index];
  if (!is_bound(b, function) && remember(b, function)) {
    lt_json_key_str(&b->writer, word);
    lt_json_put_int(&b->writer, (int64_t)index);
  }
}

static void bind(void *arg, lt_str word) {
  binder *b = arg;
  size_t index = lt_run_request_find_function(b->run->request, word);
  if (index < b->run->request->function_count) {
    bind_function(b, word, index);
    return;
  }
  const lt_tool *tool = lt_run_find_named(b->run, word);
  if (tool != NULL && !is_bound(b, tool) && remember(b, tool)) {
    lt_json_key_str(&b->writer, word);
    lt_json_put_str(&b->writer, tool->id);
  }
}

/* A program names few of those there are; other tools are found through tools["id"]. */
static lt_status bind_named(lt_run *run, lt_str code) {
  binder b = {.run = run, .writer = lt_json_writer_on(&run->bindings)};
  lt_buf_clear(&run->bindings);
  lt_json_begin_object(&b.writer);
  lt_jsscan_words(code, bind, &b);
  lt_json_end_object(&b.writer);
  if (b.count == 0) {
    lt_buf_clear(&run->bindings);
  }
  lt_mem_free(b.bound);
  return b.failed ? LT_E_NOMEM : run->bindings.status;
}

/* --- The shape of the program ------------------------------------------------------------------------------------- */
/* A function declaration has no value as a statement, but as an expression it has. */
static lt_status as_expression(lt_run *run, lt_str *code) {
  lt_str prefix = LT_STR("0,");
  lt_buf whole;
  lt_buf_init(&whole, LT_RUN_CODE_MAX_BYTES * 2);
  lt_buf_add(&whole, prefix);
  lt_buf_add(&whole, *code);
  lt_buf_release(&run->code);
  run->code = whole;
  run->column_offset = (unsigned)prefix.n;
  *code = lt_buf_view(&run->code);
  return whole.status;
}

lt_status lt_run_prepare_code(lt_run *run, lt_str code, lt_err *err) {
  lt_jsscan scan = lt_jsscan_program(code);
  bool typed = run->request->lang == LT_LANG_TYPESCRIPT;
  lt_program *program = &run->program;
  program->module = scan.has_import || scan.has_export;
  program->call_result = scan.is_function && !program->module;
  program->calls = typed ? LT_CALLS_RESULT : scan.uses_promises ? LT_CALLS_PROMISE : LT_CALLS_PLAIN;
  bool any = lt_catalog_count(run->catalog) > 0 || run->request->function_count > 0;
  lt_status status = any ? bind_named(run, code) : LT_OK;
  if (status == LT_OK && program->call_result && scan.is_declaration) {
    status = as_expression(run, &code);
  }
  if (status != LT_OK) {
    return lt_fail(err, status, "no memory for another program");
  }
  program->code = code;
  program->file = typed ? LT_STR("program.ts") : LT_STR("program.js");
  program->input = run->request->input;
  program->without_output = run->request->without_output;
  program->bindings = lt_buf_view(&run->bindings);
  program->memory_bytes = lt_run_request_memory_bytes(run->request);
  return LT_OK;
}

bool lt_run_prepare(lt_run *run) {
  if (!is_text(run) || !has_input(run)) {
    return false;
  }
  run->source = lt_jsscan_unfence(run->request->code, &run->line_offset);
  return true;
}
