/* Work of the loop's own thread that may take long, and the thread that turns the loop when it does. */
#include "io/loop_impl.h"

/* While the loop's own thread is out, it does not hold the loop, so it does not look at `step_out`. */
bool lt_loop_step_out(lt_loop *loop, void (*fn)(void *arg), void *arg) {
  if (!pthread_equal(loop->own_thread, pthread_self()) || !loop->runs_steps || atomic_load(&loop->is_out) ||
      loop->step_out != NULL) {
    return false;
  }
  loop->step_out = fn;
  loop->step_out_arg = arg;
  return true;
}

/* Who stands in may sleep in the poll. */
static void loop_step_in(lt_loop *loop) {
  atomic_store(&loop->is_out, false);
  if (pthread_mutex_trylock(&loop->turn) != 0) {
    uv_async_send(&loop->wake);
    pthread_mutex_lock(&loop->turn);
  }
  loop->holder = loop->own_thread;
  uv_update_time(&loop->uv);
}

bool lt_loop_run_step_out(lt_loop *loop) {
  void (*fn)(void *arg) = loop->step_out;
  if (fn == NULL) {
    return false;
  }
  loop->step_out = NULL;
  atomic_store(&loop->is_out, true);
  pthread_mutex_unlock(&loop->turn);
  fn(loop->step_out_arg);
  loop_step_in(loop);
  return true;
}

/* --- The thread that stands in ------------------------------------------------------------------------------------ */
/* The thread lives as long as the loop: the processes that it starts end with it (PR_SET_PDEATHSIG). */
static void *loop_stand_in_thread(void *arg);

static bool loop_has_stand_in(lt_loop *loop) {
  if (!loop->has_stand_in) {
    loop->has_stand_in = pthread_create(&loop->stand_in, NULL, loop_stand_in_thread, loop) == 0;
  }
  return loop->has_stand_in;
}

static uint64_t loop_watched_for_ms(lt_loop *loop) {
  return (uv_hrtime() - atomic_load(&loop->watched_ns)) / 1000000;
}

/* Somebody has called it in, or what it watches takes long. */
static bool loop_is_late(lt_loop *loop) {
  return atomic_exchange(&loop->is_called_in, false) ||
         (atomic_load(&loop->is_watched) && loop_watched_for_ms(loop) >= LT_WORKER_LATE_MS);
}

static void loop_sleep_for_tick(lt_loop *loop) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += LT_WATCHDOG_TICK_MS * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  (void)sem_clockwait(&loop->stand_in_wake, CLOCK_MONOTONIC, &until);
}

/* A tick, while there was something to be watched lately. Who begins something looks at `watch_asleep` after it has set
 * `is_watched`, and this thread does the reverse. */
static void loop_stand_in_wait(lt_loop *loop) {
  if (loop_watched_for_ms(loop) < LT_LOOP_WATCH_MS) {
    loop_sleep_for_tick(loop);
    return;
  }
  atomic_store(&loop->watch_asleep, true);
  if (!atomic_load(&loop->is_watched)) {
    (void)sem_wait(&loop->stand_in_wake);
  }
  atomic_store(&loop->watch_asleep, false);
}

static void loop_stand_in_turn(lt_loop *loop) {
  loop->holder = pthread_self();
  atomic_store(&loop->is_stood_in, true);
  while (atomic_load(&loop->is_out) && lt_loop_turn(loop)) {
  }
  atomic_store(&loop->is_stood_in, false);
}

/* A call that comes too late finds the loop held, or turns it until its own thread is back. */
static void *loop_stand_in_thread(void *arg) {
  lt_loop *loop = arg;
  while (!atomic_load(&loop->ends_stand_in)) {
    loop_stand_in_wait(loop);
    if (loop_is_late(loop) && pthread_mutex_trylock(&loop->turn) == 0) {
      loop_stand_in_turn(loop);
      pthread_mutex_unlock(&loop->turn);
    }
  }
  return NULL;
}

void lt_loop_stand_in(lt_loop *loop) {
  if (loop_has_stand_in(loop) && !atomic_load(&loop->is_stood_in)) {
    atomic_store(&loop->is_called_in, true);
    sem_post(&loop->stand_in_wake);
  }
}

/* --- Work that a fiber waits for ---------------------------------------------------------------------------------- */
typedef struct awaited_work {
  lt_loop *loop;
  void (*fn)(void *arg);
  void *arg;
  lt_wait wait;
  lt_post done;
} awaited_work;

static void loop_on_awaited_done(void *arg) {
  awaited_work *work = arg;
  lt_wait_wake(&work->wait, LT_OK);
}

/* The post is the last access to the work: whoever stands in may end its fiber. */
static void loop_do_awaited(void *arg) {
  awaited_work *work = arg;
  lt_loop *loop = work->loop;
  atomic_store(&loop->watched_ns, uv_hrtime());
  atomic_store(&loop->is_watched, true);
  if (atomic_exchange(&loop->watch_asleep, false)) {
    sem_post(&loop->stand_in_wake);
  }
  work->fn(work->arg);
  atomic_store(&loop->is_watched, false);
  lt_loop_post(loop, &work->done);
}

bool lt_loop_step_out_and_wait(lt_loop *loop, void (*fn)(void *arg), void *arg) {
  awaited_work work = {.loop = loop, .fn = fn, .arg = arg, .done = {.fn = loop_on_awaited_done}};
  work.done.arg = &work;
  lt_wait_init(&work.wait, loop);
  bool is_own = pthread_equal(loop->own_thread, pthread_self()) && !loop->is_shared && loop_has_stand_in(loop);
  if (!is_own || !lt_loop_step_out(loop, loop_do_awaited, &work)) {
    return false;
  }
  (void)lt_wait_on(&work.wait, UINT64_MAX);
  return true;
}

void lt_loop_end_stand_in(lt_loop *loop) {
  if (loop->has_stand_in) {
    atomic_store(&loop->ends_stand_in, true);
    sem_post(&loop->stand_in_wake);
    pthread_join(loop->stand_in, NULL);
  }
}
