#include "runner/quickjs/quickjs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "runner/quickjs/tape.h"

struct lt_quickjs {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  lt_workers *workers;
  lt_image base;
  lt_image strip; /* opened when the first TypeScript comes */
  bool has_strip;
  bool drops;
  lt_pool base_pool;
  lt_pool strip_pool;
};

/* --- The runner --------------------------------------------------------------------------------------------------- */
static bool speaks(lt_lang lang) {
  return lang == LT_LANG_JAVASCRIPT || lang == LT_LANG_TYPESCRIPT;
}

static lt_status run_as_runner(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                               lt_err *err) LT_YIELDS {
  return lt_quickjs_run((lt_quickjs *)(void *)self, request, result, err);
}

lt_runner *lt_quickjs_runner(lt_quickjs *q) {
  return &q->runner;
}

lt_status lt_quickjs_new(lt_loop *loop, lt_door *door, unsigned workers, lt_quickjs **ret_quickjs, lt_err *err) {
  lt_quickjs *q = lt_mem_zalloc(1, sizeof *q);
  if (q == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the engine");
  }
  q->runner = (lt_runner){.id = "quickjs", .speaks = speaks, .run = run_as_runner};
  q->drops = getenv("LATHE_DROP_WAITING") != NULL;
  q->loop = loop;
  q->door = door;
  lt_status status = lt_image_open(&q->base, &lt_qjs_module, lt_image_base(), err);
  if (status != LT_OK) {
    lt_mem_free(q);
    return status;
  }
  status = lt_workers_new(workers, &q->workers, err);
  if (status != LT_OK) {
    lt_image_close(&q->base);
    lt_mem_free(q);
    return status;
  }
  lt_pool_init(&q->base_pool, &q->base, LT_BOX_POOL_MAX);
  *ret_quickjs = q;
  return LT_OK;
}

void lt_quickjs_free(lt_quickjs *q) {
  if (q == NULL) {
    return;
  }
  lt_workers_free(q->workers);
  lt_pool_release(&q->base_pool);
  lt_image_close(&q->base);
  if (q->has_strip) {
    lt_pool_release(&q->strip_pool);
    lt_image_close(&q->strip);
  }
  lt_mem_free(q);
}

bool lt_quickjs_drops(const lt_quickjs *q) {
  return q->drops;
}

static lt_status open_strip(lt_quickjs *q, lt_err *err) {
  if (!q->has_strip) {
    LT_TRY(lt_image_open(&q->strip, &lt_qjs_module, lt_image_strip(), err));
    lt_pool_init(&q->strip_pool, &q->strip, LT_STRIP_POOL_MAX);
    q->has_strip = true;
  }
  return LT_OK;
}

/* --- One step after another --------------------------------------------------------------------------------------- */
static void on_fiber(void *arg) {
  lt_run *run = arg;
  run->body(run);
}

/* A program that was dropped and is stopped, or finds no box, goes nowhere. */
static lt_workers_step on_step(lt_workers_task *task) {
  lt_run *run = (lt_run *)task;
  run->step = LT_STEP_DONE;
  if (run->box == NULL) {
    return LT_STEP_DONE;
  }
  bool goes_on = lt_fiber_resume(&run->fiber);
  bool dropped = run->tape != NULL && run->tape->dropping && atomic_load(&run->task.stop) == LT_STOP_NOT;
  return goes_on ? run->step : dropped ? LT_STEP_PARK : LT_STEP_DONE;
}

/* Waits without a box: it is given a fresh one when it can go on. */
static void drop(lt_run *run) {
  lt_box *box = run->box;
  lt_fiber_release(&run->fiber);
  run->tape->dropping = false;
  run->box = NULL;
  run->task.box = NULL;
  lt_pool_give(run->pool, box);
}

static bool enter_box(lt_run *run, lt_err *err) {
  if (lt_pool_take(run->pool, &run->box, err) != LT_OK) {
    return false;
  }
  run->task.box = run->box;
  lt_fiber_init(&run->fiber, run->box->stack, LT_BOX_STACK_BYTES, on_fiber, run);
  return true;
}

void lt_run_submit(lt_run *run) {
  bool dropped = run->box == NULL && atomic_load(&run->task.stop) == LT_STOP_NOT;
  if (dropped && !enter_box(run, NULL)) {
    lt_engine_result_release(&run->engine);
    lt_engine_result_init(&run->engine);
    run->engine.ending = LT_END_MEMORY;
  }
  lt_workers_submit(run->workers, &run->task);
}

