#include "runner/quickjs/run_box.h"

#include "runner/quickjs/run.h"

static void on_run_fiber(void *arg) {
  lt_run *run = arg;
  run->box.body(run);
}

lt_status lt_run_box_enter(lt_run *run, lt_err *err) {
  LT_TRY(lt_pool_take(run->box.pool, &run->box.box, err));
  run->task.box = run->box.box;
  lt_fiber_init(&run->box.fiber, run->box.box->stack, LT_BOX_STACK_BYTES, on_run_fiber, run);
  return LT_OK;
}

void lt_run_box_drop(lt_run *run) {
  lt_box *box = run->box.box;
  lt_fiber_release(&run->box.fiber);
  run->box.is_dropping = false;
  run->box.box = NULL;
  run->task.box = NULL;
  lt_pool_give(run->box.pool, box);
}

void lt_run_box_submit(lt_run *run) {
  bool is_dropped = run->box.box == NULL && atomic_load(&run->task.stop) == LT_STOP_NOT;
  if (is_dropped && lt_run_box_enter(run, NULL) != LT_OK) {
    lt_engine_result_release(&run->engine);
    lt_engine_result_init(&run->engine);
    run->engine.ending = LT_END_MEMORY;
  }
  lt_workers_submit(run->workers, &run->task);
}
