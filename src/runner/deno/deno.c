/* A run from its beginning to its end: folder, processes, bridge, and all of it taken down again. */
#include <signal.h>

#include "base/mem.h"
#include "runner/deno/deno.h"
#include "runner/deno/deno_bridge.h"
#include "runner/deno/deno_clock.h"
#include "runner/deno/deno_end.h"
#include "runner/deno/deno_find.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_output.h"
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
  deno->way = options->tcp ? LT_DENO_TCP : LT_DENO_UNIX;
  deno->ahead_ms = options->ahead_ms;
  deno->spare.lock = -1;
  const char *helper = options->helper != NULL ? options->helper : "/proc/self/exe";
  if (!deno_copy(options->path, &deno->path) || !deno_copy(options->typescript_path, &deno->typescript_path) ||
      !deno_copy(helper, &deno->helper)) {
    /* no LT_YIELDS: nothing has been started */
    lt_deno_free(deno);
    return lt_fail(err, LT_E_NOMEM, "no memory for the Deno runner");
  }
  *ret_deno = deno;
  return LT_OK;
}

void lt_deno_free(lt_deno *deno) {
  if (deno != NULL) {
    lt_deno_end_spare(deno);
    lt_mem_free(deno->path);
    lt_mem_free(deno->typescript_path);
    lt_mem_free(deno->helper);
    lt_mem_free(deno->exe);
    lt_mem_free(deno->tsc);
    lt_mem_free(deno);
  }
}

