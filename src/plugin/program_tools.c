#include "plugin/program_tools.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_programs.h"
#include "plugin/plugin_call.h"
#include "replay/notes.h"
#include "store/store_programs.h"

#define NAMESPACE "programs"

typedef struct saved_tool {
  lt_str name;
  lt_lang lang;
  lt_str code;
} saved_tool;

struct lt_program_tools {
  lt_provider base; /* first member: the door's pointer is cast to this struct */
  lt_host *host;
  lt_host_options options;
  lt_arena arena;
  lt_buf json; /* the list from the store, which the texts are in */
  saved_tool *tools;
  lt_run_module *modules;
  size_t count;
};

/* --- A call ------------------------------------------------------------------------------------------------------- */
static const saved_tool *program_tools_find(const lt_program_tools *t, lt_str name) {
  for (size_t i = 0; i < t->count; i++) {
    if (lt_str_eq(t->tools[i].name, name)) {
      return &t->tools[i];
    }
  }
  return NULL;
}

/* The caller of the program's own calls: a run below the call, "R/3/1" for the third call of the run R. */
static lt_status program_tools_make_caller(const lt_invoke_options *options, lt_arena *arena, lt_caller *ret,
                                           lt_err *err) {
  unsigned depth = 0;
  for (const lt_caller *it = options->caller; it != NULL; it = it->parent) {
    if (++depth >= LT_CALLER_DEPTH_MAX) {
      return lt_fail(err, LT_E_LIMIT, "tools and programs call each other more than %d deep", LT_CALLER_DEPTH_MAX);
    }
  }
  *ret = options->caller != NULL ? *options->caller : (lt_caller){.user = LT_STR("local")};
  ret->parent = options->caller;
  ret->trace = lt_trace_context_is_set(options->trace) ? *options->trace : ret->trace;
  if (options->seq == 0) { /* no replay looks for the call */
    ret->noted = ret->recalled = false;
    return LT_OK;
  }
  ret->run = lt_arena_printf(arena, "%.*s/%llu/1", LT_STR_ARG(ret->run), (unsigned long long)options->seq);
  return ret->run.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the name of a run");
}

/* The text that a run on record began with. A run that is not on record has the latest one, which `code` has. */
static lt_status program_tools_recall(const lt_program_tools *t, const saved_tool *tool, const lt_caller *caller,
                                      lt_buf *code, lt_err *err) LT_YIELDS {
  lt_record record;
  lt_program_identity identity;
  lt_buf_add(code, tool->code);
  if (!caller->recalled || caller->journal == NULL || caller->journal->recall == NULL) {
    return lt_buf_check(code, err, "no memory for another program");
  }
  LT_TRY(caller->journal->recall(caller->journal, caller->run, &record, err));
  const lt_note *begun = lt_notes_find(&record, LT_NOTE_BEGIN);
  bool is_other =
      begun != NULL && lt_notes_read_identity(begun->text, &identity) && identity.program != lt_str_hash(tool->code);
  lt_record_release(&record);
  if (!is_other) {
    return lt_buf_check(code, err, "no memory for another program");
  }
  lt_buf_clear(code);
  return lt_store_program_code(t->options.db, tool->name, identity.program, code, err);
}

static void program_tools_on_standing(void *arg, bool stands) {
  const lt_invoke_options *options = arg;
  if (options->on_approval != NULL) {
    options->on_approval(options->arg, stands);
  }
}

static void program_tools_set_request(const lt_program_tools *t, const lt_invoke_options *options,
                                      const lt_caller *caller, lt_run_request *request) {
  const lt_plugin_prompt *prompt = caller->prompt;
  *request = prompt != NULL ? prompt->defaults : lt_host_programs_defaults(t->host);
  if (options->timeout_ms > 0 && (request->timeout_ms == 0 || options->timeout_ms < request->timeout_ms)) {
    request->timeout_ms = options->timeout_ms;
  }
  request->caller = caller;
  request->cancel = options->cancel;
  request->values = NULL;
  request->session = NULL;
  request->on_text = NULL;
  request->on_standing = program_tools_on_standing;
  request->arg = (void *)(uintptr_t)options;
}

/* `TypeError: no (line 2, column 7: source)`. A program without a value answers null. */
static lt_status program_tools_answer(const lt_run_result *result, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  if (result->status == LT_E_DIVERGED) {
    return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&result->error)));
  }
  if (result->status != LT_OK) {
    lt_buf_add(out, lt_buf_view(&result->error));
    if (result->line > 0) {
      lt_buf_printf(out, " (line %u, column %u: %.*s)", result->line, result->column,
                    LT_STR_ARG(lt_buf_view(&result->context)));
    }
    return out->status == LT_OK ? LT_E_TOOL : lt_fail(err, LT_E_NOMEM, "no memory for the program's error");
  }
  if (result->kind == LT_VALUE_STRING) {
    lt_json_put_str(&w, lt_buf_view(&result->value));
  } else if (result->kind == LT_VALUE_JSON) {
    lt_buf_add(out, lt_buf_view(&result->value));
  } else {
    lt_json_put_null(&w);
  }
  return lt_buf_check(out, err, "the program's result is too long");
}

static lt_status program_tools_run(const lt_program_tools *t, const saved_tool *tool, const lt_run_request *request,
                                   lt_buf *out, lt_err *err) LT_YIELDS {
  lt_runner *runner = t->options.runner(t->options.arg, tool->lang, err);
  if (runner == NULL) {
    return err->status;
  }
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = lt_runner_run(runner, request, &result, err);
  status = status == LT_OK ? program_tools_answer(&result, out, err) : status;
  lt_run_result_release(&result);
  return status;
}

