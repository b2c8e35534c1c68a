/* The Deno runner, and a run from its start to its end: its folder, processes and bridge, and their release. */
#include <signal.h>

#include "base/mem.h"
#include "runner/deno/deno.h"
#include "runner/deno/deno_bridge.h"
#include "runner/deno/deno_clock.h"
#include "runner/deno/deno_end.h"
#include "runner/deno/deno_find.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_instance.h"
#include "runner/deno/deno_output.h"
#include "runner/deno/deno_program.h"
#include "runner/deno/deno_program_text.h"
#include "runner/deno/deno_run.h"
#include "runner/deno/deno_source.h"
#include "runner/deno/deno_spare.h"
#include "runner/deno/deno_start.h"
#include "runner/deno/deno_state.h"
#include "sandbox/workers.h"

/* --- The runner --------------------------------------------------------------------------------------------------- */

static bool deno_speaks(lt_lang lang) {
  return lang == LT_LANG_TYPESCRIPT || lang == LT_LANG_JAVASCRIPT;
}

static lt_status deno_run_as_runner(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                                    lt_err *err) LT_YIELDS;

lt_runner *lt_deno_runner(lt_deno *deno) {
  return &deno->runner;
}

static bool deno_copy(const char *text, char **ret) {
  *ret = text != NULL ? lt_mem_strdup(lt_str_of(text)) : NULL;
  return text == NULL || *ret != NULL;
}

static void deno_runner_free(lt_runner *self) LT_YIELDS {
  lt_deno_free((lt_deno *)(void *)self);
}

lt_status lt_deno_new(const lt_deno_options *options, lt_deno **ret_deno, lt_err *err) {
  lt_deno *deno = lt_mem_zalloc(1, sizeof *deno);
  if (deno == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the Deno runner");
  }
  deno->runner = (lt_runner){.id = "deno", .speaks = deno_speaks, .run = deno_run_as_runner, .free = deno_runner_free};
  deno->loop = options->loop;
  deno->door = options->door;
  deno->check = options->check;
  deno->without_walls = options->without_walls;
  deno->tcp = options->tcp;
  deno->transport = options->tcp ? LT_DENO_TCP : LT_DENO_UNIX;
  deno->spare_ms = options->ahead_ms;
  deno->spare.lock = -1;
  const char *helper = options->helper != NULL ? options->helper : "/proc/self/exe";
  if (!deno_copy(options->path, &deno->path) || !deno_copy(options->typescript_path, &deno->typescript_path) ||
      !deno_copy(helper, &deno->helper) || !deno_copy(options->time_zone, &deno->time_zone)) {
    /* no LT_YIELDS: there is nothing to end */
    lt_deno_free(deno);
    return lt_fail(err, LT_E_NOMEM, "no memory for the Deno runner");
  }
  *ret_deno = deno;
  return LT_OK;
}

void lt_deno_free(lt_deno *deno) {
  if (deno != NULL) {
    lt_deno_spare_close(deno);
    lt_mem_free(deno->path);
    lt_mem_free(deno->typescript_path);
    lt_mem_free(deno->helper);
    lt_mem_free(deno->time_zone);
    lt_mem_free(deno->exe);
    lt_mem_free(deno->tsc);
    lt_mem_free(deno);
  }
}

/* --- Waiting for the end ------------------------------------------------------------------------------------------ */

static void deno_stop_if_needed(lt_deno_run *run) {
  if (run->has_ended || run->stop_reason != LT_OK) {
    return;
  }
  if (run->cancel.why != LT_OK) {
    lt_deno_program_stop(run, LT_E_CANCELLED);
  } else if (lt_deno_clock_left_ms(run) == 0) {
    lt_deno_program_stop(run, LT_E_TIMEOUT);
  } else if (run->checker.has_type_errors) {
    lt_deno_program_stop(run, LT_E_PROGRAM);
  }
}

static void deno_wait_until_ended(lt_deno_run *run) LT_YIELDS {
  lt_cancel_node follows_request, wakes_run;
  lt_cancel_follow(run->request->cancel, &follows_request, &run->cancel);
  lt_cancel_add(&run->cancel, &wakes_run, &run->wait);
  while (run->readers > 0) {
    deno_stop_if_needed(run);
    if (run->has_ended && run->checker.process != NULL) { /* its report is not used */
      lt_process_signal(run->checker.process, SIGKILL);
    }
    lt_wait_on(&run->wait, run->has_ended || run->stop_reason != LT_OK ? UINT64_MAX : lt_deno_clock_left_ms(run));
  }
  lt_cancel_remove(&run->cancel, &wakes_run);
  lt_cancel_remove(run->request->cancel, &follows_request);
}

/* --- Starting the processes --------------------------------------------------------------------------------------- */

static lt_status deno_spawn_reader(lt_deno_run *run, lt_fiber_fn fn, lt_err *err) {
  run->readers++;
  lt_status status = lt_loop_spawn(run->loop, fn, run, err);
  run->readers -= status != LT_OK;
  return status;
}

