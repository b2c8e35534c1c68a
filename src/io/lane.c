#include "io/lane.h"

#include <errno.h>
#include <time.h>

#include "io/loop_impl.h"

/* --- Holding a loop ----------------------------------------------------------------------------------------------- */
static void lane_wait_for_turn(lt_loop *loop) {
  atomic_fetch_add(&loop->waiting, 1);
  pthread_mutex_lock(&loop->gate);
  pthread_mutex_lock(&loop->turn);
  pthread_mutex_unlock(&loop->gate);
  atomic_fetch_sub(&loop->waiting, 1);
}

void lt_loop_hold_for(lt_lane *lane) {
  lt_loop *loop = lane->loop;
  if (atomic_load(&loop->waiting) > 0 || pthread_mutex_trylock(&loop->turn) != 0) {
    lane_wait_for_turn(loop);
  }
  loop->holder = pthread_self();
  loop->turned = lane;
}

void lt_loop_let_go(lt_loop *loop) {
  pthread_mutex_unlock(&loop->turn);
}

void lt_lane_share(lt_loop *loop) {
  loop->is_shared = true;
  lt_loop_hold_for(&loop->home);
}

bool lt_lane_has_news(const lt_lane *lane) {
  return atomic_load_explicit(&lane->has_news, memory_order_relaxed) || lt_lane_is_due(lane);
}

void lt_lane_set_due(lt_lane *lane, int ms) {
  lane->due_ns = ms >= 0 ? uv_hrtime() + (uint64_t)ms * 1000000 : UINT64_MAX;
}

bool lt_lane_is_due(const lt_lane *lane) {
  return lane->due_ns != UINT64_MAX && uv_hrtime() >= lane->due_ns;
}

lt_lane *lt_lane_current(lt_loop *loop) {
  return loop->turned;
}

bool lt_lane_is_home(const lt_lane *lane) {
  return lane == &lane->loop->home || atomic_load(&lane->has_moved);
}

bool lt_lane_has_thread(const lt_lane *lane) {
  return !lt_lane_is_home(lane) && lane->on_wake == NULL;
}

/* The loop's own thread may sleep for longer than until the first timer of now, and does not know of descriptors that
 * are to be watched (libuv's own documentation: a timeout of 0 says so). If it is awake, it looks before it sleeps. */
static void lane_tell_home(lt_loop *loop) {
  if (!atomic_load(&loop->home.asleep)) {
    return;
  }
  int timeout_ms = uv_backend_timeout(&loop->uv);
  uint64_t wakes_at_ms = uv_now(&loop->uv) + (uint64_t)timeout_ms;
  if (timeout_ms >= 0 && wakes_at_ms < loop->sleeps_until_ms) {
    loop->look_at_ms = timeout_ms > 0 ? wakes_at_ms : 0;
    lt_lane_wake(&loop->home);
  }
}

void lt_lane_let_go(lt_loop *loop) {
  lane_tell_home(loop);
  lt_loop_let_go(loop);
}

void lt_lane_leave(lt_lane *lane) {
  lt_lane_let_go(lane->loop);
}

void lt_lane_enter(lt_lane *lane) {
  lt_loop_hold_for(lane);
  lane->loop->is_time_old = true; /* few ask for it */
}

/* --- A thread and its lane ---------------------------------------------------------------------------------------- */
void lt_lane_init(lt_lane *lane, lt_loop *loop) {
  *lane = (lt_lane){.loop = loop, .due_ns = UINT64_MAX};
  sem_init(&lane->wake, 0, 0);
}

void lt_lane_release(lt_lane *lane) {
  LT_CHECK(lane->fibers == 0 && !lt_loop_has_work(lane));
  sem_destroy(&lane->wake);
}

void lt_lane_open(lt_lane *lane, lt_loop *loop) {
  lt_lane_init(lane, loop);
  lt_lane_enter(lane);
}

void lt_lane_init_without_thread(lt_lane *lane, lt_loop *loop, void (*on_wake)(lt_lane *lane)) {
  lt_lane_init(lane, loop);
  lane->on_wake = on_wake;
}

void lt_lane_close(lt_lane *lane) {
  lt_lane_leave(lane);
  lt_lane_release(lane);
}

