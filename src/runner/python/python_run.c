/* A run of a Python program, from its text to its result. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "js/jsscan.h"
#include "json/json.h"
#include "runner/python/python_calls.h"
#include "runner/python/python_child.h"
#include "runner/python/python_clock.h"
#include "runner/python/python_disk.h"
#include "runner/python/python_end.h"
#include "runner/python/python_folder_move.h"
#include "runner/python/python_limits.h"
#include "runner/python/python_link.h"
#include "runner/python/python_names.h"
#include "runner/python/python_output.h"
#include "runner/python/python_run.h"
#include "runner/python/python_send.h"
#include "runner/python/python_state.h"
#include "runner/python/python_zygote.h"
#include "sandbox/workers.h"

/* --- The START message -------------------------------------------------------------------------------------------- */

/* Adds the program's text without code fences. Empty lines replace the fences, so that line numbers stay. */
static void python_run_put_code(const lt_python_run *run, lt_buf *code) {
  unsigned dropped = 0;
  LT_AUTO_BUF(joined, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_str text = lt_jsscan_unfence(run->request->code, &joined, &dropped);
  for (unsigned i = 0; i < dropped; i++) {
    lt_buf_byte(code, '\n');
  }
  lt_buf_add(code, text);
}

static lt_status python_run_put_start(lt_python_run *run, lt_buf *out, lt_err *err) {
  const lt_caller *caller = run->request->caller;
  const lt_python_names *names = lt_python_names_of(run->python, run->catalog);
  if (names == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the names of tools");
  }
  LT_AUTO_BUF(code, 2 * LT_RUN_CODE_MAX_BYTES);
  python_run_put_code(run, &code);
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "code");
  lt_json_put_str(&w, lt_buf_view(&code));
  lt_json_key(&w, "check");
  lt_json_put_bool(&w, run->request->faults != NULL);
  lt_json_key(&w, "input");
  lt_json_put_raw(&w, run->request->input);
  lt_json_key(&w, "limits");
  lt_python_limits_write(run->request, &w);
  lt_json_key(&w, "tools");
  lt_python_names_write(names, run->request->code, caller != NULL ? caller->hidden : LT_STR_NULL, &w);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&code, err, "no memory for a Python program of that length"));
  return lt_buf_check(out, err, "no memory for a Python program of that length");
}

/* --- The program's end -------------------------------------------------------------------------------------------- */

