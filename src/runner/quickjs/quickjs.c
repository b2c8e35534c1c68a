#include "runner/quickjs/quickjs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "js/tserase.h"
#include "replay/recorded_run.h"
#include "runner/save_tool.h"
#include "runner/quickjs/host_functions.h"
#include "runner/quickjs/program_end.h"
#include "runner/quickjs/program_lane.h"
#include "runner/quickjs/run.h"
#include "runner/quickjs/tool_names.h"

/* Opened for the first program that needs it. */
typedef struct runner_image {
  lt_image image;
  lt_pool pool;
  bool is_open;
} runner_image;

struct lt_quickjs {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  lt_workers *workers;
  lt_program_lanes lanes;
  runner_image images[LT_IMAGE_KINDS];
  lt_pool_budget budget; /* of the clean boxes of all images */
  lt_run_rests rests;
  lt_timer *trim; /* runs while there may be clean boxes that nobody needs */
  bool is_trimming;
  _Atomic unsigned runs;   /* that have begun and have not ended */
  lt_typecheck *typecheck; /* NULL: types are not checked */
  lt_str time_zone;        /* of programs' local time; empty: UTC */
  bool drops; /* programs that wait are dropped, and run again by their tapes: slow, for tests ($LATHE_DROP_WAITING) */
};

/* --- The runner --------------------------------------------------------------------------------------------------- */
static bool quickjs_speaks(lt_lang lang) {
  return lang == LT_LANG_JAVASCRIPT || lang == LT_LANG_TYPESCRIPT;
}

static lt_status quickjs_run(lt_runner *self, const lt_run_request *request, lt_run_result *result,
                             lt_err *err) LT_YIELDS {
  return lt_quickjs_run((lt_quickjs *)(void *)self, request, result, err);
}

static void quickjs_count_boxes(lt_runner *self, lt_runner_boxes *boxes) {
  lt_quickjs *q = (lt_quickjs *)(void *)self;
  for (unsigned kind = 0; kind < LT_IMAGE_KINDS; kind++) {
    if (q->images[kind].is_open) {
      lt_pool_counts counts = lt_pool_count(&q->images[kind].pool);
      boxes->used += counts.used;
      boxes->pooled += counts.pooled;
      boxes->taken += counts.taken;
      boxes->cleaned += counts.cleaned;
    }
  }
}

static void quickjs_runner_free(lt_runner *self) LT_YIELDS {
  lt_quickjs_free((lt_quickjs *)(void *)self);
}

bool lt_quickjs_is_alone(const lt_quickjs *q) {
  return atomic_load_explicit(&q->runs, memory_order_relaxed) == 1;
}

void lt_quickjs_set_time_zone(lt_quickjs *q, lt_str time_zone) {
  q->time_zone = time_zone;
}

lt_runner *lt_quickjs_runner(lt_quickjs *q) {
  return &q->runner;
}

static lt_status quickjs_open_image(lt_quickjs *q, lt_image_kind kind, lt_err *err) {
  static const lt_pool_limits limits[LT_IMAGE_KINDS] = {
      [LT_IMAGE_BASE] = {.most = LT_BOX_MAX, .keep = LT_BOX_POOL_KEEP},
      [LT_IMAGE_WEB] = {.most = LT_WEB_MAX, .keep = LT_WEB_POOL_KEEP},
      [LT_IMAGE_INTL] = {.most = LT_INTL_MAX, .keep = LT_INTL_POOL_KEEP},
      [LT_IMAGE_STRIP] = {.most = LT_STRIP_MAX, .keep = LT_STRIP_POOL_KEEP}};
  runner_image *it = &q->images[kind];
  if (!it->is_open) {
    lt_pool_limits its = limits[kind];
    its.budget = &q->budget;
    LT_TRY(lt_image_open_built_in(&it->image, kind, err));
    lt_pool_init(&it->pool, &it->image, &its);
    it->is_open = true;
  }
  return LT_OK;
}

/* --- Clean boxes that nobody needs -------------------------------------------------------------------------------- */
static void quickjs_trim_later(lt_quickjs *q, lt_image_kind kind) {
  if (!q->is_trimming && lt_pool_can_trim(&q->images[kind].pool)) {
    q->is_trimming = true;
    lt_timer_start(q->trim, LT_BOX_TRIM_MS);
  }
}

