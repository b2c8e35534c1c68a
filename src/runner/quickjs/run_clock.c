#include "runner/quickjs/run_clock.h"

#include "runner/quickjs/run.h"

/* Whether the program only waits for an approval. A ready call does not count as waiting. A queued call does not count
 * when calls that wait for approval use all places, because it cannot begin. Under the lock. */
static bool clock_only_asks(const lt_run *run) {
  const lt_run_opens *opens = &run->opens;
  uint32_t asking = run->clock.asking;
  uint32_t calls = opens->open_count - opens->ready_count - opens->ticking_count;
  bool is_held_up = asking > 0 && (asking == calls || asking >= LT_RUN_OPEN_CALLS_MAX);
  bool is_for_call = opens->waiting == LT_WAIT_ONE && !lt_run_opens_is_timer(opens->waiting_id);
  return opens->is_parked && is_held_up && (opens->ticking_count == 0 || is_for_call);
}

/* On the loop: on_standing is called when the clock has changed since the last call. */
static void clock_report(lt_run *run) {
  bool stands = run->clock.stands_since_ns != 0;
  if (stands != run->clock.is_reported_standing) {
    run->clock.is_reported_standing = stands;
    run->request->on_standing(run->request->arg, stands);
  }
}

static void on_standing_post(void *arg) {
  lt_run *run = arg;
  pthread_mutex_lock(&run->lock);
  run->clock.is_posted = false;
  pthread_mutex_unlock(&run->lock);
  clock_report(run);
}

/* Posted before the run's end, so the run still exists when the report arrives. Under the lock. */
static void clock_post(lt_run *run) {
  if (run->request->on_standing != NULL && !run->clock.is_posted) {
    run->clock.is_posted = true;
    run->clock.standing_post = (lt_post){.fn = on_standing_post, .arg = run};
    lt_lane_post(run->lane, &run->clock.standing_post);
  }
}

/* A clock that has run out does not stop. */
bool lt_run_clock_update(lt_run *run) {
  bool stands = clock_only_asks(run);
  if (stands == (run->clock.stands_since_ns != 0)) {
    return false;
  }
  uint64_t now = lt_workers_now();
  uint64_t deadline = atomic_load(&run->task.deadline_ns);
  if (stands) {
    run->clock.stands_since_ns = now < deadline ? now : 0;
    clock_post(run);
    return false;
  }
  atomic_store(&run->task.deadline_ns, deadline + (now - run->clock.stands_since_ns));
  run->clock.stands_since_ns = 0;
  return true;
}

uint64_t lt_run_clock_left_ms(lt_run *run) {
  bool stands = run->clock.stands_since_ns != 0;
  uint64_t deadline = atomic_load(&run->task.deadline_ns), now = lt_workers_now();
  return stands ? UINT64_MAX : deadline > now ? (deadline - now) / 1000000 + 1 : 0;
}

static void clock_start_timer(lt_run *run) {
  uint64_t left = lt_run_clock_left_ms(run);
  if (left != UINT64_MAX) { /* the timer is started again when the clock continues */
    lt_timer_start(run->clock.deadline, left);
  }
}

/* The deadline may have moved since the timer was started. */
static void on_deadline_timer(void *arg) {
  lt_run *run = arg;
  if (lt_run_clock_left_ms(run) == 0) {
    run->clock.on_deadline(run);
  } else {
    clock_start_timer(run);
  }
}

bool lt_run_clock_watch(lt_run *run, void (*on_deadline)(lt_run *run)) {
  lt_timer **timer = &run->clock.deadline;
  run->clock.on_deadline = on_deadline;
  if (*timer == NULL && lt_timer_new(run->loop, on_deadline_timer, run, timer, NULL) == LT_OK) {
    clock_start_timer(run);
  }
  return *timer != NULL;
}

void lt_run_clock_unwatch(lt_run *run) {
  lt_timer_free(run->clock.deadline);
  run->clock.deadline = NULL;
}

void lt_run_clock_follow(lt_run *run) {
  if (run->clock.deadline != NULL) {
    clock_start_timer(run);
  }
  if (run->clock.is_reported_standing) {
    clock_report(run);
  }
  lt_wait_wake(&run->wait, LT_OK);
}

void lt_run_clock_ask(lt_run *run, bool waits) {
  pthread_mutex_lock(&run->lock);
  run->clock.asking += waits ? 1 : -1u;
  bool has_moved = lt_run_clock_update(run);
  pthread_mutex_unlock(&run->lock);
  if (has_moved) {
    lt_run_clock_follow(run);
  }
}
