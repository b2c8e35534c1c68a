#include "app/program_check.h"

#include "app/run_llm.h"

static void program_check_put_number(lt_json_writer *w, const char *key, uint32_t n) {
  lt_json_key(w, key);
  lt_json_put_int(w, n);
}

static void program_check_put_fault(lt_json_writer *w, const lt_run_fault *fault) {
  lt_json_begin_object(w);
  program_check_put_number(w, "line", fault->line);
  program_check_put_number(w, "column", fault->column);
  if (fault->end_line > 0) {
    program_check_put_number(w, "endLine", fault->end_line);
    program_check_put_number(w, "endColumn", fault->end_column);
  }
  lt_json_key(w, "severity");
  lt_json_put_cstr(w, fault->is_warning ? "warning" : "error");
  lt_json_key(w, "message");
  lt_json_put_str(w, fault->message);
  lt_json_end_object(w);
}

/* Why the program would not begin, unless the list has it. */
static void program_check_put_failure(lt_json_writer *w, const lt_run_result *result) {
  const lt_run_fault fault = {.line = result->line > 0 ? result->line : 1,
                              .column = result->column > 0 ? result->column : 1,
                              .message = lt_buf_view(&result->error)};
  if (result->status != LT_OK && !result->has_type_errors) {
    program_check_put_fault(w, &fault);
  }
}

static lt_status program_check_put(const lt_run_result *result, const lt_run_faults *faults, lt_json_writer *w,
                                   lt_err *err) {
  if (result->status == LT_E_TIMEOUT || result->status == LT_E_CANCELLED) {
    return lt_fail(err, result->status, "the program was not checked: %.*s", LT_STR_ARG(lt_buf_view(&result->error)));
  }
  lt_json_begin_array(w);
  program_check_put_failure(w, result);
  for (size_t i = 0; i < faults->count; i++) {
    program_check_put_fault(w, &faults->list[i]);
  }
  lt_json_end_array(w);
  return LT_OK;
}

/* In QuickJS also where another runner runs TypeScript: the checks of types are the same. */
static lt_status program_check_run(const lt_program_check *check, const lt_run_request *request, lt_json_writer *w,
                                   lt_err *err) LT_YIELDS {
  lt_run_result result;
  lt_runner *runner =
      lt_toolbox_runner(check->session->toolbox, check->lang == LT_LANG_PYTHON ? NULL : "quickjs", check->lang, err);
  if (runner == NULL) {
    return err->status;
  }
  lt_run_result_init(&result);
  lt_status status = runner->run(runner, request, &result, err);
  status = status == LT_OK ? program_check_put(&result, request->faults, w, err) : status;
  lt_run_result_release(&result);
  return status;
}

lt_status lt_program_check_put(const lt_program_check *check, lt_json_writer *w, lt_err *err) {
  lt_session *session = check->session;
  lt_catalog *all = NULL;
  lt_caller caller = {.user = check->user};
  lt_run_faults faults;
  lt_run_llm llm;
  lt_run_request request = {.code = check->code,
                            .lang = check->lang,
                            .timeout_ms = LT_CHECK_TIMEOUT_MS,
                            .has_fixed_timeout = true,
                            .memory_bytes = (uint64_t)session->config.memory_mb * LT_MIB,
                            .modules = check->modules->list,
                            .module_count = check->modules->count,
                            .caller = &caller,
                            .cancel = check->cancel,
                            .faults = &faults};
  LT_TRY(lt_host_catalog_of_user(lt_toolbox_host(session->toolbox), check->user, &all, err));
  lt_status status = lt_catalog_for_programs(all, &caller.catalog, err);
  lt_catalog_unref(all);
  LT_TRY(status);
  request.functions = lt_host_functions(lt_toolbox_host(session->toolbox), &request.function_count);
  lt_run_faults_init(&faults);
  status = lt_run_llm_init(&llm, session, &request, err);
  status = status == LT_OK ? program_check_run(check, &request, w, err) : status;
  lt_run_llm_release(&llm);
  lt_run_faults_release(&faults);
  lt_catalog_unref(caller.catalog);
  return status;
}
