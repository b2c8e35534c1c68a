/* A run of a Python program, from its text to its result. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "json/json.h"
#include "json/json_text.h"
#include "js/jsscan.h"
#include "runner/python/python_calls.h"
#include "runner/python/python_child.h"
#include "runner/python/python_disk.h"
#include "runner/python/python_end.h"
#include "runner/python/python_folder_move.h"
#include "runner/python/python_link.h"
#include "runner/python/python_names.h"
#include "runner/python/python_output.h"
#include "runner/python/python_run.h"
#include "runner/python/python_state.h"
#include "runner/thread_limit.h"
#include "sandbox/workers.h"

#define NS_PER_MS 1000000

uint64_t lt_python_run_memory(const lt_run_request *request) {
  uint64_t bytes = request->memory_bytes != 0 ? request->memory_bytes : LT_PYTHON_MEMORY_BYTES;
  bytes = bytes > LT_PYTHON_MEMORY_MIN_BYTES ? bytes : LT_PYTHON_MEMORY_MIN_BYTES;
  return bytes < LT_RUN_MEMORY_MAX_BYTES ? bytes : LT_RUN_MEMORY_MAX_BYTES;
}

/* --- Its clock ---------------------------------------------------------------------------------------------------- */

/* Nothing but somebody's approval keeps it from going on, as far as can be seen from here: a program that computes on
 * another thread meanwhile has its processor time counted by the kernel. */
static bool python_run_only_asks(const lt_python_run *run) {
  bool held_up = run->asking >= LT_RUN_OPEN_CALLS_MAX;
  return run->asking > 0 && (held_up || (run->asking == run->in_flight && run->queued == NULL));
}

void lt_python_run_set_clock(lt_python_run *run) {
  bool stand = python_run_only_asks(run);
  uint64_t now = lt_workers_now();
  if (stand == (run->stands_since_ns != 0) || (stand && now >= run->deadline_ns)) {
    return;
  }
  run->deadline_ns += stand ? 0 : now - run->stands_since_ns;
  run->stands_since_ns = stand ? now : 0;
  if (run->request->on_standing != NULL) {
    run->request->on_standing(run->request->arg, stand);
  }
  lt_wait_wake(&run->wait, LT_OK);
}

static uint64_t python_run_left_ms(const lt_python_run *run) {
  uint64_t now = lt_workers_now();
  if (run->stands_since_ns != 0) {
    return UINT64_MAX;
  }
  return run->deadline_ns > now ? (run->deadline_ns - now) / NS_PER_MS + 1 : 0;
}

/* --- What it is told ---------------------------------------------------------------------------------------------- */

static void python_run_put_number(lt_json_writer *w, const char *key, uint64_t n) {
  lt_json_key(w, key);
  lt_json_put_int(w, (int64_t)n);
}

static void python_run_put_limits(const lt_python_run *run, lt_json_writer *w) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t seconds = lt_run_request_timeout_ms(run->request) / 1000 + 2;
  lt_json_begin_object(w);
  python_run_put_number(w, "memory", lt_python_run_memory(run->request));
  python_run_put_number(w, "slack", LT_PYTHON_SLACK_BYTES);
  python_run_put_number(w, "file", LT_PYTHON_FILE_BYTES);
  python_run_put_number(w, "files", LT_PYTHON_FILES_MAX);
  python_run_put_number(w, "threads", lt_thread_limit());
  python_run_put_number(w, "cpu", seconds * (uint64_t)(cores > 0 ? cores : 1));
  lt_json_end_object(w);
}

/* The text without code fences, its lines where they were. */
static void python_run_put_code(const lt_python_run *run, lt_buf *code) {
  unsigned dropped = 0;
  lt_str text = lt_jsscan_unfence(run->request->code, &dropped);
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
  lt_json_key(&w, "input");
  lt_json_put_raw(&w, run->request->input);
  lt_json_key(&w, "limits");
  python_run_put_limits(run, &w);
  lt_json_key(&w, "tools");
  lt_python_names_put(names, run->request->code, caller != NULL ? caller->hidden : LT_STR_NULL, &w);
  lt_json_end_object(&w);
  lt_status status = code.status != LT_OK ? code.status : out->status;
  return status == LT_OK ? LT_OK : lt_fail(err, status, "no memory for a Python program of that length");
}

/* --- Turning it --------------------------------------------------------------------------------------------------- */

