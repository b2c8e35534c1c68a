#include "runner/quickjs/run_rest.h"

#include "runner/quickjs/run.h"

/* --- The list, under the lock ------------------------------------------------------------------------------------- */
static void run_rests_link(lt_run_rests *rests, lt_run *run) {
  lt_run_rest_link *link = &run->rest;
  link->prev = NULL;
  link->next = rests->first;
  if (rests->first != NULL) {
    rests->first->rest.prev = run;
  }
  rests->first = run;
  link->is_listed = true;
}

static void run_rests_unlink(lt_run_rests *rests, lt_run *run) {
  lt_run_rest_link *link = &run->rest;
  *(link->prev != NULL ? &link->prev->rest.next : &rests->first) = link->next;
  if (link->next != NULL) {
    link->next->rest.prev = link->prev;
  }
  link->is_listed = false;
}

/* --- Looking at waiting programs ---------------------------------------------------------------------------------- */
typedef enum rest_state { REST_NOT_YET, REST_NOW, REST_DONE } rest_state;

static uint64_t run_rests_patience_ns(lt_run *run, bool is_short) {
  if (lt_pool_wants(run->box.box)) {
    return 0;
  }
  return (is_short ? LT_BOX_REST_RUSH_MS : LT_BOX_REST_MS) * (uint64_t)LT_NS_PER_MS;
}

/* Its last step began a slice before `slice_ns`. */
static bool run_rests_has_waited(lt_run *run, uint64_t patience_ns) {
  uint64_t since_ns = atomic_load(&run->task.slice_ns) - LT_WORKER_SLICE_MS * LT_NS_PER_MS;
  return lt_workers_now() - since_ns >= patience_ns;
}

/* Only the loop wakes a parked program, so it stays parked meanwhile. */
static rest_state run_rests_look_at(lt_run *run, bool is_short) {
  rest_state state = REST_NOT_YET;
  bool has_moved = false;
  pthread_mutex_lock(&run->lock);
  if (run->opens.is_parked && run->box.is_resting) {
    state = run_rests_has_waited(run, LT_BOX_REST_MS * (uint64_t)LT_NS_PER_MS) ? REST_DONE : REST_NOT_YET;
  } else if (run->opens.is_parked && run->box.box != NULL && !run->box.never_rests) {
    state = run_rests_has_waited(run, run_rests_patience_ns(run, is_short)) ? REST_NOW : REST_NOT_YET;
  }
  if (state == REST_NOW) {
    run->opens.is_parked = false;
    run->box.should_rest = true;
    has_moved =
        lt_run_clock_update(run); /* while it stands the deadline may be in the past: the step would be stopped */
  }
  pthread_mutex_unlock(&run->lock);
  if (has_moved) {
    lt_run_clock_follow(run);
  }
  return state;
}

/* A step takes the program out of its box: lt_run_box_rest. */
static void run_rests_visit(lt_run_rests *rests, lt_run *run) {
  rest_state state = run_rests_look_at(run, lt_pool_is_short(run->box.pool));
  if (state == REST_NOW) {
    lt_run_box_resume(run);
  } else if (state == REST_DONE) {
    run_rests_unlink(rests, run);
    if (run->rest.fiber != NULL) {
      lt_fiber_stack_trim(run->rest.fiber);
    }
  }
}

static void run_rests_keep_ticking(lt_run_rests *rests) {
  if (!rests->is_ticking) {
    rests->is_ticking = true;
    lt_timer_start(rests->timer, LT_BOX_REST_TICK_MS);
  }
}

/* True: there are programs to be looked at again. */
static bool run_rests_visit_all(lt_run_rests *rests) {
  pthread_mutex_lock(&rests->lock);
  for (lt_run *run = rests->first, *next; run != NULL; run = next) {
    next = run->rest.next;
    run_rests_visit(rests, run);
  }
  bool goes_on = rests->first != NULL || rests->beginning > 0;
  pthread_mutex_unlock(&rests->lock);
  return goes_on;
}

static void on_rest_tick(void *arg) {
  lt_run_rests *rests = arg;
  rests->is_ticking = false;
  if (run_rests_visit_all(rests)) {
    run_rests_keep_ticking(rests);
  }
  rests->on_tick(rests->arg);
}

static void on_rest_hurry(void *arg) {
  lt_run_rests *rests = arg;
  atomic_store(&rests->is_hurrying, false);
  run_rests_visit_all(rests);
}

void lt_run_rests_hurry(lt_run_rests *rests) {
  if (!atomic_exchange(&rests->is_hurrying, true)) {
    lt_loop_post(rests->loop, &rests->hurry);
  }
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */
lt_status lt_run_rests_init(lt_run_rests *rests, lt_loop *loop, void (*on_tick)(void *arg), void *arg, lt_err *err) {
  *rests = (lt_run_rests){.loop = loop, .on_tick = on_tick, .arg = arg, .hurry = {.fn = on_rest_hurry, .arg = rests}};
  pthread_mutex_init(&rests->lock, NULL);
  return lt_timer_new_background(loop, on_rest_tick, rests, &rests->timer, err);
}

void lt_run_rests_release(lt_run_rests *rests) {
  LT_CHECK(rests->first == NULL);
  lt_timer_free(rests->timer);
  pthread_mutex_destroy(&rests->lock);
}

void lt_run_rests_add(lt_run *run, lt_run_rests *rests) {
  run->rest.is_beginning = true;
  run->rest.fiber = lt_fiber_current();
  pthread_mutex_lock(&rests->lock);
  rests->beginning++;
  pthread_mutex_unlock(&rests->lock);
  atomic_store(&run->rest.rests, rests);
  run_rests_keep_ticking(rests);
}

/* Under the lock. */
static void run_rests_end_beginning(lt_run_rests *rests, lt_run *run) {
  rests->beginning -= run->rest.is_beginning;
  run->rest.is_beginning = false;
}

void lt_run_rests_list(lt_run *run) {
  lt_run_rests *rests = run->rest.rests;
  if (rests != NULL) {
    pthread_mutex_lock(&rests->lock);
    run_rests_end_beginning(rests, run);
    run_rests_link(rests, run);
    pthread_mutex_unlock(&rests->lock);
  }
}

void lt_run_rests_remove(lt_run *run) {
  lt_run_rests *rests = run->rest.rests;
  run->rest.rests = NULL;
  if (rests != NULL) {
    pthread_mutex_lock(&rests->lock);
    run_rests_end_beginning(rests, run);
    if (run->rest.is_listed) {
      run_rests_unlink(rests, run);
    }
    pthread_mutex_unlock(&rests->lock);
  }
}

void lt_run_rests_wake(lt_run *run) {
  lt_run_rests *rests = run->rest.rests;
  if (rests == NULL) {
    return;
  }
  pthread_mutex_lock(&rests->lock);
  bool was_at_rest = !run->rest.is_listed && !run->rest.is_beginning;
  if (was_at_rest) {
    run_rests_link(rests, run);
  }
  pthread_mutex_unlock(&rests->lock);
  if (was_at_rest) {
    run_rests_keep_ticking(rests);
  }
}