/* The fiber that reads the compiler's report. The program begins unless there are type errors. */
static void deno_on_checker_fiber(void *arg) {
  lt_deno_run *run = arg;
  lt_deno_checker *checker = &run->checker;
  lt_str line;
  lt_status status = LT_OK;
  while (status != LT_E_CLOSED) {
    status = lt_process_read_line(checker->process, &line, NULL);
    if (status == LT_OK && checker->report.status == LT_OK) {
      lt_buf_add(&checker->report, line);
      lt_buf_byte(&checker->report, '\n');
    }
  }
  lt_deno_output_await_exit(run, checker->process);
  bool has_succeeded = strcmp(lt_process_exit_text(checker->process), "exited with code 0") == 0;
  checker->has_type_errors = !has_succeeded && lt_deno_end_has_type_errors(run);
  checker->is_running = false;
  if (!checker->has_type_errors) {
    lt_deno_program_begin(run);
  }
  run->readers--;
  lt_wait_wake(&run->wait, LT_OK);
}

static lt_status deno_start_checker(lt_deno_run *run, lt_err *err) {
  if (!lt_deno_run_is_checked(run)) {
    return LT_OK;
  }
  LT_TRY(lt_deno_start_checker(run, err));
  run->checker.is_running = true;
  return deno_spawn_reader(run, deno_on_checker_fiber, err);
}

/* Over TCP the bridge is opened first: Deno's arguments contain its port. */
static lt_status deno_start_deno(lt_deno_run *run, lt_deno_transport transport, lt_err *err) {
  run->instance.transport = transport;
  if (transport == LT_DENO_TCP) {
    LT_TRY(lt_deno_bridge_open(run, transport, err));
    run->instance.port = lt_http_server_port(run->server);
  }
  return lt_deno_instance_start(run->deno, &run->instance, err);
}

/* Does everything that Deno does not need while it starts. */
static lt_status deno_begin(lt_deno_run *run, lt_err *err) LT_YIELDS {
  LT_TRY(deno_spawn_reader(run, lt_deno_output_on_fiber, err));
  LT_TRY(lt_deno_source_write_files(run, err));
  LT_TRY(deno_start_checker(run, err));
  if (run->server == NULL) {
    LT_TRY(lt_deno_bridge_open(run, run->instance.transport, err));
  }
  if (!run->checker.is_running) {
    lt_deno_program_begin(run);
  }
  return LT_OK;
}

static void deno_close_processes(lt_deno_run *run) LT_YIELDS {
  lt_cancel_fire(&run->cancel, LT_E_CANCELLED); /* calls that the program left open */
  lt_http_server_close(run->server);
  lt_process_close(run->instance.process);
  lt_process_close(run->checker.process);
  run->server = NULL;
  run->instance.process = run->checker.process = NULL;
}

/* Waits until everything that was started has ended. `status`: whether the start succeeded. */
static lt_status deno_finish(lt_deno_run *run, lt_status status) LT_YIELDS {
  if (status != LT_OK) {
    lt_deno_program_stop(run, LT_E_CANCELLED);
  }
  deno_wait_until_ended(run);
  return status;
}

static bool deno_has_started(const lt_deno_run *run) {
  return run->has_begun || run->stop_reason != LT_OK;
}

/* Runs the program over one transport. Errors: LT_E_UNSUPPORTED when Deno ended before boot.js: another may work. */
static lt_status deno_try_transport(lt_deno_run *run, lt_deno_transport transport, lt_err *err) LT_YIELDS {
  lt_status status = deno_start_deno(run, transport, err);
  status = deno_finish(run, status == LT_OK ? deno_begin(run, err) : status);
  if (status == LT_OK && !deno_has_started(run)) {
    status = lt_deno_find_explain(run->deno, run->instance.process, err);
  } else if (status == LT_OK) {
    lt_deno_end_describe(run);
  }
  deno_close_processes(run);
  return status;
}

static void deno_reset_try(lt_deno_run *run) {
  lt_cancel_init(&run->cancel);
  lt_buf_clear(&run->checker.report);
  run->stop_reason = LT_OK;
  run->has_ended = run->checker.is_running = run->checker.has_type_errors = false;
}

static lt_status deno_try_transports(lt_deno_run *run, lt_err *err) LT_YIELDS {
  lt_deno_transport first = run->deno->transport;
  LT_ERR_VAR(why);
  lt_status status = deno_try_transport(run, first, &why);
  for (lt_deno_transport transport = first + 1; status == LT_E_UNSUPPORTED && transport < LT_DENO_TRANSPORTS;
       transport++) {
    deno_reset_try(run);
    LT_ERR_VAR(later);
    status = deno_try_transport(run, transport, &later);
    if (status == LT_OK) {
      run->deno->transport = transport;
    }
  }
  if (status != LT_OK) {
    return lt_err_copy(err, &why);
  }
  return LT_OK;
}