/* Kills the program and cancels its calls. */
static void python_run_stop(lt_python_run *run, lt_status why) {
  if (run->stop_reason != LT_OK) {
    return;
  }
  run->stop_reason = why;
  lt_python_child_kill(run->child);
  lt_cancel_fire(&run->cancel, why == LT_E_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  lt_python_calls_drop_queued(run);
}

static void python_run_stop_if_needed(lt_python_run *run) {
  if (run->stop_reason != LT_OK || run->link.has_reported_end || run->child->has_exited) {
    return;
  }
  if (run->link.has_lost_message) {
    python_run_stop(run, LT_E_NOMEM); /* the program would wait for ever for the lost answer */
  } else if (run->cancel.why != LT_OK) {
    python_run_stop(run, run->cancel.why == LT_E_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  } else if (lt_python_clock_left_ms(run) == 0) {
    python_run_stop(run, LT_E_TIMEOUT);
  }
}

/* The longest time to wait for the program, in milliseconds. A process that was killed has LT_PYTHON_KILL_MS to end;
 * then the zygote is killed. */
static uint64_t python_run_max_wait_ms(lt_python_run *run) {
  if (run->stop_reason == LT_OK && !run->link.is_broken) {
    return lt_python_clock_left_ms(run);
  }
  uint64_t now = lt_workers_now();
  run->killed_ns = run->killed_ns != 0 ? run->killed_ns : now;
  uint64_t passed = (now - run->killed_ns) / LT_NS_PER_MS;
  if (passed >= LT_PYTHON_KILL_MS) {
    lt_python_child_kill_zygote(run->child);
    return UINT64_MAX; /* the process ends with its zygote */
  }
  return LT_PYTHON_KILL_MS - passed;
}

/* Reads and writes without waiting. True: there may be more to read. */
static bool python_run_pump(lt_python_run *run) {
  bool more = lt_python_link_read(run);
  lt_python_send_flush(run);
  more = lt_python_output_read(run) || more;
  lt_python_link_watch(run);
  return more;
}

static bool python_run_has_ended(const lt_python_run *run) {
  return run->child->has_exited || (run->link.has_reported_end && run->stop_reason == LT_OK);
}

/* Stops a program that has written too much. */
static void python_run_check_disk(lt_python_run *run) LT_YIELDS {
  if (python_run_has_ended(run) || lt_python_disk_due_ms(run) > 0) {
    return;
  }
  if (!lt_python_disk_check(run) && !run->child->has_exited && !run->link.has_reported_end) {
    python_run_stop(run, LT_E_LIMIT);
  }
}

static void python_run_wait_until_ended(lt_python_run *run) LT_YIELDS {
  while (!python_run_has_ended(run)) {
    python_run_stop_if_needed(run);
    if (python_run_pump(run)) {
      lt_loop_sleep(run->python->loop, 0);
    } else if (!python_run_has_ended(run)) {
      uint64_t max_wait_ms = python_run_max_wait_ms(run);
      uint64_t disk_ms = lt_python_disk_due_ms(run);
      lt_wait_on(&run->wait, max_wait_ms < disk_ms ? max_wait_ms : disk_ms);
    }
    python_run_check_disk(run);
  }
  size_t left = LT_PYTHON_LAST_BYTES;
  while (python_run_pump(run) && left > LT_PYTHON_TURN_BYTES) { /* the rest in its pipe */
    left -= LT_PYTHON_TURN_BYTES;
    lt_loop_sleep(run->python->loop, 0);
  }
  lt_python_output_flush(run);
}

/* Cancels calls that the program left open: calls of daemon threads, and calls for which it has stopped waiting. */
static void python_run_end_calls(lt_python_run *run) LT_YIELDS {
  while (run->calls.running > 0) {
    if (run->cancel.why == LT_OK) {
      lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
      lt_python_calls_drop_queued(run);
    }
    lt_wait_on(&run->wait, UINT64_MAX);
  }
}

static lt_status python_run_open_watches(lt_python_run *run, lt_err *err) {
  LT_TRY(lt_watch_open(run->python->loop, run->child->connection, &run->wait, &run->link.watch, err));
  return lt_watch_open(run->python->loop, run->child->output, &run->wait, &run->output.watch, err);
}

static void python_run_close_watches(lt_python_run *run) {
  lt_watch_close(run->link.watch);
  lt_watch_close(run->output.watch);
}

/* Runs the program in its process. The run's cancel follows the request's. */
static lt_status python_run_watch_child(lt_python_run *run, lt_str start, lt_err *err) LT_YIELDS {
  lt_status status = python_run_open_watches(run, err);
  if (status != LT_OK) {
    python_run_stop(run, LT_E_CANCELLED);
    return status;
  }
  lt_python_send_message(run, LT_PY_START, 0, start);
  lt_python_zygote_prepare_spares(run->python);
  python_run_wait_until_ended(run);
  python_run_end_calls(run);
  return LT_OK;
}

static lt_status python_run_in_child(lt_python_run *run, lt_str start, lt_err *err) LT_YIELDS {
  lt_cancel_node follows_request, wakes_run;
  lt_cancel_follow(run->request->cancel, &follows_request, &run->cancel);
  lt_cancel_add(&run->cancel, &wakes_run, &run->wait);
  lt_python_clock_start(run);
  run->next_disk_check_ns = lt_workers_now() + LT_PYTHON_DISK_MS * LT_NS_PER_MS;
  lt_status status = python_run_watch_child(run, start, err);
  python_run_close_watches(run);
  lt_cancel_remove(&run->cancel, &wakes_run);
  lt_cancel_remove(run->request->cancel, &follows_request);
  return status;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

static void python_run_init(lt_python_run *run, lt_python *p, const lt_run_request *request, lt_run_result *result) {
  run->python = p;
  run->request = request = lt_exec_pragma_apply(&run->pragma, request);
  run->result = result;
  run->output.texts_end = &result->texts;
  run->calls.list_end = &run->calls.list;
  run->calls.queue_end = &run->calls.queue;
  lt_wait_init(&run->wait, p->loop);
  lt_cancel_init(&run->cancel);
  lt_buf_init(&run->link.frame.body, LT_PYTHON_FRAME_BYTES);
  lt_buf_init(&run->link.failure, LT_PYTHON_FRAME_BYTES);
  lt_buf_init(&run->link.unsent, LT_RUN_HELD_MAX_BYTES + LT_PYTHON_FRAME_BYTES);
  lt_buf_init(&run->output.partial_line, lt_python_output_max_bytes(request) + 1);
}

static void python_run_release(lt_python_run *run) {
  lt_buf_release(&run->link.frame.body);
  lt_buf_release(&run->link.failure);
  lt_buf_release(&run->link.unsent);
  lt_buf_release(&run->output.partial_line);
  lt_exec_pragma_release(&run->pragma);
  lt_call_matching_release(&run->matching);
  lt_catalog_unref(run->catalog);
  lt_mem_free(run);
}

static bool python_run_is_utf8(lt_python_run *run) {
  lt_str code = run->request->code;
  bool has_nul = code.n > 0 && memchr(code.p, 0, code.n) != NULL;
  if (!has_nul && lt_run_request_find_bad_byte(run->request) == SIZE_MAX) {
    return true;
  }
  lt_run_result_fail(run->result, LT_E_INVALID, "the program %s: save it as UTF-8 text",
                     has_nul ? "contains a NUL byte" : "is not valid UTF-8");
  return false;
}

/* Whether the program is text and its input is JSON. False: the result says what is wrong. */
static bool python_run_check_request(lt_python_run *run) {
  return lt_run_request_check_size(run->request, run->result) && python_run_is_utf8(run) &&
         lt_run_request_check_input(run->request, run->result);
}

/* Moves the files that an interrupted run of this program wrote into its new folder, and warns that the program runs
 * again. Closes `parent`, the old folder's parent, which is locked; -1: there is none. */
static void python_run_take_over_folder(lt_python_run *run, int parent) LT_YIELDS {
  const char *folder = run->child->workspace;
  lt_str before = lt_call_matching_folder(&run->matching);
  char *from = folder != NULL && parent >= 0 ? lt_mem_strdup(before) : NULL;
  if (from != NULL) {
    lt_python_folder_move(run->python->loop, parent, from, folder);
    lt_mem_free(from);
  }
  if (parent >= 0) {
    close(parent);
  }
  if (folder != NULL) {
    lt_call_matching_note_folder(&run->matching, lt_str_of(folder));
  }
  if (lt_call_matching_warns(&run->matching)) {
    lt_python_output_warn(run, LT_STR(LT_CALL_MATCHING_WARNING));
  }
}

static bool python_run_is_cancelled(const lt_python_run *run) {
  return run->request->cancel != NULL && run->request->cancel->why != LT_OK;
}

static lt_status python_run_take_child(lt_python_run *run, int parent, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(start, LT_PYTHON_FRAME_BYTES + 6 * LT_RUN_CODE_MAX_BYTES);
  LT_TRY(python_run_put_start(run, &start, err));
  LT_TRY(lt_python_zygote_take_child(run->python, &run->wait, run->request->cancel, &run->child, err));
  python_run_take_over_folder(run, parent);
  lt_status status = python_run_in_child(run, lt_buf_view(&start), err);
  if (status == LT_OK) {
    status = lt_python_end_describe(run, err);
  }
  if (status == LT_OK && run->request->faults != NULL) {
    lt_python_end_take_names(run);
  }
  lt_python_child_release(run->child, run->link.has_reported_end && run->stop_reason == LT_OK);
  return status;
}

/* The old folder's parent is locked while the run waits for a process, so that the old folder is not removed. */
static lt_status python_run_execute(lt_python_run *run, lt_err *err) LT_YIELDS {
  LT_TRY(lt_door_catalog_of(run->python->door, run->request->caller, &run->catalog, err));
  if (run->pragma.warnings.n > 0) {
    lt_python_output_warn(run, lt_buf_view(&run->pragma.warnings));
  }
  int parent = lt_python_folder_move_lock(lt_call_matching_folder(&run->matching));
  lt_status status = python_run_take_child(run, parent, err);
  if (run->child == NULL && parent >= 0) {
    close(parent);
  }
  if (run->child == NULL && python_run_is_cancelled(run)) {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
    return LT_OK;
  }
  return status;
}

/* Runs the program, or takes its result from the record. */
static lt_status python_run_or_replay(lt_python_run *run, lt_err *err) LT_YIELDS {
  if (!python_run_check_request(run)) {
    return LT_OK;
  }
  if (python_run_is_cancelled(run)) {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
    return LT_OK;
  }
  LT_TRY(lt_call_matching_begin(&run->matching, run->request, "python", run->python->door, run->result,
                                &run->is_replayed, err));
  return run->is_replayed ? LT_OK : python_run_execute(run, err);
}

lt_status lt_python_run_program(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  lt_python *p = (lt_python *)(void *)self;
  lt_python_run *run = lt_mem_zalloc(1, sizeof *run);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  uint64_t began = lt_workers_now();
  python_run_init(run, p, request, result);
  lt_status status = python_run_or_replay(run, err);
  lt_run_result_ensure_error(result);
  if (!run->is_replayed) {
    result->duration_ms = (double)(lt_workers_now() - began) / 1e6;
    result->owned = run->calls.list;
    result->calls = lt_run_tool_call_link(run->calls.list);
  }
  if (status == LT_OK && !run->is_replayed) {
    lt_call_matching_end(&run->matching, result);
  }
  python_run_release(run);
  return status;
}