static void on_done(void *arg) {
  lt_run *run = arg;
  run->finished = true;
  if (run->in_flight > 0 || run->queued != NULL) { /* it failed: what it had started in the background goes with it */
    lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
    lt_run_drop_queued(run, LT_E_CANCELLED, "the program has ended");
  }
  lt_wait_wake(&run->wait, LT_OK);
}

/* The result goes first; the box is cleaned when nobody waits for it any more. */
static void after_step(lt_workers_task *task, lt_workers_step step) {
  lt_run *run = (lt_run *)task;
  if (step == LT_STEP_PARK) {
    if (run->tape != NULL && run->tape->dropping) {
      drop(run);
    }
    lt_run_parked(run);
    return;
  }
  lt_box *box = run->box;
  lt_pool *pool = run->pool;
  if (box != NULL) {
    lt_fiber_release(&run->fiber);
  }
  run->done_post = (lt_post){.fn = on_done, .arg = run};
  lt_loop_post(run->loop, &run->done_post);
  if (box != NULL) {
    lt_pool_give(pool, box);
  }
}

static void stop_in_time(lt_run *run) {
  if (run->finished || atomic_load(&run->task.stop) != LT_STOP_NOT) {
    return;
  }
  if (run->cancel.why != LT_OK) {
    lt_run_stop(run, LT_STOP_CANCEL);
  } else if (lt_run_left_ms(run) == 0) {
    lt_run_stop(run, LT_STOP_TIMEOUT);
  }
}

/* The run's own fiber carries out one call at a time itself: a program that waits for one call costs one fiber. */
static void wait_until_finished(lt_run *run) LT_YIELDS {
  lt_cancel_node from_above, to_us;
  lt_cancel_follow(run->request->cancel, &from_above, &run->cancel);
  lt_cancel_add(&run->cancel, &to_us, &run->wait);
  while (!run->finished || run->in_flight > 0) {
    stop_in_time(run);
    if ((run->queued != NULL || run->own != NULL) && !lt_run_watch_deadline(run)) {
      lt_run_drop_queued(run, LT_E_NOMEM, "no memory for another tool call");
    }
    if (lt_run_perform_queued(run)) {
      continue;
    }
    bool ending = run->finished || atomic_load(&run->task.stop) != LT_STOP_NOT;
    run->idle = true;
    lt_wait_on(&run->wait, ending ? UINT64_MAX : lt_run_left_ms(run));
    run->idle = false;
  }
  lt_cancel_remove(&run->cancel, &to_us);
  lt_cancel_remove(run->request->cancel, &from_above);
  lt_timer_free(run->deadline);
  run->deadline = NULL;
  lt_run_timers_release(run);
}

static bool was_cancelled_before(lt_run *run) {
  if (run->request->cancel == NULL || run->request->cancel->why == LT_OK) {
    return false;
  }
  lt_workers_task_stop(&run->task, LT_STOP_CANCEL);
  return true;
}