void lt_python_run_stop(lt_python_run *run, lt_status why) {
  if (run->stopped != LT_OK) {
    return;
  }
  run->stopped = why;
  lt_python_child_kill(run->child);
  lt_cancel_fire(&run->cancel, why == LT_E_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  lt_python_run_drop_queued(run);
}

static void python_run_stop_in_time(lt_python_run *run) {
  if (run->stopped != LT_OK || run->done || run->child->exited) {
    return;
  }
  if (run->cancel.why != LT_OK) {
    lt_python_run_stop(run, run->cancel.why == LT_E_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  } else if (python_run_left_ms(run) == 0) {
    lt_python_run_stop(run, LT_E_TIMEOUT);
  }
}

/* How long to wait at most; a process that was killed has to be gone soon. */
static uint64_t python_run_patience_ms(lt_python_run *run) {
  if (run->stopped == LT_OK && !run->broken) {
    return python_run_left_ms(run);
  }
  uint64_t now = lt_workers_now();
  run->killed_ns = run->killed_ns != 0 ? run->killed_ns : now;
  uint64_t gone = (now - run->killed_ns) / NS_PER_MS;
  if (gone >= LT_PYTHON_KILL_MS) {
    lt_python_child_give_up(run->child);
    return UINT64_MAX; /* the interpreter's end is the process's */
  }
  return LT_PYTHON_KILL_MS - gone;
}

/* Reads and writes what there is. True: there may be more. */
static bool python_run_pump(lt_python_run *run) {
  bool more = lt_python_run_read(run);
  lt_python_run_flush(run);
  more = lt_python_run_read_output(run) || more;
  lt_python_run_watch(run);
  return more;
}

/* It said so, or it is gone. */
static bool python_run_has_ended(const lt_python_run *run) {
  return run->child->exited || (run->done && run->stopped == LT_OK);
}

static void python_run_wait_until_ended(lt_python_run *run) LT_YIELDS {
  while (!python_run_has_ended(run)) {
    python_run_stop_in_time(run);
    if (python_run_pump(run)) {
      lt_loop_sleep(run->python->loop, 0);
    } else if (!python_run_has_ended(run)) {
      uint64_t patience = python_run_patience_ms(run);
      uint64_t disk = lt_python_run_disk_ms(run);
      lt_wait_on(&run->wait, patience < disk ? patience : disk);
    }
    if (!python_run_has_ended(run) && lt_python_run_disk_ms(run) == 0) {
      lt_python_run_look_at_disk(run);
    }
  }
  size_t left = LT_PYTHON_LAST_BYTES;
  while (python_run_pump(run) && left > LT_PYTHON_TURN_BYTES) { /* what it left in its pipe */
    left -= LT_PYTHON_TURN_BYTES;
    lt_loop_sleep(run->python->loop, 0);
  }
  lt_python_run_end_text(run);
}

/* Those of daemon threads, and those that the program has stopped waiting for, end with it. */
static void python_run_end_calls(lt_python_run *run) LT_YIELDS {
  while (run->in_flight > 0) {
    if (run->cancel.why == LT_OK) {
      lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
      lt_python_run_drop_queued(run);
    }
    lt_wait_on(&run->wait, UINT64_MAX);
  }
}

static lt_status python_run_open_watches(lt_python_run *run, lt_err *err) {
  LT_TRY(lt_watch_open(run->python->loop, run->child->connection, &run->wait, &run->connection, err));
  return lt_watch_open(run->python->loop, run->child->output, &run->wait, &run->output, err);
}

static void python_run_close_watches(lt_python_run *run) {
  lt_watch_close(run->connection);
  lt_watch_close(run->output);
}

static lt_status python_run_run_in_child(lt_python_run *run, lt_str start, lt_err *err) LT_YIELDS {
  lt_cancel_node from_above, to_us;
  lt_cancel_follow(run->request->cancel, &from_above, &run->cancel);
  lt_cancel_add(&run->cancel, &to_us, &run->wait);
  run->deadline_ns = lt_workers_now() + lt_run_request_timeout_ms(run->request) * NS_PER_MS;
  run->look_ns = lt_workers_now() + LT_PYTHON_DISK_MS * NS_PER_MS;
  lt_status status = python_run_open_watches(run, err);
  if (status == LT_OK) {
    lt_python_run_send(run, LT_PY_START, 0, start);
    lt_python_child_prepare(run->python);
  } else {
    lt_python_run_stop(run, LT_E_CANCELLED);
  }
  if (status == LT_OK) {
    python_run_wait_until_ended(run);
    python_run_end_calls(run);
  }
  python_run_close_watches(run);
  lt_cancel_remove(&run->cancel, &to_us);
  lt_cancel_remove(run->request->cancel, &from_above);
  return status;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

static void python_run_run_init(lt_python_run *run, lt_python *p, const lt_run_request *request,
                                lt_run_result *result) {
  run->python = p;
  run->request = request;
  run->result = result;
  run->last_text = &result->texts;
  run->last_call = &run->calls;
  run->last_queued = &run->queued;
  lt_wait_init(&run->wait, p->loop);
  lt_cancel_init(&run->cancel);
  lt_buf_init(&run->frame.body, LT_PYTHON_FRAME_BYTES);
  lt_buf_init(&run->failure, LT_PYTHON_FRAME_BYTES);
  lt_buf_init(&run->to_send, LT_RUN_HELD_MAX_BYTES + LT_PYTHON_FRAME_BYTES);
  lt_buf_init(&run->line, lt_python_run_log_max(request) + 1);
}

static void python_run_run_release(lt_python_run *run) {
  lt_buf_release(&run->frame.body);
  lt_buf_release(&run->failure);
  lt_buf_release(&run->to_send);
  lt_buf_release(&run->line);
  lt_call_matching_release(&run->matching);
  lt_catalog_unref(run->catalog);
  lt_mem_free(run);
}

static bool python_run_is_utf8(lt_str text) {
  const char *end = text.p + text.n;
  for (const char *p = text.p; p < end;) {
    uint32_t c = 0;
    unsigned n = lt_json_read_char(p, end, &c);
    if (n == 0 || lt_json_is_surrogate(c)) {
      return false;
    }
    p += n;
  }
  return true;
}

/* Whether it is text that can be run, and its input JSON. */
static bool python_run_can_be_run(lt_python_run *run) {
  lt_str code = run->request->code;
  lt_err err = LT_ERR_INIT;
  if (code.n > LT_RUN_CODE_MAX_BYTES) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the program has %zu bytes; at most %lu MiB can be run", code.n,
                       LT_RUN_CODE_MAX_BYTES / LT_MIB);
    return false;
  }
  bool has_nul = code.n > 0 && memchr(code.p, 0, code.n) != NULL;
  if (has_nul || !python_run_is_utf8(code)) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the program %s: save it as UTF-8 text",
                       has_nul ? "contains a NUL byte" : "is not valid UTF-8");
    return false;
  }
  if (run->request->input.n > 0 && lt_json_check(run->request->input, &err) != LT_OK) {
    lt_run_result_fail(run->result, LT_E_INVALID, "the input is not JSON: %s", lt_err_msg(&err));
    return false;
  }
  return true;
}