/* Runs the program in the spare. False: there was none, or it ended before the program began. */
static bool deno_run_in_spare(lt_deno_run *run) LT_YIELDS {
  if (!lt_deno_spare_take(run->deno, run->request, &run->instance)) {
    return false;
  }
  bool begun = deno_finish(run, deno_begin(run, NULL)) == LT_OK && deno_has_started(run);
  if (begun) {
    lt_deno_end_describe(run);
  }
  deno_close_processes(run);
  if (!begun) {
    lt_deno_instance_release(run->deno, &run->instance);
    deno_reset_try(run);
  }
  return begun;
}

static lt_status deno_run_in_new(lt_deno_run *run, lt_err *err) LT_YIELDS {
  run->instance = (lt_deno_instance){
      .lock = -1, .limits = lt_deno_start_limits_of(run->request), .has_modules = run->request->module_count > 0};
  LT_TRY(lt_deno_folder_make(&run->instance, err));
  LT_TRY(run->instance.has_modules ? lt_deno_source_write_modules(run, err) : LT_OK);
  return deno_try_transports(run, err);
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

static lt_status deno_run_program(lt_deno_run *run, lt_err *err) LT_YIELDS {
  if (run->request->cancel != NULL && run->request->cancel->why != LT_OK) {
    run->stop_reason = LT_E_CANCELLED;
    lt_deno_end_describe(run);
    return LT_OK;
  }
  if (!lt_deno_program_text_prepare(run)) {
    return LT_OK;
  }
  LT_TRY(lt_call_matching_begin(&run->matching, run->request, "deno", run->deno->door, run->result, &run->is_replayed,
                                err));
  if (run->is_replayed) {
    return LT_OK;
  }
  LT_TRY(lt_deno_find(run->deno, err));
  LT_TRY(run->is_typescript ? lt_deno_find_tsc(run->deno, err) : LT_OK);
  LT_TRY(lt_door_catalog_of(run->deno->door, run->request->caller, &run->catalog, err));
  if (run->pragma.warnings.n > 0) {
    lt_deno_output_add(run, LT_SAID_WARNING, lt_buf_view(&run->pragma.warnings));
  }
  if (!deno_run_in_spare(run)) {
    LT_TRY(deno_run_in_new(run, err));
  }
  run->has_run = true;
  lt_call_matching_end(&run->matching, run->result);
  return LT_OK;
}

static void deno_run_init(lt_deno_run *run, lt_deno *deno, const lt_run_request *request, lt_run_result *result) {
  *run = (lt_deno_run){.deno = deno, .loop = deno->loop, .result = result};
  run->request = request = lt_exec_pragma_apply(&run->pragma, request);
  run->instance.lock = -1;
  run->is_typescript = request->lang == LT_LANG_TYPESCRIPT;
  run->values = request->values;
  run->output.texts_end = &result->texts;
  run->calls.list_end = &run->calls.list;
  lt_wait_init(&run->wait, deno->loop);
  lt_cancel_init(&run->cancel);
  lt_buf_init(&run->joined, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_buf_init(&run->checker.report, LT_DENO_FAULTS_MAX_BYTES);
  lt_buf_init(&run->output.failure.name, LT_RUN_ERROR_BYTES);
  lt_buf_init(&run->output.failure.message, LT_JSON_MAX_BYTES);
  lt_buf_init(&run->output.failure.stack, LT_JSON_MAX_BYTES);
}

static void deno_run_release(lt_deno_run *run) LT_YIELDS {
  lt_deno_instance_release(run->deno, &run->instance);
  lt_buf_release(&run->joined);
  lt_exec_pragma_release(&run->pragma);
  lt_buf_release(&run->checker.report);
  lt_buf_release(&run->output.failure.name);
  lt_buf_release(&run->output.failure.message);
  lt_buf_release(&run->output.failure.stack);
  lt_call_matching_release(&run->matching);
  lt_stored_values_free(run->own_values);
  lt_catalog_unref(run->catalog);
}

static lt_status deno_run_as_runner(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                                    lt_err *err) LT_YIELDS {
  lt_deno *deno = (lt_deno *)(void *)self;
  lt_deno_run *run = lt_mem_alloc(sizeof *run);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  uint64_t began = lt_workers_now();
  deno_run_init(run, deno, request, result);
  run->clock.deadline_ns = began + lt_run_request_timeout_ms(run->request) * 1000000;
  lt_status status = deno_run_program(run, err);
  deno_run_release(run);
  if (run->has_run) {
    lt_deno_spare_schedule(deno, &run->instance.limits);
  }
  if (!deno->has_removed_abandoned) {
    deno->has_removed_abandoned = true;
    lt_deno_folder_remove_abandoned(deno->loop);
  }
  lt_run_result_ensure_error(result);
  if (!run->is_replayed) {
    result->duration_ms = (double)(lt_workers_now() - began) / 1e6;
    result->owned = run->calls.list;
    result->calls = lt_run_tool_call_link(run->calls.list);
  }
  lt_mem_free(run);
  return status;
}