/* --- Stopping ----------------------------------------------------------------------------------------------------- */
void lt_deno_stop(lt_deno_run *run, lt_status why) {
  if (run->stopped == LT_OK) {
    run->stopped = why;
  }
  lt_cancel_fire(&run->cancel, why == LT_E_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  if (run->room.process != NULL) {
    lt_process_signal(run->room.process, SIGKILL);
  }
  if (run->checker != NULL) {
    lt_process_signal(run->checker, SIGKILL);
  }
}

static void deno_stop_in_time(lt_deno_run *run) {
  if (run->ended || run->stopped != LT_OK) {
    return;
  }
  if (run->cancel.why != LT_OK) {
    lt_deno_stop(run, LT_E_CANCELLED);
  } else if (lt_deno_left_ms(run) == 0) {
    lt_deno_stop(run, LT_E_TIMEOUT);
  } else if (run->check_failed) {
    lt_deno_stop(run, LT_E_PROGRAM);
  }
}

static void deno_wait_until_ended(lt_deno_run *run) LT_YIELDS {
  lt_cancel_node from_above, to_us;
  lt_cancel_follow(run->request->cancel, &from_above, &run->cancel);
  lt_cancel_add(&run->cancel, &to_us, &run->wait);
  while (run->readers > 0) {
    deno_stop_in_time(run);
    if (run->ended && run->checker != NULL) { /* what it would say now is of no use */
      lt_process_signal(run->checker, SIGKILL);
    }
    lt_wait_on(&run->wait, run->ended || run->stopped != LT_OK ? UINT64_MAX : lt_deno_left_ms(run));
  }
  lt_cancel_remove(&run->cancel, &to_us);
  lt_cancel_remove(run->request->cancel, &from_above);
}

/* --- Beginning ---------------------------------------------------------------------------------------------------- */
static lt_status deno_spawn_reader(lt_deno_run *run, lt_fiber_fn fn, lt_err *err) {
  run->readers++;
  lt_status status = lt_loop_spawn(run->loop, fn, run, err);
  run->readers -= status != LT_OK;
  return status;
}

static lt_status deno_start_checker(lt_deno_run *run, lt_err *err) {
  if (!lt_deno_is_checked(run)) {
    return LT_OK;
  }
  LT_TRY(lt_deno_start_checker(run, err));
  run->checking = true;
  return deno_spawn_reader(run, lt_deno_read_checker, err);
}

/* Who has ended meanwhile does not hear it: his reader knows. The program's own input is at its end at once. */
void lt_deno_give_word(lt_deno_run *run) {
  if (lt_process_write(run->room.process, LT_STR("\n"), NULL) == LT_E_NOMEM) {
    lt_deno_stop(run, LT_E_NOMEM);
  }
  lt_process_end_input(run->room.process);
}

/* The port must be known before Deno is. */
static lt_status deno_start_deno(lt_deno_run *run, lt_deno_way way, lt_err *err) {
  run->room.way = way;
  if (way == LT_DENO_TCP) {
    LT_TRY(lt_deno_open_bridge(run, way, err));
    run->room.port = lt_http_server_port(run->server);
  }
  return lt_deno_fill_room(run->deno, &run->room, err);
}

/* All that Deno need not know while it starts. */
static lt_status deno_begin(lt_deno_run *run, lt_err *err) LT_YIELDS {
  LT_TRY(deno_spawn_reader(run, lt_deno_read, err));
  LT_TRY(lt_deno_write_files(run, err));
  LT_TRY(deno_start_checker(run, err));
  if (run->server == NULL) {
    LT_TRY(lt_deno_open_bridge(run, run->room.way, err));
  }
  if (!run->checking) {
    lt_deno_give_word(run);
  }
  return LT_OK;
}

static void deno_take_down(lt_deno_run *run) LT_YIELDS {
  lt_cancel_fire(&run->cancel, LT_E_CANCELLED); /* what a program that has ended left open */
  lt_http_server_close(run->server);
  lt_process_close(run->room.process);
  lt_process_close(run->checker);
  run->server = NULL;
  run->room.process = run->checker = NULL;
}

/* Until everything has ended that was started; `status` is how that went. */
static lt_status deno_finish(lt_deno_run *run, lt_status status) LT_YIELDS {
  if (status != LT_OK) {
    lt_deno_stop(run, LT_E_CANCELLED);
  }
  deno_wait_until_ended(run);
  return status;
}

static bool deno_has_begun(const lt_deno_run *run) {
  return run->hello || run->stopped != LT_OK;
}

/* One try. LT_E_UNSUPPORTED without a word from our own code in it: another way may do. */
static lt_status deno_try_way(lt_deno_run *run, lt_deno_way way, lt_err *err) LT_YIELDS {
  lt_status status = deno_start_deno(run, way, err);
  status = deno_finish(run, status == LT_OK ? deno_begin(run, err) : status);
  if (status == LT_OK && !deno_has_begun(run)) {
    status = lt_deno_explain(run->deno, run->room.process, err);
  } else if (status == LT_OK) {
    lt_deno_judge(run);
  }
  deno_take_down(run);
  return status;
}

static void deno_forget_try(lt_deno_run *run) {
  lt_cancel_init(&run->cancel);
  lt_buf_clear(&run->faults);
  run->stopped = LT_OK;
  run->ended = run->checking = run->check_failed = false;
}

static lt_status deno_try_ways(lt_deno_run *run, lt_err *err) LT_YIELDS {
  lt_deno_way first = run->deno->way;
  lt_err why = LT_ERR_INIT;
  lt_status status = deno_try_way(run, first, &why);
  for (lt_deno_way way = first + 1; status == LT_E_UNSUPPORTED && way < LT_DENO_WAYS; way++) {
    deno_forget_try(run);
    lt_err later = LT_ERR_INIT;
    status = deno_try_way(run, way, &later);
    run->deno->way = status == LT_OK ? way : run->deno->way;
  }
  return status == LT_OK ? LT_OK : lt_fail(err, why.status, "%s", lt_err_msg(&why));
}

/* In a room that was there. False: there was none, or nothing has begun in it, which nobody need be told. */
static bool deno_run_in_spare(lt_deno_run *run) LT_YIELDS {
  if (!lt_deno_take_spare(run->deno, run->request, &run->room)) {
    return false;
  }
  bool begun = deno_finish(run, deno_begin(run, NULL)) == LT_OK && deno_has_begun(run);
  if (begun) {
    lt_deno_judge(run);
  }
  deno_take_down(run);
  if (!begun) {
    lt_deno_leave_room(run->deno, &run->room);
    deno_forget_try(run);
  }
  return begun;
}

static lt_status deno_run_in_new(lt_deno_run *run, lt_err *err) LT_YIELDS {
  run->room = (lt_deno_room){
      .lock = -1, .limits = lt_deno_limits_of(run->request), .has_modules = run->request->module_count > 0};
  LT_TRY(lt_deno_make_folder(&run->room, err));
  LT_TRY(run->room.has_modules ? lt_deno_write_modules(run, err) : LT_OK);
  return deno_try_ways(run, err);
}

/* --- A run -------------------------------------------------------------------------------------------------------- */
static lt_status deno_run_program(lt_deno_run *run, lt_err *err) LT_YIELDS {
  if (run->request->cancel != NULL && run->request->cancel->why != LT_OK) {
    run->stopped = LT_E_CANCELLED;
    lt_deno_judge(run);
    return LT_OK;
  }
  if (!lt_deno_prepare(run)) {
    return LT_OK;
  }
  LT_TRY(
      lt_call_matching_begin(&run->matching, run->request, "deno", run->deno->door, run->result, &run->recalled, err));
  if (run->recalled) {
    return LT_OK;
  }
  LT_TRY(lt_deno_find(run->deno, err));
  LT_TRY(run->typed ? lt_deno_find_tsc(run->deno, err) : LT_OK);
  LT_TRY(lt_door_catalog_of(run->deno->door, run->request->caller, &run->catalog, err));
  if (!deno_run_in_spare(run)) {
    LT_TRY(deno_run_in_new(run, err));
  }
  run->ran = true;
  lt_call_matching_end(&run->matching, run->result);
  return LT_OK;
}

static void deno_run_init(lt_deno_run *run, lt_deno *deno, const lt_run_request *request, lt_run_result *result) {
  *run = (lt_deno_run){.deno = deno, .loop = deno->loop, .request = request, .result = result};
  run->room.lock = -1;
  run->typed = request->lang == LT_LANG_TYPESCRIPT;
  run->values = request->values;
  run->last_text = &result->texts;
  run->last_call = &run->calls;
  lt_wait_init(&run->wait, deno->loop);
  lt_cancel_init(&run->cancel);
  lt_buf_init(&run->faults, LT_DENO_FAULTS_MAX_BYTES);
  lt_buf_init(&run->failure.name, LT_RUN_ERROR_BYTES);
  lt_buf_init(&run->failure.message, LT_JSON_MAX_BYTES);
  lt_buf_init(&run->failure.stack, LT_JSON_MAX_BYTES);
}

static void deno_run_release(lt_deno_run *run) LT_YIELDS {
  lt_deno_leave_room(run->deno, &run->room);
  lt_buf_release(&run->faults);
  lt_buf_release(&run->failure.name);
  lt_buf_release(&run->failure.message);
  lt_buf_release(&run->failure.stack);
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
  run->deadline_ns = began + lt_run_request_timeout_ms(request) * 1000000;
  lt_status status = deno_run_program(run, err);
  deno_run_release(run);
  if (run->ran) {
    lt_deno_keep_spare(deno, &run->room.limits);
  }
  if (!deno->swept) {
    deno->swept = true;
    lt_deno_sweep(deno->loop);
  }
  lt_run_result_ensure_error(result);
  if (!run->recalled) {
    result->duration_ms = (double)(lt_workers_now() - began) / 1e6;
    result->owned = run->calls;
    result->calls = lt_run_tool_call_link(run->calls);
  }
  lt_mem_free(run);
  return status;
}