/* What it had written before Lathe was interrupted is there again, and it is said so. */
static void python_run_take_over_folder(lt_python_run *run, int held) LT_YIELDS {
  const char *folder = run->child->workspace;
  lt_str before = lt_call_matching_folder(&run->matching);
  char *from = folder != NULL && held >= 0 ? lt_mem_strdup(before) : NULL;
  if (from != NULL) {
    lt_python_move(run->python->loop, held, from, folder);
    lt_mem_free(from);
  }
  if (held >= 0) {
    close(held);
  }
  if (folder != NULL) {
    lt_call_matching_note_folder(&run->matching, lt_str_of(folder));
  }
  if (lt_call_matching_warns(&run->matching)) {
    lt_python_run_warn(run, LT_STR(LT_CALL_MATCHING_WARNING));
  }
}

static lt_status python_run_run_program(lt_python_run *run, lt_err *err) LT_YIELDS {
  if (!python_run_can_be_run(run)) {
    return LT_OK;
  }
  if (run->request->cancel != NULL && run->request->cancel->why != LT_OK) {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
    return LT_OK;
  }
  LT_TRY(lt_call_matching_begin(&run->matching, run->request, "python", run->python->door, run->result, &run->recalled,
                                err));
  if (run->recalled) {
    return LT_OK;
  }
  LT_TRY(lt_door_catalog_of(run->python->door, run->request->caller, &run->catalog, err));
  int held = lt_python_hold(lt_call_matching_folder(&run->matching));
  LT_AUTO_BUF(start, LT_PYTHON_FRAME_BYTES + 6 * LT_RUN_CODE_MAX_BYTES);
  lt_status status = python_run_put_start(run, &start, err);
  if (status == LT_OK) {
    status = lt_python_child_take(run->python, &run->wait, run->request->cancel, &run->child, err);
  }
  if (status == LT_OK) {
    python_run_take_over_folder(run, held);
    status = python_run_run_in_child(run, lt_buf_view(&start), err);
    status = status == LT_OK ? lt_python_run_judge(run, err) : status;
    lt_python_child_release(run->child, run->done && run->stopped == LT_OK);
    held = -1;
  } else if (run->request->cancel != NULL && run->request->cancel->why != LT_OK) {
    lt_run_result_fail(run->result, LT_E_CANCELLED, "Execution was cancelled");
    status = LT_OK;
  }
  if (held >= 0) {
    close(held);
  }
  return status;
}

lt_status lt_python_run_run(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  lt_python *p = (lt_python *)(void *)self;
  lt_python_run *run = lt_mem_zalloc(1, sizeof *run);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  uint64_t began = lt_workers_now();
  python_run_run_init(run, p, request, result);
  lt_status status = python_run_run_program(run, err);
  lt_run_result_ensure_error(result);
  if (!run->recalled) {
    result->duration_ms = (double)(lt_workers_now() - began) / 1e6;
    result->owned = run->calls;
    result->calls = lt_run_tool_call_link(run->calls);
  }
  if (status == LT_OK && !run->recalled) {
    lt_call_matching_end(&run->matching, result);
  }
  python_run_run_release(run);
  return status;
}