/* Runs `body` on the workers, in a box of `pool`, to its end. LT_YIELDS. */
static lt_status run_in_box(lt_run *run, lt_pool *pool, void (*body)(lt_run *run) LT_YIELDS, lt_err *err) LT_YIELDS {
  if (was_cancelled_before(run)) {
    return LT_OK;
  }
  run->pool = pool;
  run->body = body;
  run->finished = false;
  if (!enter_box(run, err)) {
    return err != NULL ? err->status : LT_E_NOMEM;
  }
  lt_workers_submit(run->workers, &run->task);
  wait_until_finished(run);
  return LT_OK;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */
static void strip_body(lt_run *run) LT_YIELDS {
  lt_guest_host host;
  lt_run_world(run, &host);
  lt_engine_strip(run->box, run->source, host.poll, run, &run->engine);
}

static void program_body(lt_run *run) LT_YIELDS {
  lt_guest_host host;
  if (run->tape != NULL) {
    lt_tape_rewind(run);
  }
  lt_run_world(run, &host);
  lt_engine_run(run->box, &run->program, &host, &run->engine);
}

/* TypeScript to JavaScript. False: `result` says why not, or `status` that it could not be tried. */
static bool strip_types(lt_run *run, lt_status *status, lt_err *err) LT_YIELDS {
  *status = open_strip(run->quickjs, err);
  if (*status == LT_OK) {
    *status = run_in_box(run, &run->quickjs->strip_pool, strip_body, err);
  }
  if (*status != LT_OK) {
    return false;
  }
  if (run->engine.ending != LT_END_STRING || atomic_load(&run->task.stop) != LT_STOP_NOT) {
    lt_run_judge_syntax(run);
    return false;
  }
  run->code = run->engine.text;
  lt_buf_init(&run->engine.text, LT_RUN_RESULT_MAX_BYTES);
  return true;
}

/* What went another way than on record has come to nothing of its own. */
static void judge(lt_run *run) {
  lt_tape *tape = run->tape;
  bool stopped = atomic_load(&run->task.stop) != LT_STOP_NOT;
  if (tape != NULL && !stopped && tape->fault.n == 0) {
    lt_tape_check_end(run);
  }
  lt_run_judge(run);
  if (tape != NULL && tape->fault.n > 0 && !stopped) {
    lt_run_result_fail(run->result, LT_E_DIVERGED, "diverged: %.*s", LT_STR_ARG(tape->fault));
  }
}

static lt_status run_program(lt_run *run, lt_err *err) LT_YIELDS {
  lt_status status = LT_OK;
  if (!lt_run_prepare(run)) {
    return LT_OK;
  }
  bool typed = run->request->lang == LT_LANG_TYPESCRIPT;
  if (typed && !strip_types(run, &status, err)) {
    return status;
  }
  LT_TRY(lt_run_prepare_code(run, typed ? lt_buf_view(&run->code) : run->source, err));
  LT_TRY(run_in_box(run, &run->quickjs->base_pool, program_body, err));
  judge(run);
  return LT_OK;
}

static void run_init(lt_run *run, lt_quickjs *q, const lt_run_request *request, lt_run_result *result) {
  *run = (lt_run){.quickjs = q, .loop = q->loop, .door = q->door, .workers = q->workers};
  run->task.step = on_step;
  run->task.after = after_step;
  run->request = request;
  run->result = result;
  run->values = request->values;
  run->last_text = &result->texts;
  run->last_call = &run->calls;
  run->last_ready = &run->ready;
  run->last_queued = &run->queued;
  lt_buf_init(&run->code, LT_RUN_CODE_MAX_BYTES * 2);
  lt_buf_init(&run->bindings, LT_JSON_MAX_BYTES);
  lt_buf_init(&run->reply, LT_JSON_MAX_BYTES);
  lt_engine_result_init(&run->engine);
  lt_wait_init(&run->wait, q->loop);
  lt_cancel_init(&run->cancel);
  pthread_mutex_init(&run->lock, NULL);
}

static void run_release(lt_run *run) {
  lt_buf_release(&run->code);
  lt_buf_release(&run->bindings);
  lt_buf_release(&run->reply);
  lt_engine_result_release(&run->engine);
  lt_stored_values_free(run->own_values);
  lt_tape_free(run->tape);
  lt_catalog_unref(run->catalog);
  pthread_mutex_destroy(&run->lock);
}

static lt_status take_catalog(lt_run *run, lt_err *err) {
  const lt_caller *caller = run->request->caller;
  if (caller == NULL || caller->catalog == NULL) {
    return lt_door_catalog(run->door, &run->catalog, err);
  }
  run->catalog = lt_catalog_ref(caller->catalog);
  return LT_OK;
}

/* What cannot be run by its record has ended so. */
static lt_status begin_tape(lt_run *run, bool *ret_ended, lt_err *err) LT_YIELDS {
  lt_err why = LT_ERR_INIT;
  lt_status status = lt_tape_begin(run, ret_ended, &why);
  if (status == LT_E_DIVERGED) {
    lt_run_result_fail(run->result, status, "diverged: %s", lt_err_msg(&why));
    *ret_ended = true;
    return LT_OK;
  }
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s", lt_err_msg(&why));
}

/* What could not be run has not ended: `status` is why. */
static void end(lt_run *run, lt_status status, double duration_ms) {
  lt_run_result *result = run->result;
  result->duration_ms = duration_ms;
  result->owned = run->calls;
  result->calls = lt_run_tool_call_link(run->calls);
  lt_run_result_ensure_error(result);
  if (status == LT_OK) {
    lt_tape_end(run);
  }
}

lt_status lt_quickjs_run(lt_quickjs *q, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  lt_run *run = lt_mem_alloc(sizeof *run);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  uint64_t began = lt_workers_now();
  run_init(run, q, request, result);
  atomic_store(&run->task.deadline_ns, began + lt_run_request_timeout_ms(request) * 1000000);
  bool ended = false;
  lt_status status = take_catalog(run, err);
  if (status == LT_OK) {
    status = begin_tape(run, &ended, err);
  }
  if (status == LT_OK && !ended) {
    status = run_program(run, err);
    end(run, status, (double)(lt_workers_now() - began) / 1e6);
  }
  lt_run_result_ensure_error(result);
  lt_run_tell_recalled(run);
  run_release(run);
  lt_mem_free(run);
  return status;
}