static lt_status program_tools_call(const lt_program_tools *t, const saved_tool *tool, lt_str input,
                                    const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(code, 2 * LT_SAVED_CODE_BYTES);
  lt_caller caller;
  lt_run_request request;
  lt_catalog *all = NULL, *for_programs = NULL;
  LT_TRY(program_tools_make_caller(options, &arena, &caller, err));
  LT_TRY(program_tools_recall(t, tool, &caller, &code, err));
  LT_TRY(lt_door_catalog_of(t->options.door, &caller, &all, err));
  lt_status status = lt_catalog_for_programs(all, &for_programs, err);
  lt_catalog_unref(all);
  LT_TRY(status);
  caller.catalog = for_programs;
  program_tools_set_request(t, options, &caller, &request);
  request.code = lt_buf_view(&code);
  request.lang = tool->lang;
  request.input = input;
  status = program_tools_run(t, tool, &request, out, err);
  lt_catalog_unref(for_programs);
  return status;
}

static lt_status program_tools_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                      lt_buf *out, lt_err *err) LT_YIELDS {
  const lt_program_tools *t = (lt_program_tools *)(void *)base;
  const saved_tool *tool = program_tools_find(t, name);
  return tool != NULL ? program_tools_call(t, tool, input, options, out, err)
                      : lt_fail(err, LT_E_NOTFOUND, "there is no saved program \"%.*s\"", LT_STR_ARG(name));
}

static lt_str program_tools_down(lt_provider *base) {
  (void)base;
  return LT_STR_NULL;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
static lt_str program_tools_text(lt_json object, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(object, key), arena, &text);
  return text;
}

static void program_tools_take(lt_program_tools *t, lt_json row, lt_tool_spec *ret_spec) {
  saved_tool *tool = &t->tools[t->count];
  lt_str name = program_tools_text(row, "name", &t->arena);
  *tool = (saved_tool){.name = name, .code = program_tools_text(row, "code", &t->arena)};
  lt_str language = program_tools_text(row, "language", &t->arena);
  tool->lang = lt_str_eqc(language, "ts")       ? LT_LANG_TYPESCRIPT
               : lt_str_eqc(language, "python") ? LT_LANG_PYTHON
                                                : LT_LANG_JAVASCRIPT;
  t->modules[t->count++] =
      (lt_run_module){.name = lt_arena_printf(&t->arena, NAMESPACE "/%.*s", LT_STR_ARG(name)), .source = tool->code};
  *ret_spec = (lt_tool_spec){.name = name,
                             .description = program_tools_text(row, "description", &t->arena),
                             .input_schema = lt_json_text(lt_json_get(row, "schema")),
                             .annotations = LT_STR("{\"idempotentHint\":true}"), /* its calls are recorded themselves */
                             .of_plugin = true,
                             .only_calls = true};
}

static lt_status program_tools_publish(lt_program_tools *t, lt_json list, lt_err *err) {
  size_t count = lt_json_count(list), n = 0;
  lt_tool_spec *specs = lt_mem_zalloc(count + 1, sizeof *specs);
  t->tools = lt_mem_zalloc(count + 1, sizeof *t->tools);
  t->modules = lt_mem_zalloc(count + 1, sizeof *t->modules);
  lt_status status = specs != NULL && t->tools != NULL && t->modules != NULL
                         ? LT_OK
                         : lt_fail(err, LT_E_NOMEM, "no memory for the saved programs");
  for (lt_json_iter it = lt_json_each(list); status == LT_OK && lt_json_next(&it);) {
    program_tools_take(t, it.value, &specs[n++]);
  }
  if (status == LT_OK && count > 0) {
    status = lt_door_set_tools(t->options.door, &t->base, specs, count, err);
  }
  lt_mem_free(specs);
  return status;
}

static lt_status program_tools_read(lt_program_tools *t, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_TRY(lt_store_programs_list(t->options.db, LT_STR_NULL, &t->json, err));
  LT_TRY(lt_json_parse(&t->arena, lt_buf_view(&t->json), &doc, err));
  LT_TRY(lt_door_check_namespace(t->options.door, t->base.name, err));
  return program_tools_publish(t, lt_json_root(&doc), err);
}

static void program_tools_free(lt_program_tools *t) {
  lt_arena_release(&t->arena);
  lt_buf_release(&t->json);
  lt_mem_free(t->tools);
  lt_mem_free(t->modules);
  lt_mem_free(t);
}

lt_status lt_program_tools_open(lt_host *host, const lt_host_options *options, lt_program_tools **ret_tools,
                                lt_err *err) {
  *ret_tools = NULL;
  if (!lt_store_programs_may_exist(options->db)) {
    return LT_OK;
  }
  lt_program_tools *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the saved programs");
  }
  t->base = (lt_provider){.name = LT_STR(NAMESPACE), .invoke = program_tools_invoke, .down = program_tools_down};
  t->host = host;
  t->options = *options;
  lt_arena_init(&t->arena, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&t->json, LT_JSON_MAX_BYTES);
  lt_status status = program_tools_read(t, err);
  if (status != LT_OK) {
    program_tools_free(t);
    return lt_err_prefix(err, "saved programs cannot be called");
  }
  *ret_tools = t;
  return LT_OK;
}

void lt_program_tools_close(lt_program_tools *t) {
  if (t != NULL) {
    lt_door_remove(t->options.door, &t->base);
    program_tools_free(t);
  }
}

const lt_run_module *lt_program_tools_modules(const lt_program_tools *t, size_t *ret_count) {
  *ret_count = t != NULL ? t->count : 0;
  return t != NULL ? t->modules : NULL;
}
