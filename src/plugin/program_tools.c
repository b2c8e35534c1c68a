#include "plugin/program_tools.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_programs.h"
#include "plugin/plugin_call.h"
#include "plugin/program_save.h"
#include "plugin/program_tools_impl.h"
#include "replay/notes.h"
#include "runner/save_tool.h"
#include "store/store_programs.h"

#define NAMESPACE "programs"

typedef struct saved_tool {
  lt_str name;
  lt_lang lang;
  lt_str code;
} saved_tool;

struct lt_program_set {
  lt_arena arena;
  lt_buf json; /* the list from the store, which the texts are in */
  saved_tool *tools;
  lt_run_module *modules;
  size_t count;
};

/* --- A call ------------------------------------------------------------------------------------------------------- */
static const saved_tool *program_tools_find(const lt_program_tools *t, lt_str name) {
  const lt_program_set *set = t->latest;
  for (size_t i = 0; set != NULL && i < set->count; i++) {
    if (lt_str_eq(set->tools[i].name, name)) {
      return &set->tools[i];
    }
  }
  return NULL;
}

bool lt_program_tools_has(const lt_program_tools *t, lt_str name) {
  return program_tools_find(t, name) != NULL;
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

/* The hash of the text that a run on record began with; 0: it is not on record, and has the latest one. */
static lt_status program_tools_recall(const lt_caller *caller, uint64_t *ret_hash, lt_err *err) LT_YIELDS {
  lt_record record;
  lt_program_identity identity;
  *ret_hash = 0;
  if (!caller->recalled || caller->journal == NULL || caller->journal->recall == NULL) {
    return LT_OK;
  }
  LT_TRY(caller->journal->recall(caller->journal, caller->run, &record, err));
  const lt_note *begun = lt_notes_find(&record, LT_NOTE_BEGIN);
  if (begun != NULL && lt_notes_read_identity(begun->text, &identity)) {
    *ret_hash = identity.program;
  }
  lt_record_release(&record);
  return LT_OK;
}

/* Everybody's program, else the caller's own. */
static lt_status program_tools_read_code(const lt_program_tools *t, lt_str name, const lt_caller *caller, lt_buf *code,
                                         lt_lang *ret_lang, lt_err *err) LT_YIELDS {
  uint64_t hash = 0;
  char language[LT_SAVED_LANGUAGE_BYTES] = "";
  LT_TRY(program_tools_recall(caller, &hash, err));
  const saved_tool *tool = program_tools_find(t, name);
  if (tool != NULL && (hash == 0 || hash == lt_str_hash(tool->code))) {
    lt_buf_add(code, tool->code);
    *ret_lang = tool->lang;
    return lt_buf_check(code, err, "no memory for another program");
  }
  lt_status status = LT_E_NOTFOUND;
  if (hash != 0) { /* a version that is not the latest any more */
    status = lt_store_program_code(t->options.db, LT_STR(LT_SAVED_FOR_ALL), name, hash, code, language, err);
  }
  if (status == LT_E_NOTFOUND) {
    status = lt_store_program_code(t->options.db, caller->user, name, hash, code, language, err);
  }
  LT_TRY(status);
  return lt_lang_find(language, ret_lang) ? LT_OK : lt_fail(err, LT_E_INTERNAL, "a saved program has no language");
}

static void program_tools_on_standing(void *arg, bool stands) {
  const lt_invoke_options *options = arg;
  if (options->on_approval != NULL) {
    options->on_approval(options->arg, stands);
  }
}

void lt_program_tools_set_request(const lt_program_tools *t, const lt_invoke_options *options, const lt_caller *caller,
                                  lt_run_request *request) {
  const lt_plugin_prompt *prompt = caller != NULL ? caller->prompt : NULL;
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

void lt_program_tools_put_failure(const lt_run_result *result, lt_buf *out) {
  lt_buf_add(out, lt_buf_view(&result->error));
  if (result->line > 0) {
    lt_buf_printf(out, " (line %u, column %u: %.*s)", result->line, result->column,
                  LT_STR_ARG(lt_buf_view(&result->context)));
  }
}

/* A program without a value answers null. */
static lt_status program_tools_answer(const lt_run_result *result, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  if (result->status == LT_E_DIVERGED) {
    return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&result->error)));
  }
  if (result->status != LT_OK) {
    lt_program_tools_put_failure(result, out);
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

static lt_status program_tools_run(const lt_program_tools *t, const lt_run_request *request, lt_buf *out,
                                   lt_err *err) LT_YIELDS {
  lt_runner *runner = t->options.runner(t->options.arg, request->lang, err);
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

static lt_status program_tools_call(const lt_program_tools *t, lt_str name, lt_str input,
                                    const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(code, 2 * LT_SAVED_CODE_BYTES);
  lt_caller caller;
  lt_lang lang;
  lt_run_request request;
  lt_catalog *all = NULL, *for_programs = NULL;
  LT_TRY(program_tools_make_caller(options, &arena, &caller, err));
  LT_TRY(program_tools_read_code(t, name, &caller, &code, &lang, err));
  LT_TRY(lt_door_catalog_of(t->options.door, &caller, &all, err));
  lt_status status = lt_catalog_for_programs(all, &for_programs, err);
  lt_catalog_unref(all);
  LT_TRY(status);
  caller.catalog = for_programs;
  lt_program_tools_set_request(t, options, &caller, &request);
  request.code = lt_buf_view(&code);
  request.lang = lang;
  request.input = input;
  status = program_tools_run(t, &request, out, err);
  lt_catalog_unref(for_programs);
  return status;
}

static lt_status program_tools_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                      lt_buf *out, lt_err *err) LT_YIELDS {
  lt_program_tools *t = (lt_program_tools *)(void *)base;
  return lt_str_eq(name, lt_program_save_spec().name) ? lt_program_save_call(t, input, options, out, err)
                                                      : program_tools_call(t, name, input, options, out, err);
}

static lt_str program_tools_down(lt_provider *base) {
  (void)base;
  return LT_STR_NULL;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static lt_str program_tools_text(lt_json object, const char *key, lt_arena *arena) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(object, key), arena, &text);
  return text;
}