/* Programs that leave their boxes leave boxes that nobody needs. */
static void on_rests_tick(void *arg) {
  lt_quickjs *q = arg;
  for (unsigned kind = 0; kind < LT_IMAGE_KINDS; kind++) {
    if (q->images[kind].is_open) {
      quickjs_trim_later(q, kind);
    }
  }
}

static void on_trim(void *arg) {
  lt_quickjs *q = arg;
  q->is_trimming = false;
  for (unsigned kind = 0; kind < LT_IMAGE_KINDS; kind++) {
    if (q->images[kind].is_open) {
      lt_pool_trim(&q->images[kind].pool);
    }
  }
  on_rests_tick(q);
}

static void quickjs_close_images(lt_quickjs *q) {
  for (unsigned kind = 0; kind < LT_IMAGE_KINDS; kind++) {
    if (q->images[kind].is_open) {
      lt_pool_release(&q->images[kind].pool);
      lt_image_close(&q->images[kind].image);
    }
  }
}

/* On the watchdog's thread, while the loop's is in that step. */
static void on_late_step(void *arg) {
  lt_loop_stand_in(arg);
}

static void on_loop_sleep(void *arg, bool is_awake) {
  lt_quickjs *q = arg;
  lt_workers_note_queuer(q->workers, is_awake);
}

lt_status lt_quickjs_new(lt_loop *loop, lt_door *door, unsigned workers, lt_quickjs **ret_quickjs, lt_err *err) {
  lt_quickjs *q = lt_mem_zalloc(1, sizeof *q);
  if (q == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the engine");
  }
  q->runner = (lt_runner){.id = "quickjs",
                          .keeps_lane = true,
                          .speaks = quickjs_speaks,
                          .run = quickjs_run,
                          .count_boxes = quickjs_count_boxes,
                          .free = quickjs_runner_free};
  q->drops = getenv("LATHE_DROP_WAITING") != NULL;
  q->loop = loop;
  q->door = door;
  lt_status status = quickjs_open_image(q, LT_IMAGE_BASE, err);
  if (status == LT_OK) {
    status = lt_timer_new_background(loop, on_trim, q, &q->trim, err);
  }
  if (status == LT_OK) {
    status = lt_run_rests_init(&q->rests, loop, on_rests_tick, q, err);
  }
  if (status == LT_OK) {
    status = lt_workers_new(workers, &q->workers, err);
  }
  if (status != LT_OK) {
    quickjs_close_images(q);
    lt_timer_free(q->trim);
    lt_run_rests_release(&q->rests);
    lt_mem_free(q);
    return status;
  }
  lt_workers_on_late(q->workers, on_late_step, loop);
  lt_loop_on_sleep(loop, on_loop_sleep, q);
  lt_program_lanes_init(&q->lanes, loop, q->workers);
  q->runner.crew = &q->lanes.crew;
  *ret_quickjs = q;
  return LT_OK;
}

void lt_quickjs_check_types(lt_quickjs *q, lt_typecheck *typecheck) {
  q->typecheck = typecheck;
}

