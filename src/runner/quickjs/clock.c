/* The run's clock: its deadline, and the time that does not count towards it (docs/internals/approvals.md). */
#include "runner/quickjs/program.h"

/* Whether nothing but somebody's approval keeps the program from going on. What is ready is nobody's work any more;
 * what queues because every place is taken by a call that asks cannot begin either. Under the lock. */
static bool only_asks(const lt_run *run) {
  uint32_t calls = run->open_count - run->ready_count - run->ticking_count;
  bool held_up = run->asking > 0 && (run->asking == calls || run->asking >= LT_RUN_OPEN_CALLS_MAX);
  bool for_call = run->waiting == LT_WAIT_ONE && !lt_run_is_timer(run->waiting_id);
  return run->parked && held_up && (run->ticking_count == 0 || for_call);
}

/* On the loop: whoever wants to know of the clock does. */
static void tell_standing(lt_run *run) {
  pthread_mutex_lock(&run->lock);
  bool stands = run->stands_since_ns != 0;
  pthread_mutex_unlock(&run->lock);
  if (stands != run->told_standing) {
    run->told_standing = stands;
    run->request->on_standing(run->request->arg, stands);
  }
}

static void on_standing_post(void *arg) {
  lt_run *run = arg;
  pthread_mutex_lock(&run->lock);
  run->standing_posted = false;
  pthread_mutex_unlock(&run->lock);
  tell_standing(run);
}

/* Before the run's end can be posted: the run is there until it has been told. */
static void post_standing(lt_run *run) {
  if (run->request->on_standing != NULL && !run->standing_posted) {
    run->standing_posted = true;
    run->standing_post = (lt_post){.fn = on_standing_post, .arg = run};
    lt_loop_post(run->loop, &run->standing_post);
  }
}

/* Over is over: a clock that has run out does not begin to stand. */
bool lt_run_set_clock(lt_run *run) {
  bool stand = only_asks(run);
  if (stand == (run->stands_since_ns != 0)) {
    return false;
  }
  uint64_t now = lt_workers_now();
  uint64_t deadline = atomic_load(&run->task.deadline_ns);
  if (stand) {
    run->stands_since_ns = now < deadline ? now : 0;
    post_standing(run);
    return false;
  }
  atomic_store(&run->task.deadline_ns, deadline + (now - run->stands_since_ns));
  run->stands_since_ns = 0;
  return true;
}

uint64_t lt_run_left_ms(lt_run *run) {
  pthread_mutex_lock(&run->lock);
  bool stands = run->stands_since_ns != 0;
  uint64_t deadline = atomic_load(&run->task.deadline_ns);
  pthread_mutex_unlock(&run->lock);
  uint64_t now = lt_workers_now();
  return stands ? UINT64_MAX : deadline > now ? (deadline - now) / 1000000 + 1 : 0;
}

static void start_timer(lt_run *run) {
  uint64_t left = lt_run_left_ms(run);
  if (left != UINT64_MAX) { /* it is started again when the clock goes on */
    lt_timer_start(run->deadline, left);
  }
}

/* The deadline may have moved since the timer was started. */
static void on_deadline(void *arg) {
  lt_run *run = arg;
  if (lt_run_left_ms(run) == 0) {
    lt_run_stop(run, LT_STOP_TIMEOUT);
  } else {
    start_timer(run);
  }
}

bool lt_run_watch_deadline(lt_run *run) {
  if (run->deadline == NULL && lt_timer_new(run->loop, on_deadline, run, &run->deadline, NULL) == LT_OK) {
    start_timer(run);
  }
  return run->deadline != NULL;
}

void lt_run_follow_clock(lt_run *run) {
  if (run->deadline != NULL) {
    start_timer(run);
  }
  if (run->told_standing) {
    tell_standing(run);
  }
  lt_wait_wake(&run->wait, LT_OK);
}

void lt_run_on_approval(void *arg, bool waiting) {
  lt_run_tool_call *call = arg;
  lt_run *run = call->open.run;
  bool waited = call->asking > 0;
  call->asking += waiting ? 1 : waited ? -1u : 0;
  if (waited == (call->asking > 0)) {
    return;
  }
  pthread_mutex_lock(&run->lock);
  run->asking += waiting ? 1 : -1u;
  bool moved = lt_run_set_clock(run);
  pthread_mutex_unlock(&run->lock);
  if (moved) {
    lt_run_follow_clock(run);
  }
}