static lt_tool_spec program_tools_spec(lt_json row, lt_arena *arena) {
  return (lt_tool_spec){.name = program_tools_text(row, "name", arena),
                        .description = program_tools_text(row, "description", arena),
                        .input_schema = lt_json_text(lt_json_get(row, "schema")),
                        .annotations = LT_STR("{\"idempotentHint\":true}"), /* its calls are recorded themselves */
                        .of_plugin = true,
                        .only_calls = true};
}

static void program_set_take(lt_program_set *set, lt_json row, lt_tool_spec *ret_spec) {
  saved_tool *tool = &set->tools[set->count];
  *ret_spec = program_tools_spec(row, &set->arena);
  *tool = (saved_tool){.name = ret_spec->name, .code = program_tools_text(row, "code", &set->arena)};
  lt_str language = program_tools_text(row, "language", &set->arena);
  tool->lang = lt_str_eqc(language, "ts")       ? LT_LANG_TYPESCRIPT
               : lt_str_eqc(language, "python") ? LT_LANG_PYTHON
                                                : LT_LANG_JAVASCRIPT;
  set->modules[set->count++] = (lt_run_module){
      .name = lt_arena_printf(&set->arena, NAMESPACE "/%.*s", LT_STR_ARG(tool->name)), .source = tool->code};
}

static void program_set_free(lt_program_set *set) {
  if (set != NULL) {
    lt_arena_release(&set->arena);
    lt_buf_release(&set->json);
    lt_mem_free(set->tools);
    lt_mem_free(set->modules);
    lt_mem_free(set);
  }
}

