#include "io/loop.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <poll.h>

#include "base/mem.h"
#include "io/loop_impl.h"

#ifdef __SANITIZE_THREAD__
/* libuv closes the pipe that reports a child's start with a direct system call, which ThreadSanitizer does not see.
 * When another thread then gets the same descriptor number, it seems to race with uv_pipe: also when a thread of the
 * pool opens a file (base/file.c), or closes a folder that it has read (it sees closedir, but not opendir). libuv
 * closes a loop's own descriptors in that way, too: then others that get their numbers, in another loop's thread, seem
 * to race when they are opened or closed. Interceptors such as epoll_create1 and closedir cannot be named here: the
 * first frame that can is that of who calls them. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void); /* the run-time library asks */
const char *__tsan_default_suppressions(void) {
  return "race:^uv_pipe$\nrace:^file_write_new$\nrace:^lt_image_close$\nrace:^lt_embed_queue_release$\n"
         "race:^uv_async_init$\nrace:^lt_session_start$\n"
         "race:^mcp_list_cache_drop_old$\nrace:^process_memory_list$\nrace:^process_self_count_files$\n"
         "race:^removal_empty$\nrace:^removal_round$\nrace:^python_folder_move_all$\n";
}
#endif

/* As uv_available_parallelism(), which libuv has since 1.44 only. */
static bool loop_has_second_processor(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

/* Takes or releases the reference that keeps lt_loop_run from returning. */
static void loop_keep(lt_loop *loop) {
  uv_ref((uv_handle_t *)&loop->wake);
}

static void loop_unkeep(lt_loop *loop) {
  if (loop->fibers + loop->holds == 0) {
    uv_unref((uv_handle_t *)&loop->wake);
  }
}

/* --- The ready queue ---------------------------------------------------------------------------------------------- */

void lt_loop_ready(lt_loop *loop, lt_loop_task *task) {
  if (task->is_queued) {
    return;
  }
  if (atomic_load_explicit(&task->lane->has_moved, memory_order_relaxed)) { /* by who holds the loop, as this */
    task->lane = &loop->home;
  }
  lt_lane *lane = task->lane;
  task->is_queued = true;
  task->next = NULL;
  if (lane->ready_tail == NULL) {
    lane->ready_head = task;
  } else {
    lane->ready_tail->next = task;
  }
  lane->ready_tail = task;
  if (lane != loop->turned) {
    lt_lane_wake(lane);
  }
}

static lt_loop_task *loop_take_ready(lt_lane *lane) {
  lt_loop_task *task = lane->ready_head;
  if (task != NULL) {
    lane->ready_head = task->next;
    if (lane->ready_head == NULL) {
      lane->ready_tail = NULL;
    } else { /* with many fibers, the next one's stack is in no cache */
      lt_fiber_prefetch(&lane->ready_head->fiber);
    }
    task->is_queued = false;
  }
  return task;
}

static void loop_leave_lane(lt_lane *lane) {
  lane->fibers--;
  if (lane->fibers == 0 && atomic_load(&lane->has_moved)) {
    lane->on_left(lane);
  }
}

bool lt_loop_run_ready(lt_lane *lane) {
  lt_loop *loop = lane->loop;
  lt_loop_task *task = loop_take_ready(lane);
  if (task != NULL && !lt_fiber_resume(&task->fiber)) {
    loop_leave_lane(task->own_lane);
    lt_loop_task_give(task);
    loop->fibers--;
    loop_unkeep(loop);
  }
  return task != NULL;
}

/* --- Posts ---------------------------------------------------------------------------------------------------------
 * Any thread pushes to a list with one compare-and-swap; the lane takes the whole list and turns it round. Whether the
 * poster must also wake the lane is settled as in Dekker's algorithm, with sequentially consistent accesses: the poster
 * pushes and then looks at `asleep`, the lane sets `asleep` and then looks at the list. One of them sees the other. So
 * a post to a busy lane needs no system call, and a sleeping one gets one write for any number of posts.
 *
 * Adaptive: a loop that was woken by a post soon after it fell asleep looks at the list for LT_LOOP_SPIN_US before its
 * next sleeps (a sleep and a wake cost more, and the poster's system call too). LT_LOOP_SPIN_MISSES failed spins in a
 * row end that: an idle loop costs nothing. */

void lt_lane_wake(lt_lane *lane) {
  atomic_store_explicit(&lane->has_news, true, memory_order_release); /* after the post, if it is about one */
  if (lane->on_wake != NULL) {
    lane->on_wake(lane);
  } else if (atomic_load(&lane->asleep) && atomic_exchange(&lane->asleep, false)) {
    if (lane == &lane->loop->home) {
      uv_async_send(&lane->loop->wake);
    } else {
      sem_post(&lane->wake);
    }
  }
}

static void loop_push_post(lt_lane *lane, lt_post *post) {
  lt_post *head = atomic_load_explicit(&lane->posts, memory_order_relaxed);
  do {
    post->next = head;
  } while (!atomic_compare_exchange_weak(&lane->posts, &head, post));
  lt_lane_wake(lane);
}

/* All of them, the oldest first. */
static lt_post *loop_take_posts(lt_lane *lane) {
  lt_post *newest = atomic_exchange(&lane->posts, NULL);
  lt_post *oldest = NULL;
  while (newest != NULL) {
    lt_post *next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

static void loop_move_posts_home(lt_lane *lane) {
  for (lt_post *post = loop_take_posts(lane); post != NULL;) {
    lt_post *next = post->next;
    loop_push_post(&lane->loop->home, post);
    post = next;
  }
}

/* A worker posts to a lane that has moved only after it was told so, and the lane may be gone when it has posted.
 * Others may post while the lane moves; they see to it that the lane outlives their post (docs/internals/lanes.md). */
void lt_lane_post(lt_lane *lane, lt_post *post) {
  lt_loop *loop = lane->loop;
  if (lt_lane_is_home(lane)) {
    atomic_store_explicit(&loop->posted_cpu, sched_getcpu(), memory_order_relaxed);
    loop_push_post(&loop->home, post);
    return;
  }
  loop_push_post(lane, post);
  if (lt_lane_is_home(lane)) {
    loop_move_posts_home(lane);
  }
}

void lt_loop_post(lt_loop *loop, lt_post *post) {
  lt_lane_post(&loop->home, post);
}

void lt_loop_move_work_home(lt_lane *lane) {
  for (lt_loop_task *task; (task = loop_take_ready(lane)) != NULL;) {
    lt_loop_ready(lane->loop, task);
  }
  loop_move_posts_home(lane);
}

static bool loop_has_posts(const lt_lane *lane) {
  return atomic_load(&lane->posts) != NULL;
}

void lt_loop_run_posts(lt_lane *lane) {
  lt_post *oldest = loop_take_posts(lane);
  while (oldest != NULL) {
    lt_post *next = oldest->next; /* fn may free its node */
    oldest->fn(oldest->arg);
    oldest = next;
  }
}

bool lt_loop_has_work(const lt_lane *lane) {
  return lane->ready_head != NULL || loop_has_posts(lane);
}

static void loop_cpu_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Whether the poll would find an event. Files come first, because posts must not delay them. */
static bool loop_files_ready(lt_loop *loop) {
  struct pollfd fd = {.fd = uv_backend_fd(&loop->uv), .events = POLLIN};
  return poll(&fd, 1, 0) != 0;
}

bool lt_loop_is_quiet(lt_loop *loop) {
  return loop->fibers <= LT_LOOP_QUIET_FIBERS && !lt_loop_has_work(&loop->home) && !loop_files_ready(loop);
}

/* Whether the last poster is where this thread is, and cannot post while this thread spins: so it is on one CPU, and
 * on two of which a neighbour has one. */
static bool loop_is_in_the_way(lt_loop *loop) {
  return atomic_load_explicit(&loop->posted_cpu, memory_order_relaxed) == sched_getcpu();
}

static bool loop_spin_for_posts(lt_loop *loop) {
  if (loop->spins_left == 0 || loop_is_in_the_way(loop)) {
    return false;
  }
  uint64_t until_ns = uv_hrtime() + LT_LOOP_SPIN_US * 1000;
  do {
    for (int i = 0; i < 16; i++) {
      if (loop_has_posts(&loop->home)) {
        loop->spins_left = LT_LOOP_SPIN_MISSES;
        return true;
      }
      loop_cpu_relax();
    }
    if (loop_files_ready(loop)) {
      return false;
    }
  } while (uv_hrtime() < until_ns);
  loop->spins_left--;
  return false;
}

/* After a sleep, finds out whether spinning would have found a post. */
static void loop_learn(lt_loop *loop) {
  if (loop->may_spin && !loop_is_in_the_way(loop) && loop_has_posts(&loop->home) &&
      uv_hrtime() - loop->slept_ns < 2 * LT_LOOP_SPIN_US * 1000) {
    loop->spins_left = LT_LOOP_SPIN_MISSES;
  }
}

/* --- A turn of the loop ------------------------------------------------------------------------------------------- */

static void loop_do_nothing(uv_idle_t *idle) {
  (void)idle;
}

/* While there is work left, an active idle handle makes the poll return at once. */
static void loop_set_busy(lt_loop *loop) {
  if (lt_loop_has_work(&loop->home) || loop->step_out != NULL) {
    uv_idle_start(&loop->busy, loop_do_nothing); /* no effect when it has been started */
  } else {
    uv_idle_stop(&loop->busy);
  }
}

static void loop_work(lt_loop *loop) {
  lt_loop_run_posts(&loop->home);
  for (unsigned left = LT_LOOP_TURN_RESUMES; left > 0 && lt_loop_run_ready(&loop->home); left--) {
  }
  loop_set_busy(loop);
}

void lt_loop_on_sleep(lt_loop *loop, void (*fn)(void *arg, bool is_awake), void *arg) {
  LT_CHECK(fn == NULL || loop->on_sleep == NULL);
  loop->on_sleep = fn;
  loop->on_sleep_arg = arg;
}

static void loop_tell_sleep(lt_loop *loop, bool is_awake) {
  if (loop->on_sleep != NULL) {
    loop->on_sleep(loop->on_sleep_arg, is_awake);
  }
}

/* Says that a poster must write to `wake`. False: something has come meanwhile. */
static bool loop_fall_asleep(lt_loop *loop) {
  loop->slept_ns = uv_hrtime();
  atomic_store(&loop->home.asleep, true);
  if (lt_loop_has_work(&loop->home)) { /* must come after the store to `asleep`: see lt_lane_post */
    atomic_store(&loop->home.asleep, false);
    return false;
  }
  loop_tell_sleep(loop, false); /* also when a timer is due: libuv does not say so for certain */
  return true;
}

static void loop_wake_up(lt_loop *loop) {
  loop_tell_sleep(loop, true);
  if (atomic_exchange(&loop->home.asleep, false) == false) {
    loop_learn(loop); /* a post woke the loop, or the loop did not sleep */
  }
}

static void loop_before_poll(uv_prepare_t *handle) {
  lt_loop *loop = handle->data;
  loop_work(loop);
  if (loop->is_shared) {
    return;
  }
  if (!lt_loop_has_work(&loop->home) && uv_backend_timeout(&loop->uv) != 0) {
    if (loop_spin_for_posts(loop)) {
      loop_work(loop);
      /* A thread that has posted often posts again soon: look at the files, then at the posts. */
      uv_idle_start(&loop->busy, loop_do_nothing);
      return;
    }
  }
  if (!loop_fall_asleep(loop)) {
    loop_set_busy(loop);
  }
}

static void loop_after_poll(uv_check_t *handle) {
  lt_loop *loop = handle->data;
  if (!loop->is_shared) {
    loop_wake_up(loop);
  }
  loop_work(loop);
}

static void loop_on_wake(uv_async_t *handle) {
  (void)handle; /* its work is done in after_poll */
}

/* --- Turning it --------------------------------------------------------------------------------------------------- */

/* How long nothing happens unless somebody posts; 0: there is work. */
static int loop_idle_ms(lt_loop *loop) {
  return lt_loop_has_work(&loop->home) ? 0 : uv_backend_timeout(&loop->uv);
}

/* Looks for posts for a moment, while others may hold the loop. */
static void loop_spin_apart(lt_loop *loop) {
  lt_loop_let_go(loop);
  (void)loop_spin_for_posts(loop);
  lt_loop_hold_for(&loop->home);
}

/* When the loop's thread must look again: at the first timer, or at one that a lane had and may have stopped since. */
static uint64_t loop_next_look(lt_loop *loop, int timeout_ms) {
  uint64_t now = uv_now(&loop->uv), timer = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms;
  if (loop->look_at_ms <= now) {
    loop->look_at_ms = 0;
  }
  return loop->look_at_ms != 0 && loop->look_at_ms < timer ? loop->look_at_ms : timer;
}

static int loop_poll_ms(const lt_loop *loop) {
  uint64_t left = loop->sleeps_until_ms - uv_now(&loop->uv);
  return loop->sleeps_until_ms == UINT64_MAX || left > INT_MAX ? -1 : (int)left;
}

/* Lets go of the loop and sleeps. Another thread that starts an earlier timer meanwhile wakes this one
 * (lt_lane_leave). */
static void loop_sleep_apart(lt_loop *loop) {
  int timeout_ms = loop_idle_ms(loop);
  if (timeout_ms != 0 && loop_fall_asleep(loop)) {
    struct pollfd fd = {.fd = uv_backend_fd(&loop->uv), .events = POLLIN};
    loop->sleeps_until_ms = loop_next_look(loop, timeout_ms);
    timeout_ms = loop_poll_ms(loop);
    lt_loop_let_go(loop);
    (void)poll(&fd, 1, timeout_ms);
    lt_loop_hold_for(&loop->home);
    loop_wake_up(loop);
  } else {
    lt_loop_let_go(loop);
    lt_loop_hold_for(&loop->home);
  }
}

static void loop_run_shared(lt_loop *loop) {
  do {
    loop_work(loop);
    while (uv_run(&loop->uv, UV_RUN_NOWAIT) != 0) {
      if (loop->spins_left > 0 && loop_idle_ms(loop) != 0) {
        loop_spin_apart(loop);
      }
      loop_sleep_apart(loop);
    }
  } while (lt_loop_has_work(&loop->home));
}

/* Posts do not keep libuv's loop alive, but they are carried out. */
bool lt_loop_turn(lt_loop *loop) {
  bool is_kept = uv_run(&loop->uv, UV_RUN_ONCE) != 0;
  return is_kept || lt_loop_has_work(&loop->home) || loop->step_out != NULL;
}

/* `turn` is held, but for what lt_loop_step_out was given. */
static void loop_run_alone(lt_loop *loop) {
  pthread_mutex_lock(&loop->turn);
  loop->runs_steps = true;
  do {
    loop_work(loop);
    for (unsigned left = LT_LOOP_TURN_STEPS; left > 0 && lt_loop_run_step_out(loop); left--) {
      loop_work(loop);
    }
  } while (lt_loop_turn(loop));
  loop->runs_steps = false;
  pthread_mutex_unlock(&loop->turn);
}

void lt_loop_run(lt_loop *loop) {
  if (loop->is_shared) {
    loop_run_shared(loop);
  } else {
    loop_run_alone(loop);
  }
}

uint64_t lt_loop_now_ms(lt_loop *loop) {
  if (loop->is_time_old) {
    uv_update_time(&loop->uv);
    loop->is_time_old = false;
  }
  return uv_now(&loop->uv);
}

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

void lt_loop_hold(lt_loop *loop) {
  loop->holds++;
  loop_keep(loop);
}

void lt_loop_unhold(lt_loop *loop) {
  LT_CHECK(loop->holds > 0);
  loop->holds--;
  loop_unkeep(loop);
}

lt_status lt_loop_spawn_on(lt_lane *lane, lt_fiber_fn fn, void *arg, lt_err *err) {
  lt_loop *loop = lane->loop;
  LT_CHECK(pthread_equal(loop->holder, pthread_self()));
  if (loop->fibers >= LT_LOOP_FIBERS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "more than %d things are going on at once: try again when some have ended",
                   LT_LOOP_FIBERS_MAX);
  }
  lt_loop_task *task = lt_loop_task_take(loop, fn, arg, err);
  if (task == NULL) {
    return LT_E_NOMEM;
  }
  task->lane = task->own_lane = lane;
  lane->fibers++;
  loop->fibers++;
  loop_keep(loop);
  lt_loop_ready(loop, task);
  return LT_OK;
}

lt_status lt_loop_spawn(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err) {
  return lt_loop_spawn_on(&loop->home, fn, arg, err);
}

/* These handles do not keep the loop alive. */
static void loop_open_handles(lt_loop *loop) {
  uv_idle_init(&loop->uv, &loop->busy);
  uv_prepare_init(&loop->uv, &loop->before_poll);
  uv_check_init(&loop->uv, &loop->after_poll);
  loop->before_poll.data = loop;
  loop->after_poll.data = loop;
  uv_prepare_start(&loop->before_poll, loop_before_poll);
  uv_check_start(&loop->after_poll, loop_after_poll);
  uv_unref((uv_handle_t *)&loop->wake);
  uv_unref((uv_handle_t *)&loop->before_poll);
  uv_unref((uv_handle_t *)&loop->after_poll);
  lt_loop_task_open_spares(loop);
}

/* The process may be somebody else's, and so is its handler. */
static void loop_block_pipe_signal(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
}

lt_status lt_loop_new(lt_loop **ret_loop, lt_err *err) {
  lt_loop *loop = lt_mem_zalloc(1, sizeof *loop);
  if (loop == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the event loop");
  }
  int rc = uv_loop_init(&loop->uv);
  if (rc != 0) {
    lt_mem_free(loop);
    return lt_fail(err, lt_loop_status(rc), "cannot open the event loop: %s", uv_strerror(rc));
  }
  rc = uv_async_init(&loop->uv, &loop->wake, loop_on_wake);
  if (rc != 0) {
    uv_loop_close(&loop->uv);
    lt_mem_free(loop);
    return lt_fail(err, lt_loop_status(rc), "cannot open the event loop's wake-up: %s", uv_strerror(rc));
  }
  loop_open_handles(loop);
  pthread_mutex_init(&loop->gate, NULL);
  pthread_mutex_init(&loop->turn, NULL);
  sem_init(&loop->stand_in_wake, 0, 0);
  loop->holder = loop->own_thread = pthread_self();
  loop->home.loop = loop;
  loop->turned = &loop->home;
  loop->may_spin = loop_has_second_processor();
  loop_block_pipe_signal();
  *ret_loop = loop;
  return LT_OK;
}

void lt_loop_free(lt_loop *loop) {
  if (loop == NULL) {
    return;
  }
  LT_CHECK(loop->fibers == 0 && loop->holds == 0 && loop->objects == 0 && !loop_has_posts(&loop->home));
  LT_CHECK(loop->step_out == NULL);
  lt_loop_end_stand_in(loop);
  if (loop->is_shared) {
    lt_loop_let_go(loop);
  }
  lt_loop_task_close_spares(loop);
  lt_loop_close_spare_timers(loop);
  lt_loop_close_signals(loop);
  uv_close((uv_handle_t *)&loop->wake, NULL);
  uv_close((uv_handle_t *)&loop->busy, NULL);
  uv_close((uv_handle_t *)&loop->before_poll, NULL);
  uv_close((uv_handle_t *)&loop->after_poll, NULL);
  uv_run(&loop->uv, UV_RUN_DEFAULT);
  LT_CHECK(uv_loop_close(&loop->uv) == 0);
  pthread_mutex_destroy(&loop->turn);
  pthread_mutex_destroy(&loop->gate);
  sem_destroy(&loop->stand_in_wake);
  lt_mem_free(loop);
}