void lt_quickjs_free(lt_quickjs *q) {
  if (q == NULL) {
    return;
  }
  lt_loop_on_sleep(q->loop, NULL, NULL);
  lt_workers_free(q->workers);
  quickjs_close_images(q);
  lt_timer_free(q->trim);
  lt_run_rests_release(&q->rests);
  lt_mem_free(q);
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */
/* A program that has no box does not continue when it is stopped. */
static lt_workers_step on_step(lt_workers_task *task) {
  lt_run *run = (lt_run *)task;
  run->box.step = LT_STEP_DONE;
  if (run->box.should_rest) {
    return LT_STEP_PARK;
  }
  if (!lt_run_box_has(run) && atomic_load(&run->task.stop) != LT_STOP_NOT) {
    lt_run_box_abandon(run);
    return LT_STEP_DONE;
  }
  if (!lt_run_box_enter(run)) {
    return run->box.needs_box ? LT_STEP_PARK : LT_STEP_DONE;
  }
  bool goes_on = lt_fiber_resume(&run->box.fiber);
  bool is_dropped = run->box.is_dropping && atomic_load(&run->task.stop) == LT_STOP_NOT;
  run->box.gives_way = goes_on && run->box.step == LT_STEP_AGAIN && lt_pool_wants(run->box.box);
  return run->box.gives_way ? LT_STEP_PARK : goes_on ? run->box.step : is_dropped ? LT_STEP_PARK : LT_STEP_DONE;
}

/* Whether another program needs this one's box, or will soon. */
static bool run_should_rest(const lt_run *run) {
  const lt_box *box = run->box.box;
  bool is_small = lt_box_size(box) - box->image->head.size <= LT_BOX_CROWD_BYTES;
  bool may_rest = is_small && run->rest.rests != NULL && !run->box.never_rests;
  return run->box.should_rest || lt_pool_wants(box) || (may_rest && lt_pool_is_crowded(run->box.pool));
}

/* A program that waits may leave its box. */
static void run_leave_box(lt_run *run) {
  if (run->box.needs_box) {
    return;
  }
  lt_pool_learn(run->box.pool, run->box.box);
  if (run->box.is_dropping) {
    lt_run_box_drop(run);
  } else if (run_should_rest(run)) {
    run->box.should_rest = false;
    lt_run_box_rest(run);
  }
}

/* The program waits for an answer, or for a box. */
static void run_park(lt_run *run) {
  bool gives_way = run->box.gives_way;
  run->box.gives_way = false;
  if (run->box.needs_box) {
    lt_run_box_wait(run);
    return;
  }
  if (gives_way) {
    lt_run_box_continue(run);
    return;
  }
  lt_run_opens_park(run);
}

static void on_program_done(void *arg) {
  lt_run *run = arg;
  run->is_finished = true;
  if (run->queue.in_flight > 0 || run->queue.first != NULL) { /* the program failed: its open calls are cancelled */
    lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
    lt_call_queue_drop(run, LT_E_CANCELLED, "the program has ended");
  }
  lt_wait_wake(&run->wait, LT_OK);
}

/* The worker's last access to the run: hands out the result. */
static void run_post_done(lt_run *run) {
  if (run->box.box != NULL) {
    lt_fiber_release(&run->box.fiber);
  }
  run->done_post = (lt_post){.fn = on_program_done, .arg = run};
  lt_lane_post(run->lane, &run->done_post);
}

/* Of a run at home. The box is cleaned after the result was handed out. */
static void after_step(lt_workers_task *task, lt_workers_step step) {
  lt_run *run = (lt_run *)task;
  if (step == LT_STEP_PARK) {
    run_leave_box(run);
    run_park(run);
    return;
  }
  lt_box *box = run->box.box;
  lt_pool *pool = run->box.pool;
  run_post_done(run);
  if (box != NULL) {
    lt_pool_give(pool, box);
  }
}

static void on_run_deadline(lt_run *run) {
  lt_call_queue_stop_run(run, LT_STOP_TIMEOUT);
}

static void run_stop_in_time(lt_run *run) {
  if (run->is_finished || atomic_load(&run->task.stop) != LT_STOP_NOT) {
    return;
  }
  if (run->cancel.why != LT_OK) {
    lt_call_queue_stop_run(run, LT_STOP_CANCEL);
  } else if (!run->box.is_due && lt_run_clock_left_ms(run) == 0) { /* a step looks at the clock itself */
    lt_call_queue_stop_run(run, LT_STOP_TIMEOUT);
  }
}

/* --- Steps on a lane ---------------------------------------------------------------------------------------------- */
typedef struct run_step {
  lt_run *run;
  lt_workers_step step;
  lt_status status;
  lt_err err;
} run_step;

static void on_step_here(void *arg) {
  run_step *s = arg;
  s->status = lt_workers_run_here(s->run->workers, &s->run->task, &s->run->visit, &s->step, &s->err);
  if (!s->run->request->keeps_signals || s->step == LT_STEP_DONE) { /* not by a fiber: it may have a mask of its own */
    lt_workers_end_visit(&s->run->visit);
  }
  if (s->step == LT_STEP_PARK) {
    run_leave_box(s->run);
  }
}

/* By the thread that cancels, while the run's fiber is in the step. */
static void on_cancel_here(void *arg) {
  lt_workers_task_stop(arg, LT_STOP_CANCEL);
}

static void on_give_here(void *arg) {
  lt_run_box *given = arg;
  lt_pool_give(given->pool, given->box);
}

/* The box is cleaned here and now, or by a worker that has nothing else to do (lt_run_box_give_later). The thread may
 * have left the lane after the step: then the loop's own cleans it. */
static void run_end_here(lt_run *run) LT_YIELDS {
  run_post_done(run);
  if (run->box.box == NULL || lt_run_box_give_later(run->workers, run->box.pool, run->box.box)) {
    return;
  }
  if (lt_lane_is_home(run->lane)) {
    on_give_here(&run->box);
  } else {
    lt_lane_step_out(run->lane, on_give_here, &run->box);
  }
}

/* What the program has posted is carried out at once. When it waits, the run's fiber is free for its first call. */
static void run_end_step_here(lt_run *run, lt_workers_step step) LT_YIELDS {
  run->box.has_begun_here = run->box.has_begun;
  if (step != LT_STEP_AGAIN) {
    if (step == LT_STEP_PARK) {
      run_park(run);
    } else {
      run_end_here(run);
    }
    run->queue.is_idle = true;
    lt_lane_run_posts(run->lane);
    run->queue.is_idle = false;
  } else {
    run->box.is_due = true;
    lt_loop_sleep(run->loop, 0);
  }
}

/* The next step, on the thread that waits for the program. */
static void run_step_here(lt_run *run) LT_YIELDS {
  lt_cancel_node node;
  run_step s = {.run = run, .step = LT_STEP_DONE, .err = LT_ERR_INIT};
  run->box.is_due = false;
  lt_cancel_call(&run->cancel, &node, on_cancel_here, &run->task);
  lt_lane_step_out(run->lane, on_step_here, &s);
  lt_cancel_remove(&run->cancel, &node);
  if (s.status != LT_OK) {
    run->engine.ending = LT_END_TRAP;
    lt_buf_addc(&run->engine.text, lt_err_msg(&s.err));
  }
  run_end_step_here(run, s.step);
}

/* Its thread has left a program that has begun there (lt_lane_move_home): it rests as others do. */
static void run_rest_from_now_on(lt_run *run) {
  if (run->box.has_begun_here && run->rest.rests == NULL && !run->quickjs->drops) {
    lt_run_rests_add(run, &run->quickjs->rests);
    lt_run_rests_list(run);
  }
}

static void run_take_step(lt_run *run) LT_YIELDS {
  if (lt_lane_is_home(run->lane)) {
    run->box.is_due = false;
    lt_workers_resume(run->workers, &run->task);
  } else {
    run_step_here(run);
  }
}

/* The run's own fiber carries out one call at a time itself: a program that waits for one call costs one fiber. */
static void run_wait_until_finished(lt_run *run) LT_YIELDS {
  lt_cancel_node from_above, to_us;
  lt_cancel_follow(run->request->cancel, &from_above, &run->cancel);
  lt_cancel_add(&run->cancel, &to_us, &run->wait);
  while (!run->is_finished || run->queue.in_flight > 0) {
    run_stop_in_time(run);
    if (run->box.is_due) {
      run_take_step(run);
      continue;
    }
    if (lt_lane_is_home(run->lane)) {
      run_rest_from_now_on(run);
    }
    if (lt_call_queue_has_waiting(&run->queue) && !lt_run_clock_watch(run, on_run_deadline)) {
      lt_call_queue_drop(run, LT_E_NOMEM, "no memory for another tool call");
    }
    if (lt_call_queue_perform(run)) {
      continue;
    }
    bool is_ending = run->is_finished || atomic_load(&run->task.stop) != LT_STOP_NOT;
    run->queue.is_idle = true;
    lt_wait_on(&run->wait, is_ending ? UINT64_MAX : lt_run_clock_left_ms(run));
    run->queue.is_idle = false;
  }
  lt_cancel_remove(&run->cancel, &to_us);
  lt_cancel_remove(run->request->cancel, &from_above);
  lt_run_clock_unwatch(run);
  lt_guest_timers_release(run);
}

static bool run_was_cancelled_before(lt_run *run) {
  if (run->request->cancel == NULL || run->request->cancel->why == LT_OK) {
    return false;
  }
  lt_workers_task_stop(&run->task, LT_STOP_CANCEL);
  return true;
}

/* Runs `body` on the workers, in a box of that image, to its end. */
static lt_status run_in_box(lt_run *run, lt_image_kind kind, void (*body)(lt_run *run) LT_YIELDS,
                            lt_err *err) LT_YIELDS {
  if (run_was_cancelled_before(run)) {
    return LT_OK;
  }
  lt_quickjs *q = run->quickjs;
  LT_TRY(quickjs_open_image(q, kind, err));
  lt_run_box_init(run, &q->images[kind].pool, body, err);
  run->is_finished = false;
  if (!q->drops && !lt_lane_has_thread(run->lane)) {
    lt_run_rests_add(run, &q->rests);
  }
  lt_run_box_begin(run);
  run_wait_until_finished(run);
  lt_run_rests_remove(run);
  quickjs_trim_later(q, kind);
  return run->box.status;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */
static void on_strip_box(lt_run *run) LT_YIELDS {
  lt_guest_host host;
  lt_host_functions_fill(run, &host);
  lt_engine_strip(run->box.box, run->text.source, host.poll, run, &run->engine);
}

/* On the worker: the program begins, or begins again after it was dropped. Calls and timers under way continue, and
 * wait until the program opens them again. */
static void run_rewind(lt_run *run) {
  lt_run_values_rewind(run);
  lt_said_texts_rewind(run);
  run->warnings.count = 0;
  pthread_mutex_lock(&run->lock);
  lt_program_calls_rewind(run);
  lt_guest_timers_rewind(run);
  lt_run_opens_rewind(run);
  pthread_mutex_unlock(&run->lock);
  lt_engine_result_release(&run->engine);
  lt_engine_result_init(&run->engine);
  lt_tape_rewind(&run->tape);
  run->text.program.seed = run->tape.seed;
  run->text.program.time_zone = run->tape.time_zone;
}

static void on_program_box(lt_run *run) LT_YIELDS {
  lt_guest_host host;
  run_rewind(run);
  lt_host_functions_fill(run, &host);
  if (run->pragma.warnings.n > 0) {
    lt_said_texts_log(run, LT_LOG_WARN, lt_buf_view(&run->pragma.warnings));
  }
  if (lt_run_memory_load(run)) {
    lt_engine_run(run->box.box, &run->text.program, &host, &run->engine);
    lt_run_memory_save(run);
  }
}

/* Converts TypeScript to JavaScript in a box. `ret_is_stripped` is false when `engine` has an error. */
static lt_status run_strip_types(lt_run *run, lt_buf *code, bool *ret_is_stripped, lt_err *err) LT_YIELDS {
  LT_TRY(run_in_box(run, LT_IMAGE_STRIP, on_strip_box, err));
  *ret_is_stripped = run->engine.ending == LT_END_STRING && atomic_load(&run->task.stop) == LT_STOP_NOT;
  if (*ret_is_stripped) {
    *code = run->engine.text;
    lt_buf_init(&run->engine.text, LT_RUN_RESULT_MAX_BYTES);
  }
  return LT_OK;
}

/* The same, without a box for most programs. `ret_has_moved`: bytes are no longer where they were written. */
static lt_status run_remove_types(lt_run *run, lt_buf *code, bool *ret_is_stripped, bool *ret_has_moved,
                                  lt_err *err) LT_YIELDS {
  *ret_has_moved = false;
  switch (lt_tserase_program(run->text.source, code)) {
    case LT_TSERASE_NOTHING:
      lt_buf_add(code, run->text.source);
      *ret_is_stripped = true;
      return lt_buf_check(code, err, "no memory for the program without its types");
    case LT_TSERASE_WRITTEN:
      *ret_has_moved = true;
      *ret_is_stripped = true;
      return LT_OK;
    case LT_TSERASE_ERASED:
      *ret_is_stripped = true;
      return LT_OK;
    case LT_TSERASE_UNSURE:
      break;
  }
  lt_buf_release(code);
  *ret_has_moved = true;
  return run_strip_types(run, code, ret_is_stripped, err);
}

/* Takes `code`, which comes of `source`. */
static lt_str run_take_code(lt_run *run, lt_buf *code, bool has_moved) {
  lt_buf_release(&run->text.code);
  run->text.code = *code;
  lt_buf_init(code, LT_RUN_CODE_MAX_BYTES);
  run->text.has_moved = has_moved;
  return lt_buf_view(&run->text.code);
}

/* The divergence replaces the outcome of a diverged program. */
static void run_judge(lt_run *run) {
  bool is_stopped = atomic_load(&run->task.stop) != LT_STOP_NOT;
  if (!is_stopped && run->tape.fault.n == 0) {
    lt_tape_check_end(&run->tape);
  }
  lt_program_end_judge(run);
  if (run->tape.fault.n > 0 && !is_stopped) {
    lt_run_result_fail(run->result, LT_E_DIVERGED, "diverged: %.*s", LT_STR_ARG(run->tape.fault));
  }
}

static lt_status run_evaluate(lt_run *run, lt_str code, lt_err *err) LT_YIELDS {
  LT_TRY(lt_program_text_prepare(run, code, err));
  return run_in_box(run, run->text.image, on_program_box, err);
}

/* A link error, which has no stack, does not come from types. */
static bool run_may_have_types(const lt_run *run) {
  return run->engine.ending == LT_END_ERROR && run->engine.is_unparsed && run->engine.stack.n > 0 &&
         run->tape.fault.n == 0 && lt_str_eq(lt_buf_view(&run->engine.name), LT_STR("SyntaxError")) &&
         atomic_load(&run->task.stop) == LT_STOP_NOT;
}

/* Models write types into programs that are called JavaScript. Nothing has run so far, so the program may run without
 * them. If it is no TypeScript either, the first error stays. */
static lt_status run_evaluate_typed(lt_run *run, lt_err *err) LT_YIELDS {
  lt_engine_result first = run->engine;
  lt_engine_result_init(&run->engine);
  LT_AUTO_BUF(code, LT_RUN_CODE_MAX_BYTES);
  bool is_stripped = false, has_moved = false;
  lt_status status = run_remove_types(run, &code, &is_stripped, &has_moved, err);
  if (status != LT_OK || !is_stripped || lt_str_eq(lt_buf_view(&code), run->text.source)) {
    lt_engine_result_release(&run->engine);
    run->engine = first;
    return status;
  }
  lt_engine_result_release(&first);
  return run_evaluate(run, run_take_code(run, &code, has_moved), err);
}

/* What differs from other runners: here these are answered at once; and what programs for other places name, which
 * fails at run time with what to use instead. */
#define CHECK_GLOBALS                                                                                    \
  "/** Finds tools. */\ndeclare function discoverTools(query?: string): any;\n"                          \
  "/** What a tool takes. */\ndeclare function toolSchema(name: string): any;\n"                         \
  "declare function print(...values: unknown[]): void;\n"                                                \
  "/** The names of cells (mode codex). */\ndeclare function text(value: unknown): void;\n"              \
  "declare function image(value: any, detail?: string | null): void;\n"                                  \
  "declare function forward_output(result: any): void;\ndeclare function load(key: string): any;\n"      \
  "declare function notify(value: unknown): void;\ndeclare function yield_control(): void;\n"            \
  "declare function exit(): never;\ndeclare const ALL_TOOLS: { name: string; description: string }[];\n" \
  "declare var module: any, exports: any, require: any;\n"

static const char check_globals[] = CHECK_GLOBALS;
/* A program may have a `save` of its own where the tool is not there. */
static const char check_globals_with_save[] = CHECK_GLOBALS
    "declare function save(name: string, program: string | Function, about?: { description?: string; input?: object;"
    " language?: string }): any;\n";

lt_str lt_quickjs_globals(void) {
  return lt_str_of(check_globals);
}

static const lt_tool *run_find_checked_tool(void *arg, lt_str word) {
  return lt_tool_names_find_word(arg, word);
}

static void run_put_suggestions(void *arg, lt_str name, lt_buf *message) {
  lt_tool_names_suggest(arg, name, message);
}

/* Before anything has an effect. The program's time begins afterwards. A program that is run again was checked the
 * first time, by the compiler of that time. LT_E_PROGRAM: the result has the errors. */
static lt_status run_check_types(lt_run *run, lt_err *err) LT_YIELDS {
  if (run->quickjs->typecheck == NULL || run->tape.is_recalled) {
    return LT_OK;
  }
  bool may_save = lt_catalog_find(run->catalog, LT_STR(LT_SAVE_TOOL)) != NULL;
  const lt_typecheck_program program = {.request = run->request,
                                        .source = run->text.source,
                                        .line_offset = run->text.line_offset,
                                        .globals = lt_str_of(may_save ? check_globals_with_save : check_globals),
                                        .find_tool = run_find_checked_tool,
                                        .put_suggestions = run_put_suggestions,
                                        .only_names = run->request->lang == LT_LANG_JAVASCRIPT,
                                        .arg = run};
  uint64_t began = lt_workers_now();
  if (!program.only_names) {
    run->text.program.calls = LT_CALLS_RESULT; /* tools have their TypeScript names */
  }
  bool has_gone = lt_lane_go_home(run->loop);
  lt_status status = lt_typecheck_run(run->quickjs->typecheck, &program, run->result, err);
  lt_lane_go_back(run->loop, has_gone);
  atomic_store(&run->task.deadline_ns, atomic_load(&run->task.deadline_ns) + lt_workers_now() - began);
  return status;
}

/* The compiler takes a tag of JSX for a type and speaks of what follows; the stripper knows a tag. */
static lt_status run_explain_tag(lt_run *run, lt_err *err) LT_YIELDS {
  if (!lt_str_starts(lt_buf_view(&run->result->error), LT_STR("TS1"))) { /* TS1000 to TS1999: syntax */
    return LT_OK;
  }
  LT_AUTO_BUF(code, LT_RUN_CODE_MAX_BYTES);
  bool is_stripped = false;
  LT_TRY(run_strip_types(run, &code, &is_stripped, err));
  if (run->engine.ending == LT_END_ERROR && atomic_load(&run->task.stop) == LT_STOP_NOT &&
      lt_str_starts(lt_buf_view(&run->engine.text), LT_STR("unexpected token in expression: '<'"))) {
    lt_program_end_judge_syntax(run);
  }
  return LT_OK;
}

static lt_status run_typescript(lt_run *run, lt_err *err) LT_YIELDS {
  lt_status checked = run_check_types(run, err);
  if (checked == LT_E_PROGRAM && run->request->faults != NULL) {
    return LT_OK;
  }
  if (checked != LT_OK) {
    return checked == LT_E_PROGRAM ? run_explain_tag(run, err) : checked;
  }
  LT_AUTO_BUF(code, LT_RUN_CODE_MAX_BYTES);
  bool is_stripped = false, has_moved = false;
  LT_TRY(run_remove_types(run, &code, &is_stripped, &has_moved, err));
  if (!is_stripped) {
    lt_program_end_judge_syntax(run);
    return LT_OK;
  }
  LT_TRY(run_evaluate(run, run_take_code(run, &code, has_moved), err));
  run_judge(run);
  return LT_OK;
}

static lt_status run_javascript(lt_run *run, lt_err *err) LT_YIELDS {
  LT_TRY(run_evaluate(run, run->text.source, err));
  if (run_may_have_types(run)) {
    LT_TRY(run_evaluate_typed(run, err));
  }
  run_judge(run);
  if (run->request->faults != NULL && run->result->status == LT_OK) {
    (void)run_check_types(run, NULL); /* only its names, and only where there is a compiler that works */
  }
  return LT_OK;
}

static lt_status quickjs_run_program(lt_run *run, lt_err *err) LT_YIELDS {
  LT_TRY(run->request->session != NULL ? quickjs_open_image(run->quickjs, LT_IMAGE_INTL, err) : LT_OK);
  if (!lt_program_text_read(run) || !lt_run_memory_check(run, &run->quickjs->images[LT_IMAGE_INTL].image)) {
    return LT_OK;
  }
  return run->request->lang == LT_LANG_TYPESCRIPT ? run_typescript(run, err) : run_javascript(run, err);
}

static void run_init(lt_run *run, lt_quickjs *q, const lt_run_request *written, lt_run_result *result) {
  *run =
      (lt_run){.quickjs = q, .loop = q->loop, .lane = lt_lane_current(q->loop), .door = q->door, .workers = q->workers};
  const lt_run_request *request = lt_exec_pragma_apply(&run->pragma, written);
  const lt_tape_options tape = {.lane = run->lane,
                                .door = q->door,
                                .request = request,
                                .lock = &run->lock,
                                .engine = lt_image_fingerprint(),
                                .time_zone = q->time_zone,
                                .drops = q->drops};
  run->task.step = on_step;
  run->task.after = after_step;
  run->request = request;
  run->result = result;
  pthread_mutex_init(&run->lock, NULL);
  lt_tape_init(&run->tape, &tape);
  lt_program_text_init(&run->text);
  lt_buf_init(&run->reply, LT_JSON_MAX_BYTES);
  lt_said_texts_init(run);
  lt_run_values_init(run);
  lt_run_memory_init(run);
  lt_program_calls_init(&run->calls);
  lt_call_queue_init(&run->queue);
  lt_run_opens_init(run);
  run->opens.on_parked = lt_guest_timers_catch_up;
  lt_engine_result_init(&run->engine);
  lt_wait_init(&run->wait, q->loop);
  lt_cancel_init(&run->cancel);
}

static void run_release(lt_run *run) {
  lt_program_text_release(&run->text);
  lt_exec_pragma_release(&run->pragma);
  lt_buf_release(&run->reply);
  lt_engine_result_release(&run->engine);
  lt_run_values_release(run);
  lt_run_memory_release(run);
  lt_tape_release(&run->tape);
  lt_catalog_unref(run->catalog);
  pthread_mutex_destroy(&run->lock);
}

static lt_status run_take_catalog(lt_run *run, lt_err *err) {
  const lt_caller *caller = run->request->caller;
  if (caller == NULL || caller->catalog == NULL) {
    return lt_door_catalog(run->door, &run->catalog, err);
  }
  run->catalog = lt_catalog_ref(caller->catalog);
  return LT_OK;
}

/* A run that cannot follow its record ends as diverged. */
static lt_status run_begin_tape(lt_run *run, bool *ret_ended, lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  if (lt_tape_begin(&run->tape, run->result, ret_ended, &why) == LT_E_DIVERGED) {
    lt_run_result_fail(run->result, LT_E_DIVERGED, "diverged: %s", lt_err_msg(&why));
    *ret_ended = true;
    return LT_OK;
  }
  LT_TRY(lt_err_copy(err, &why));
  return *ret_ended ? LT_OK : lt_run_values_begin(run, err);
}

/* A run that could not begin has no end; `status` says why. */
static void run_end(lt_run *run, lt_status status, double duration_ms) {
  lt_run_result *result = run->result;
  result->duration_ms = duration_ms;
  result->owned = run->calls.first;
  result->calls = lt_run_tool_call_link(run->calls.first);
  lt_run_result_ensure_error(result);
  if (status == LT_OK) {
    lt_tape_end(&run->tape, result);
  }
}

lt_status lt_quickjs_run(lt_quickjs *q, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  lt_run *run = lt_mem_alloc(sizeof *run);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  uint64_t began = lt_workers_now();
  atomic_fetch_add_explicit(&q->runs, 1, memory_order_relaxed);
  run_init(run, q, request, result);
  atomic_store(&run->task.deadline_ns, began + lt_run_request_timeout_ms(run->request) * 1000000);
  bool has_ended = false;
  lt_status status = run_take_catalog(run, err);
  if (status == LT_OK) {
    status = run_begin_tape(run, &has_ended, err);
  }
  if (status == LT_OK && !has_ended) {
    status = quickjs_run_program(run, err);
    lt_run_memory_keep(run, status);
    run_end(run, status, (double)(lt_workers_now() - began) / 1e6);
  }
  lt_run_result_ensure_error(result);
  lt_recorded_run_report(run->door, request->caller, &run->tape.record, result);
  run_release(run);
  lt_mem_free(run);
  atomic_fetch_sub_explicit(&q->runs, 1, memory_order_relaxed);
  return status;
}