lt_status lt_lane_spawn(lt_lane *lane, lt_fiber_fn fn, void *arg, lt_err *err) {
  return lt_loop_spawn_on(lane, fn, arg, err);
}

void lt_lane_run_posts(lt_lane *lane) {
  lt_loop_run_posts(lane);
}

/* The lock is the thread's, not the fiber's, which may go on on another thread. */
static void lane_step_out(lt_lane *lane) {
  void (*fn)(void *arg) = lane->step_out;
  lane->step_out = NULL;
  lt_lane_leave(lane);
  fn(lane->step_out_arg);
  lt_lane_enter(lane);
  lt_loop_ready(lane->loop, lane->stepping);
}

bool lt_lane_turn(lt_lane *lane) {
  bool has_work = lt_loop_has_work(lane);
  atomic_store(&lane->has_news, false);
  (void)lt_loop_run_ready(lane); /* first: a fiber that comes from its step may carry out itself what that has posted */
  lt_loop_run_posts(lane);
  if (lane->step_out == NULL) {
    (void)lt_loop_run_ready(lane);
  }
  if (lane->step_out != NULL) {
    lane_step_out(lane);
  }
  return has_work;
}

bool lt_lane_has_work(const lt_lane *lane) {
  return lt_loop_has_work(lane);
}

static void lane_await_wake(lt_lane *lane) {
  while (sem_wait(&lane->wake) != 0 && errno == EINTR) {
  }
}

/* A signal that was handled makes the lane due: the host may want to look at it. */
static void lane_await_wake_or_due(lt_lane *lane) {
  const struct timespec until = {.tv_sec = (time_t)(lane->due_ns / 1000000000),
                                 .tv_nsec = (long)(lane->due_ns % 1000000000)};
  if (sem_clockwait(&lane->wake, CLOCK_MONOTONIC, &until) == 0) {
    return;
  }
  lane->due_ns = errno == EINTR ? 0 : lane->due_ns;
  if (!atomic_exchange(&lane->asleep, false)) { /* somebody is about to post to `wake` */
    lane_await_wake(lane);
  }
}

void lt_lane_sleep(lt_lane *lane) {
  atomic_store(&lane->asleep, true);
  if (lt_loop_has_work(lane) && atomic_exchange(&lane->asleep, false)) { /* else somebody is about to post to `wake` */
    return;
  }
  lt_lane_leave(lane);
  if (lane->due_ns == UINT64_MAX) {
    lane_await_wake(lane);
  } else {
    lane_await_wake_or_due(lane);
  }
  lt_lane_enter(lane);
}

/* Who posts to a lane that is about to move either sees that it has moved, or is seen here (lt_lane_post). */
void lt_lane_move_home(lt_lane *lane, void (*on_left)(lt_lane *lane)) {
  lt_loop *loop = lane->loop;
  LT_CHECK(lane->step_out == NULL);
  lane->on_left = on_left;
  atomic_store(&lane->has_moved, true);
  lt_loop_move_work_home(lane);
  if (lane->fibers == 0) {
    on_left(lane);
  }
  lt_lane_wake(&loop->home);
}

/* --- A fiber and its lane ----------------------------------------------------------------------------------------- */
void lt_lane_step_out(lt_lane *lane, void (*fn)(void *arg), void *arg) {
  lane->stepping = lt_loop_task_current();
  LT_CHECK(lane->stepping->lane == lane);
  lane->step_out_arg = arg;
  lane->step_out = fn;
  lt_fiber_yield();
}

/* The fiber is queued where it goes to, and whoever turns that lane resumes it. */
static void lane_move(lt_loop_task *task, lt_lane *lane) LT_YIELDS {
  task->lane = lane;
  lt_loop_ready(task->loop, task);
  lt_fiber_yield();
}

bool lt_lane_go_home(lt_loop *loop) {
  lt_loop_task *task = lt_loop_task_current();
  if (task->lane == &loop->home) {
    return false;
  }
  lane_move(task, &loop->home);
  return true;
}

void lt_lane_go_back(lt_loop *loop, bool has_gone) {
  lt_loop_task *task = lt_loop_task_current();
  if (has_gone) {
    LT_CHECK(task->loop == loop);
    lane_move(task, task->own_lane);
  }
}
