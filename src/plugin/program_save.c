#include "plugin/program_save.h"

#include "base/limits.h"
#include "json/json.h"
#include "plugin/program_head.h"
#include "plugin/program_tools_impl.h"
#include "runner/save_tool.h"

lt_tool_spec lt_program_save_spec(void) {
  return (lt_tool_spec){
      .name = lt_str_of(strchr(LT_SAVE_TOOL, '.') + 1),
      .description = LT_STR("Keep a program under a name: from the next program on it is the tool programs.NAME. The "
                            "program finds what it is called with in `input`, and its value is the answer"),
      .input_schema = LT_STR("{\"type\":\"object\",\"properties\":{"
                             "\"name\":{\"type\":\"string\",\"description\":\"A letter, then letters, digits, _ and "
                             "-\"},"
                             "\"code\":{\"type\":\"string\",\"description\":\"The program, or a function of its "
                             "input\"},"
                             "\"description\":{\"type\":\"string\",\"description\":\"What it does; otherwise the "
                             "comment at its beginning\"},"
                             "\"input\":{\"type\":\"object\",\"description\":\"JSON Schema of its input; otherwise any "
                             "object\"},"
                             "\"language\":{\"enum\":[\"javascript\",\"typescript\",\"python\"],\"default\":"
                             "\"javascript\"}},\"required\":[\"name\",\"code\"],\"additionalProperties\":false}"),
      .output_schema = LT_STR("{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":\"string\"},\"version\":{"
                              "\"type\":\"integer\"}},\"required\":[\"tool\",\"version\"]}"),
      /* the same program again adds no version */
      .annotations = LT_STR("{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":true,"
                            "\"openWorldHint\":false}"),
      .of_plugin = true,
  };
}

/* The door has checked the input. */
static lt_status program_save_read(lt_json input, const lt_invoke_options *options, lt_arena *arena,
                                   lt_saved_program *ret, lt_lang *ret_lang, lt_err *err) {
  lt_str language = LT_STR("javascript");
  lt_json schema = lt_json_get(input, "input");
  *ret = (lt_saved_program){.user = options->caller != NULL ? options->caller->user : LT_STR(LT_SAVED_FOR_ALL)};
  (void)lt_json_str(lt_json_get(input, "name"), arena, &ret->name);
  (void)lt_json_str(lt_json_get(input, "code"), arena, &ret->code);
  (void)lt_json_str(lt_json_get(input, "description"), arena, &ret->description);
  (void)lt_json_str(lt_json_get(input, "language"), arena, &language);
  ret->schema = lt_json_exists(schema) ? lt_json_text(schema) : LT_STR_NULL;
  lt_str ended = lt_arena_printf(arena, "%.*s", LT_STR_ARG(language));
  *ret_lang = LT_LANG_JAVASCRIPT;
  return ended.p != NULL && lt_lang_find(ended.p, ret_lang) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory to save");
}

/* Parses it where it would run: TypeScript in QuickJS also where it runs on Deno. */
static lt_status program_save_check_syntax(const lt_program_tools *t, const lt_saved_program *program, lt_lang lang,
                                           const lt_invoke_options *options, lt_buf *out, lt_err *err) LT_YIELDS {
  lt_run_faults faults;
  lt_run_result result;
  lt_run_request request;
  const lt_caller caller = {.user = program->user,
                            .catalog = options->caller != NULL ? options->caller->catalog : NULL};
  lt_runner *runner =
      t->options.runner(t->options.arg, lang == LT_LANG_PYTHON ? LT_LANG_PYTHON : LT_LANG_JAVASCRIPT, err);
  if (runner == NULL) {
    return err->status;
  }
  lt_program_tools_set_request(t, options, options->caller, &request);
  lt_run_faults_init(&faults);
  lt_run_result_init(&result);
  request.caller = &caller;
  request.code = program->code;
  request.lang = lang;
  request.timeout_ms = LT_CHECK_TIMEOUT_MS;
  request.has_fixed_timeout = true;
  request.faults = &faults;
  request.on_standing = NULL;
  lt_status status = runner->run(runner, &request, &result, err);
  if (status == LT_OK && result.status != LT_OK && !result.has_type_errors) {
    lt_buf_addc(out, "the program is not saved: ");
    lt_program_tools_put_failure(&result, out);
    status = out->status == LT_OK ? LT_E_TOOL : lt_fail(err, LT_E_NOMEM, "no memory for the program's error");
  }
  lt_run_result_release(&result);
  lt_run_faults_release(&faults);
  return status;
}

static lt_status program_save_check_name(const lt_program_tools *t, const lt_saved_program *program, lt_err *err) {
  bool is_taken = !lt_str_eqc(program->user, LT_SAVED_FOR_ALL) && lt_program_tools_has(t, program->name);
  return is_taken ? lt_fail(err, LT_E_INVALID, "programs.%.*s is there for everybody: choose another name",
                            LT_STR_ARG(program->name))
                  : LT_OK;
}

/* Everybody's are read again also where nothing is new: another process may have saved the same. */
static lt_status program_save_keep(lt_program_tools *t, const lt_saved_program *program, int64_t *ret_version,
                                   lt_err *err) LT_YIELDS {
  bool is_new = false;
  LT_TRY(lt_store_program_save(t->options.db, program, ret_version, &is_new, err));
  if (!lt_str_eqc(program->user, LT_SAVED_FOR_ALL)) {
    return LT_OK;
  }
  t->saves++;
  return lt_program_tools_read(t, err) == LT_OK
             ? LT_OK
             : lt_err_prefix(err, "the program is saved, and a tool from the next start on only");
}

lt_status lt_program_save_call(lt_program_tools *t, lt_str input, const lt_invoke_options *options, lt_buf *out,
                               lt_err *err) {
  lt_json_doc doc;
  lt_lang lang;
  int64_t version = 0;
  lt_saved_program program;
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  LT_TRY(lt_json_parse(&arena, input, &doc, err));
  LT_TRY(program_save_read(lt_json_root(&doc), options, &arena, &program, &lang, err));
  LT_TRY(lt_program_head_complete(&program, lang, &arena, err));
  LT_TRY(program_save_check_name(t, &program, err));
  LT_TRY(program_save_check_syntax(t, &program, lang, options, out, err));
  LT_TRY(program_save_keep(t, &program, &version, err));
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "tool");
  lt_json_put_str(&w, lt_arena_printf(&arena, "programs.%.*s", LT_STR_ARG(program.name)));
  lt_json_key(&w, "version");
  lt_json_put_int(&w, version);
  lt_json_end_object(&w);
  return lt_buf_check(out, err, "no memory for the answer");
}