/* Gives the programs of the set, which has none so far, to the door. */
static lt_status program_tools_publish(lt_program_tools *t, lt_program_set *set, lt_json list, lt_err *err) {
  size_t count = lt_json_count(list), n = 0;
  lt_tool_spec *specs = lt_mem_zalloc(count + 1, sizeof *specs);
  set->tools = lt_mem_zalloc(count + 1, sizeof *set->tools);
  set->modules = lt_mem_zalloc(count + 1, sizeof *set->modules);
  lt_status status = specs != NULL && set->tools != NULL && set->modules != NULL
                         ? LT_OK
                         : lt_fail(err, LT_E_NOMEM, "no memory for the saved programs");
  for (lt_json_iter it = lt_json_each(list); status == LT_OK && lt_json_next(&it);) {
    program_set_take(set, it.value, &specs[n++]);
  }
  if (status == LT_OK && t->may_save) {
    specs[n++] = lt_program_save_spec();
  }
  if (status == LT_OK) {
    status = lt_door_set_tools(t->options.door, &t->base, specs, n, err);
  }
  lt_mem_free(specs);
  return status;
}

static lt_status program_tools_fill(lt_program_tools *t, lt_program_set *set, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  LT_TRY(lt_store_programs_list(t->options.db, LT_STR(LT_SAVED_FOR_ALL), LT_STR_NULL, true, &set->json, err));
  LT_TRY(lt_json_parse(&set->arena, lt_buf_view(&set->json), &doc, err));
  return program_tools_publish(t, set, lt_json_root(&doc), err);
}

static lt_status program_tools_read_once(lt_program_tools *t, lt_err *err) LT_YIELDS {
  lt_program_set *set = lt_mem_zalloc(1, sizeof *set);
  if (set == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the saved programs");
  }
  lt_arena_init(&set->arena, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&set->json, LT_JSON_MAX_BYTES);
  lt_status status = program_tools_fill(t, set, err);
  if (status != LT_OK) {
    program_set_free(set);
    return status;
  }
  if (t->latest != t->first) {
    program_set_free(t->latest);
  }
  t->latest = set;
  t->first = t->first != NULL ? t->first : set;
  return LT_OK;
}

lt_status lt_program_tools_read(lt_program_tools *t, lt_err *err) {
  uint64_t saves;
  do { /* a program that was saved meanwhile may not be in the list */
    saves = t->saves;
    LT_TRY(program_tools_read_once(t, err));
  } while (saves != t->saves);
  return LT_OK;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
static void program_tools_free(lt_program_tools *t) {
  if (t->latest != t->first) {
    program_set_free(t->latest);
  }
  program_set_free(t->first);
  lt_mem_free(t);
}

lt_status lt_program_tools_open(lt_host *host, const lt_host_options *options, bool may_save,
                                lt_program_tools **ret_tools, lt_err *err) {
  *ret_tools = NULL;
  if (!may_save && !lt_store_programs_may_exist(options->db)) {
    return LT_OK;
  }
  lt_program_tools *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the saved programs");
  }
  t->base = (lt_provider){.name = LT_STR(NAMESPACE),
                          .invoke = program_tools_invoke,
                          .down = program_tools_down,
                          .keeps_tools = true}; /* the store keeps deleted ones for a while */
  t->host = host;
  t->options = *options;
  t->may_save = may_save;
  lt_status status = lt_door_check_namespace(options->door, t->base.name, err);
  status = status == LT_OK ? lt_program_tools_read(t, err) : status;
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
  *ret_count = t != NULL ? t->first->count : 0;
  return t != NULL ? t->first->modules : NULL;
}

lt_status lt_program_tools_of_user(lt_program_tools *t, lt_str user, lt_arena *arena, lt_catalog_source *ret_source,
                                   lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  *ret_source = (lt_catalog_source){.ns = LT_STR(NAMESPACE)};
  if (t == NULL || user.n == 0 || lt_str_eqc(user, LT_SAVED_FOR_ALL)) {
    return LT_OK;
  }
  LT_TRY(lt_store_programs_list(t->options.db, user, LT_STR_NULL, false, &json, err));
  lt_str list = lt_arena_dup_buf(arena, &json);
  LT_TRY(lt_json_parse(arena, list, &doc, err));
  lt_tool_spec *specs = lt_arena_zalloc(arena, lt_json_count(lt_json_root(&doc)), sizeof *specs);
  if (specs == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the saved programs");
  }
  ret_source->provider = &t->base;
  ret_source->tools = specs;
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    specs[ret_source->count] = program_tools_spec(it.value, arena);
    ret_source->count += !lt_program_tools_has(t, specs[ret_source->count].name);
  }
  return LT_OK;
}
