#include "io/loop.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <poll.h>

#include "base/mem.h"
#include "io/loop_impl.h"

#ifdef __SANITIZE_THREAD__
/* libuv closes the pipe that reports a child's start with a direct system call, which ThreadSanitizer does not see.
 * When another thread then gets the same descriptor number, it seems to race with uv_pipe: also when a thread of the
 * pool opens a file (base/file.c). It closes a loop's own descriptors in that way, too: then others that get their
 * numbers, in another loop's thread, seem to race when they are closed. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void); /* the run-time library asks */
const char *__tsan_default_suppressions(void) {
  return "race:^uv_pipe$\nrace:^file_write_new$\nrace:^lt_image_close$\nrace:^lt_embed_queue_release$\n";
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
  task->is_queued = true;
  task->next = NULL;
  if (loop->ready_tail == NULL) {
    loop->ready_head = task;
  } else {
    loop->ready_tail->next = task;
  }
  loop->ready_tail = task;
}

static lt_loop_task *loop_take_ready(lt_loop *loop) {
  lt_loop_task *task = loop->ready_head;
  if (task != NULL) {
    loop->ready_head = task->next;
    if (loop->ready_head == NULL) {
      loop->ready_tail = NULL;
    }
    task->is_queued = false;
  }
  return task;
}

static void loop_run_ready(lt_loop *loop) {
  for (unsigned left = LT_LOOP_TURN_RESUMES; left > 0; left--) {
    lt_loop_task *task = loop_take_ready(loop);
    if (task == NULL) {
      return;
    }
    if (!lt_fiber_resume(&task->fiber)) {
      lt_loop_task_give(task);
      loop->fibers--;
      loop_unkeep(loop);
    }
  }
}

/* --- Posts ---------------------------------------------------------------------------------------------------------
 * Any thread pushes to a list with one compare-and-swap; the loop takes the whole list and turns it round. Whether the
 * poster must also wake the loop is settled as in Dekker's algorithm, with sequentially consistent accesses: the poster
 * pushes and then looks at `asleep`, the loop sets `asleep` and then looks at the list. One of them sees the other. So
 * a post to a busy loop needs no system call, and a sleeping loop gets one write for any number of posts.
 *
 * Adaptive: a loop that was woken by a post soon after it fell asleep looks at the list for LT_LOOP_SPIN_US before its
 * next sleeps (a sleep and a wake cost more, and the poster's system call too). LT_LOOP_SPIN_MISSES failed spins in a
 * row end that: an idle loop costs nothing. */

void lt_loop_post(lt_loop *loop, lt_post *post) {
  lt_post *head = atomic_load_explicit(&loop->posts, memory_order_relaxed);
  do {
    post->next = head;
  } while (!atomic_compare_exchange_weak(&loop->posts, &head, post));
  if (atomic_load(&loop->asleep) && atomic_exchange(&loop->asleep, false)) {
    uv_async_send(&loop->wake);
  }
}

static bool loop_has_posts(lt_loop *loop) {
  return atomic_load(&loop->posts) != NULL;
}

static void loop_run_posts(lt_loop *loop) {
  lt_post *newest = atomic_exchange(&loop->posts, NULL);
  lt_post *oldest = NULL;
  while (newest != NULL) {
    lt_post *next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != NULL) {
    lt_post *next = oldest->next; /* fn may free its node */
    oldest->fn(oldest->arg);
    oldest = next;
  }
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

static bool loop_spin_for_posts(lt_loop *loop) {
  if (loop->spins_left == 0) {
    return false;
  }
  uint64_t until_ns = uv_hrtime() + LT_LOOP_SPIN_US * 1000;
  do {
    for (int i = 0; i < 16; i++) {
      if (loop_has_posts(loop)) {
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
  if (loop->may_spin && loop_has_posts(loop) && uv_hrtime() - loop->slept_ns < 2 * LT_LOOP_SPIN_US * 1000) {
    loop->spins_left = LT_LOOP_SPIN_MISSES;
  }
}

/* --- A turn of the loop ------------------------------------------------------------------------------------------- */

static bool loop_has_work(lt_loop *loop) {
  return loop->ready_head != NULL || loop_has_posts(loop);
}

static void loop_do_nothing(uv_idle_t *idle) {
  (void)idle;
}

/* While there is work left, an active idle handle makes the poll return at once. */
static void loop_set_busy(lt_loop *loop) {
  if (loop_has_work(loop)) {
    uv_idle_start(&loop->busy, loop_do_nothing); /* no effect when it has been started */
  } else {
    uv_idle_stop(&loop->busy);
  }
}

static void loop_work(lt_loop *loop) {
  loop_run_posts(loop);
  loop_run_ready(loop);
  loop_set_busy(loop);
}

static void loop_before_poll(uv_prepare_t *handle) {
  lt_loop *loop = handle->data;
  loop_work(loop);
  if (!loop_has_work(loop) && uv_backend_timeout(&loop->uv) != 0) {
    if (loop_spin_for_posts(loop)) {
      loop_work(loop);
      /* A thread that has posted often posts again soon: look at the files, then at the posts. */
      uv_idle_start(&loop->busy, loop_do_nothing);
      return;
    }
  }
  loop->slept_ns = uv_hrtime();
  atomic_store(&loop->asleep, true);
  if (loop_has_work(loop)) { /* must come after the store to `asleep`: see lt_loop_post */
    atomic_store(&loop->asleep, false);
    loop_set_busy(loop);
  }
}

static void loop_after_poll(uv_check_t *handle) {
  lt_loop *loop = handle->data;
  if (atomic_exchange(&loop->asleep, false) == false) {
    loop_learn(loop); /* a post woke the loop, or the loop did not sleep */
  }
  loop_work(loop);
}

static void loop_on_wake(uv_async_t *handle) {
  (void)handle; /* its work is done in after_poll */
}

void lt_loop_run(lt_loop *loop) {
  do {
    loop_work(loop);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
  } while (loop_has_work(loop)); /* posts do not keep libuv's loop alive, but they are carried out */
}

uint64_t lt_loop_now_ms(lt_loop *loop) {
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

lt_status lt_loop_spawn(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err) {
  LT_CHECK(pthread_equal(loop->thread, pthread_self()));
  if (loop->fibers >= LT_LOOP_FIBERS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "more than %d things are going on at once", LT_LOOP_FIBERS_MAX);
  }
  lt_loop_task *task = lt_loop_task_take(loop, fn, arg, err);
  if (task == NULL) {
    return LT_E_NOMEM;
  }
  loop->fibers++;
  loop_keep(loop);
  lt_loop_ready(loop, task);
  return LT_OK;
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
  loop->thread = pthread_self();
  loop->may_spin = loop_has_second_processor();
  loop_block_pipe_signal();
  *ret_loop = loop;
  return LT_OK;
}

void lt_loop_free(lt_loop *loop) {
  if (loop == NULL) {
    return;
  }
  LT_CHECK(loop->fibers == 0 && loop->holds == 0 && loop->objects == 0 && !loop_has_posts(loop));
  lt_loop_task_close_spares(loop);
  lt_loop_close_signals(loop);
  uv_close((uv_handle_t *)&loop->wake, NULL);
  uv_close((uv_handle_t *)&loop->busy, NULL);
  uv_close((uv_handle_t *)&loop->before_poll, NULL);
  uv_close((uv_handle_t *)&loop->after_poll, NULL);
  uv_run(&loop->uv, UV_RUN_DEFAULT);
  LT_CHECK(uv_loop_close(&loop->uv) == 0);
  lt_mem_free(loop);
}
