#include "runner/quickjs/run_box.h"

#include "base/mem.h"
#include "runner/quickjs/run.h"

/* --- What nobody waits for ---------------------------------------------------------------------------------------- */
typedef struct box_chore {
  lt_workers_chore chore; /* first */
  lt_pool *pool;
  lt_box *box; /* to be given back; NULL: one is to be made */
} box_chore;

static void on_box_chore(lt_workers_chore *chore) {
  box_chore *it = (box_chore *)(void *)chore;
  if (it->box != NULL) {
    lt_pool_give(it->pool, it->box);
  } else {
    lt_pool_make_ahead(it->pool);
  }
  lt_mem_free(it);
}

static bool box_chore_post(lt_workers *workers, lt_pool *pool, lt_box *box) {
  box_chore *it = lt_mem_alloc(sizeof *it);
  if (it == NULL) {
    return false;
  }
  *it = (box_chore){.chore = {.fn = on_box_chore}, .pool = pool, .box = box};
  bool is_taken = lt_workers_do_later(workers, &it->chore);
  if (!is_taken) {
    lt_mem_free(it);
  }
  return is_taken;
}

/* --- A run's box -------------------------------------------------------------------------------------------------- */
static void on_run_fiber(void *arg) {
  lt_run *run = arg;
  run->box.body(run);
}

static void run_box_be_due(lt_run *run) {
  run->box.is_due = true;
  lt_wait_wake(&run->wait, LT_OK);
}

static void on_step_out(void *arg) {
  lt_run *run = arg;
  lt_workers_step_own(run->workers, &run->task);
}

/* The loop has nothing else to do for the only program while that computes, so its thread is not woken by a worker, nor
 * a worker by it. Several programs share the workers, and the loop serves them all. */
static bool run_box_step_out(lt_run *run) {
  return lt_quickjs_is_alone(run->quickjs) && lt_loop_step_out(run->loop, on_step_out, run);
}

void lt_run_box_begin(lt_run *run) {
  if (!lt_lane_is_home(run->lane)) {
    run_box_be_due(run);
  } else if (!run_box_step_out(run)) {
    lt_workers_submit(run->workers, &run->task);
  }
}

void lt_run_box_resume(lt_run *run) {
  if (!lt_lane_is_home(run->lane)) {
    run_box_be_due(run);
  } else if (!run_box_step_out(run)) {
    lt_workers_resume(run->workers, &run->task);
  }
}

/* The lock: who has posted this has ended its access to the run and to its lane. */
static void on_box_post(void *arg) {
  lt_run *run = arg;
  pthread_mutex_lock(&run->lock);
  pthread_mutex_unlock(&run->lock);
  run_box_be_due(run);
}

/* The lock: lt_run_box_wait has ended its access to the run. */
static void on_run_box(lt_pool_waiter *waiter) {
  lt_run *run = (lt_run *)(void *)((char *)waiter - offsetof(lt_run, box.waiter));
  bool is_home = lt_lane_is_home(run->lane);
  pthread_mutex_lock(&run->lock);
  if (!is_home) {
    run->box.post = (lt_post){.fn = on_box_post, .arg = run};
    lt_lane_post(run->lane, &run->box.post);
  }
  pthread_mutex_unlock(&run->lock);
  if (is_home) {
    lt_workers_resume(run->workers, &run->task);
  }
}

void lt_run_box_init(lt_run *run, lt_pool *pool, void (*body)(lt_run *run) LT_YIELDS, lt_err *err) {
  run->box.pool = pool;
  run->box.box = NULL;
  run->box.body = body;
  run->box.waiter = (lt_pool_waiter){.on_box = on_run_box};
  run->box.has_begun = false;
  run->box.is_resting = run->box.should_rest = run->box.never_rests = false;
  run->box.home = NULL;
  run->box.status = LT_OK;
  run->box.err = err;
}

static void run_box_fail(lt_run *run, lt_status status, const lt_err *err) {
  if (!run->box.has_begun) {
    run->box.status = status;
    lt_err_copy(run->box.err, err);
    return;
  }
  lt_engine_result_release(&run->engine);
  lt_engine_result_init(&run->engine);
  run->engine.ending = LT_END_MEMORY;
}

/* If there is no clean box, one that waits to be cleaned is cleaned here, which takes a tenth of the time for a new
 * one; and a new one is made, so that the programs after this one need not do that. */
static void run_box_look_for_clean(lt_run *run) {
  bool is_small = false;
  if (!lt_pool_lacks_clean(run->box.pool, &is_small)) {
    return;
  }
  lt_workers_do_one_now(run->workers);
  if (is_small) {
    (void)box_chore_post(run->workers, run->box.pool, NULL);
  }
}

static lt_status run_box_take(lt_run *run, lt_err *err) {
  lt_box *home = run->box.home;
  run->box.box = run->box.waiter.box;
  run->box.waiter.box = NULL;
  if (run->box.box != NULL) {
    return LT_OK;
  }
  if (home == NULL) {
    run_box_look_for_clean(run);
    return lt_pool_take(run->box.pool, &run->box.box, err);
  }
  LT_TRY(lt_pool_take_home(run->box.pool, home, err));
  run->box.box = home;
  return LT_OK;
}

static void run_box_start(lt_run *run) {
  run->box.has_begun = true;
  atomic_store(&run->task.box, run->box.box);
  lt_fiber_init(&run->box.fiber, run->box.box->stack, lt_box_stack_bytes(run->box.box), on_run_fiber, run);
  lt_run_rests_list(run);
}

/* The program continues in its box. It may have more memory than there is now. */
static lt_status run_box_end_rest(lt_run *run, lt_err *err) {
  if (!lt_box_rest_end(&run->box.pool->shelf, run->box.box, &run->box.fiber, &run->box.rest)) {
    return lt_fail(err, LT_E_NOMEM, "no memory to continue a program that was waiting");
  }
  run->box.home = run->box.waiter.home = NULL;
  pthread_mutex_lock(&run->lock);
  run->box.is_resting = false;
  pthread_mutex_unlock(&run->lock);
  atomic_store(&run->task.box, run->box.box);
  return LT_OK;
}

void lt_run_box_abandon(lt_run *run) {
  if (run->box.home == NULL) {
    return;
  }
  if (run->box.box == NULL) {
    lt_pool_leave(run->box.pool, run->box.home);
    lt_fiber_release(&run->box.fiber);
  }
  lt_box_rest_release(&run->box.pool->shelf, &run->box.rest);
  run->box.home = NULL;
}

bool lt_run_box_has(const lt_run *run) {
  return run->box.box != NULL || run->box.waiter.box != NULL;
}

bool lt_run_box_enter(lt_run *run) {
  if (run->box.box != NULL) {
    lt_page_watch_enter(&run->box.box->watch);
    return true;
  }
  LT_ERR_VAR(err);
  bool is_resting = run->box.home != NULL;
  lt_status status = run_box_take(run, &err);
  run->box.needs_box = status == LT_E_LIMIT;
  if (status == LT_OK) {
    lt_page_watch_enter(&run->box.box->watch);
  }
  if (status == LT_OK && is_resting) {
    status = run_box_end_rest(run, &err);
  } else if (status == LT_OK) {
    run_box_start(run);
  }
  if (status != LT_OK && !run->box.needs_box) {
    run_box_fail(run, status, &err);
    lt_run_box_abandon(run);
  }
  return status == LT_OK;
}

void lt_run_box_wait(lt_run *run) {
  run->box.needs_box = false;
  lt_run_rests *rests = run->rest.rests;
  pthread_mutex_lock(&run->lock);
  bool waits = atomic_load(&run->task.stop) == LT_STOP_NOT && lt_pool_wait(run->box.pool, &run->box.waiter);
  pthread_mutex_unlock(&run->lock);
  if (waits && rests != NULL) {
    lt_run_rests_hurry(rests);
  }
  if (!waits) {
    lt_run_box_resume(run);
  }
}

void lt_run_box_continue(lt_run *run) {
  if (run->box.box == NULL) {
    lt_run_box_wait(run);
  } else {
    lt_run_box_begin(run);
  }
}

bool lt_run_box_forget(lt_run *run) {
  return run->box.pool != NULL && lt_pool_forget(run->box.pool, &run->box.waiter);
}

void lt_run_box_rest(lt_run *run) {
  lt_box *box = run->box.box;
  lt_status status = lt_box_rest_begin(&run->box.pool->shelf, box, &run->box.fiber, &run->box.rest);
  if (status != LT_OK) {
    run->box.never_rests = status == LT_E_LIMIT;
    return;
  }
  pthread_mutex_lock(&run->lock);
  run->box.is_resting = true;
  pthread_mutex_unlock(&run->lock);
  run->box.home = run->box.waiter.home = box;
  run->box.box = NULL;
  atomic_store(&run->task.box, NULL);
  lt_pool_rest(run->box.pool, box);
}

void lt_run_box_drop(lt_run *run) {
  lt_box *box = run->box.box;
  lt_fiber_release(&run->box.fiber);
  run->box.is_dropping = false;
  run->box.box = NULL;
  atomic_store(&run->task.box, NULL);
  lt_pool_give(run->box.pool, box);
}

bool lt_run_box_give_later(lt_workers *workers, lt_pool *pool, lt_box *box) {
  return box->has_grown && box_chore_post(workers, pool, box);
}
