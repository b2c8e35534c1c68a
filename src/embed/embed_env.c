#include "embed/embed_env.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_agent.h"
#include "embed/embed_error.h"
#include "embed/embed_helper.h"
#include "embed/embed_tools.h"
#include "embed/embed_turn.h"

/* --- Forks -------------------------------------------------------------------------------------------------------- */
static _Atomic unsigned embed_env_forks; /* between the first process and this one */

static void embed_env_on_fork(void) {
  atomic_fetch_add(&embed_env_forks, 1);
}

static void embed_env_watch_forks(void) {
  (void)pthread_atfork(NULL, NULL, embed_env_on_fork);
}

/* The lock may be held for ever in a child: a thread that has not come along may have had it. So this looks first. It
 * is asked at every call: getpid would be a system call. */
static bool embed_env_is_foreign(const lathe_env *env) {
  return env->forks != atomic_load_explicit(&embed_env_forks, memory_order_relaxed);
}

/* --- Coming in and going ------------------------------------------------------------------------------------------ */
#define USERS_CLOSING 0x80000000u /* in lathe_env.users: the last one to leave tells lathe_close */

static void embed_env_step_out(lathe_env *env) {
  if (atomic_fetch_sub(&env->users, 1) == (USERS_CLOSING | 1)) {
    pthread_mutex_lock(&env->lock);
    env->is_empty = true;
    pthread_cond_broadcast(&env->changed);
    pthread_mutex_unlock(&env->lock);
  }
}

lathe_status lt_embed_env_enter(lathe_env *env, lathe_error *error) {
  if (env == NULL) {
    return lt_embed_error_put(LATHE_E_INVALID, "the environment is NULL", error);
  }
  if (embed_env_is_foreign(env)) {
    return lt_embed_error_put(
        LATHE_E_FORKED, "the environment belongs to the parent process: open one in this process, after fork", error);
  }
  if ((atomic_fetch_add(&env->users, 1) & USERS_CLOSING) != 0) {
    embed_env_step_out(env);
    return lt_embed_error_put(LATHE_E_CLOSED, "the environment is being closed", error);
  }
  return LATHE_OK;
}

lathe_status lt_embed_env_leave(lathe_env *env, lt_status status, const lt_err *err, lathe_error *error) {
  embed_env_step_out(env);
  return lt_embed_error_tell(status, err, error);
}

/* --- Work for the loop -------------------------------------------------------------------------------------------- */
typedef struct embed_request {
  lathe_env *env;
  lt_post post;
  lt_embed_work_fn *work;
  void *arg;
  lt_status status;
  lt_err err;
  bool is_done; /* under the lock */
} embed_request;

/* The last access to the request, which is in the frame of the thread that waits. */
static void embed_request_end(embed_request *request, lt_status status) {
  lathe_env *env = request->env;
  pthread_mutex_lock(&env->lock);
  request->status = status;
  request->is_done = true;
  pthread_cond_broadcast(&env->changed);
  pthread_mutex_unlock(&env->lock);
}

static void embed_request_on_fiber(void *arg) {
  embed_request *request = arg;
  embed_request_end(request, request->work(request->env, request->arg, &request->err));
}

static void embed_request_on_post(void *arg) {
  embed_request *request = arg;
  lt_status status = lt_loop_spawn(request->env->session.loop, embed_request_on_fiber, request, &request->err);
  if (status != LT_OK) {
    embed_request_end(request, status);
  }
}

lt_status lt_embed_env_do(lathe_env *env, lt_embed_work_fn *work, void *arg, lt_err *err) {
  embed_request request = {.env = env, .work = work, .arg = arg, .err = LT_ERR_INIT};
  request.post = (lt_post){.fn = embed_request_on_post, .arg = &request};
  lt_loop_post(env->session.loop, &request.post);
  pthread_mutex_lock(&env->lock);
  while (!request.is_done) {
    pthread_cond_wait(&env->changed, &env->lock);
  }
  pthread_mutex_unlock(&env->lock);
  if (request.status != LT_OK) {
    (void)lt_err_copy(err, &request.err);
  }
  return request.status;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */
/* While each turn of the loop brings more events, the host may wait for them for a moment. It is not woken under the
 * lock, which it takes first. */
static void embed_env_on_tell(void *arg) {
  lathe_env *env = arg;
  pthread_mutex_lock(&env->lock);
  bool may_wait = env->untold > 0 && lt_clock_monotonic_us() - env->untold_since_us < LT_EMBED_TELL_US;
  env->untold = 0;
  env->is_telling = may_wait;
  if (may_wait) {
    lt_loop_post(env->session.loop, &env->tell_post);
  } else {
    lt_embed_queue_tell(&env->queue);
  }
  pthread_mutex_unlock(&env->lock);
  if (!may_wait) {
    lt_embed_queue_wake(&env->queue);
  }
}

void lt_embed_env_put(lathe_env *env, lt_embed_queue *queue, lt_embed_event *event, bool is_turned_at_home) {
  if (!is_turned_at_home || queue != &env->queue) {
    lt_embed_queue_put(queue, event);
    return;
  }
  lt_embed_queue_add(queue, event);
  if (env->is_telling) {
    env->untold++;
  } else {
    env->is_telling = true;
    env->untold_since_us = lt_clock_monotonic_us();
    env->tell_post = (lt_post){.fn = embed_env_on_tell, .arg = env};
    lt_loop_post(env->session.loop, &env->tell_post);
  }
}

bool lt_embed_env_say(lathe_env *env, lt_embed_queue *queue, lt_embed_event *event) {
  if (event == NULL) {
    return false;
  }
  pthread_mutex_lock(&env->lock);
  bool has_room = lt_embed_queue_has_room(queue);
  if (has_room) {
    lt_embed_queue_put(queue, event);
  }
  pthread_mutex_unlock(&env->lock);
  if (!has_room) {
    lathe_event_free(&event->base);
  }
  return has_room;
}

static void embed_env_on_line(void *arg, lt_report_kind kind, lt_str line) {
  lathe_env *env = arg;
  if (kind == LT_REPORT_WARNING) {
    (void)lt_embed_env_say(env, &env->queue, lt_embed_queue_make(LATHE_EVENT_WARNING, &(lt_embed_words){.text = line}));
  }
}

static void embed_env_deadline(int timeout_ms, struct timespec *ret) {
  uint64_t at_us = lt_clock_monotonic_us() + (uint64_t)timeout_ms * 1000;
  *ret = (struct timespec){.tv_sec = (time_t)(at_us / 1000000), .tv_nsec = (long)(at_us % 1000000) * 1000};
}

static bool embed_env_lacks_event(const lathe_env *env) {
  return env->queue.first == NULL && !env->is_closing;
}

/* Runs the only program instead of waiting until a worker has. It may not give way for long, so this is not for a
 * thread that wants to return at some time, nor where others than this program have events. Gives the lock away. */
static bool embed_env_help(lathe_env *env, int timeout_ms) {
  lt_lane_crew *crew = env->queue.crew;
  if (timeout_ms >= 0 || crew == NULL || env->running > 1) {
    return false;
  }
  crew->begin_help(crew); /* under the lock: an event that comes from now on ends it */
  pthread_mutex_unlock(&env->lock);
  bool has_helped = crew->help(crew);
  pthread_mutex_lock(&env->lock);
  return has_helped;
}

/* Waits until the queue has an event; false: the time is over. Under the lock. */
static bool embed_env_await_event(lathe_env *env, int timeout_ms) {
  struct timespec until;
  int waited = 0;
  embed_env_deadline(timeout_ms > 0 ? timeout_ms : 0, &until);
  while (embed_env_lacks_event(env) && timeout_ms != 0 && waited == 0) {
    if (!embed_env_help(env, timeout_ms) && embed_env_lacks_event(env)) {
      env->queue.waiting++;
      waited = timeout_ms < 0 ? pthread_cond_wait(&env->queue.has_events, &env->lock)
                              : pthread_cond_timedwait(&env->queue.has_events, &env->lock, &until);
      env->queue.waiting--;
    }
  }
  return env->queue.first != NULL;
}

lathe_status lathe_next(lathe_env *env, int timeout_ms, const lathe_event **ret_event) {
  LT_ERR_VAR(err);
  lt_embed_event *event = NULL;
  if (ret_event == NULL) {
    return LATHE_E_INVALID;
  }
  *ret_event = NULL;
  lathe_status entered = lt_embed_env_enter(env, NULL);
  if (entered != LATHE_OK) {
    return entered;
  }
  pthread_mutex_lock(&env->lock);
  if (embed_env_await_event(env, timeout_ms) && !env->is_closing) {
    event = lt_embed_queue_take(&env->queue);
    env->seats -= event->base.type == LATHE_EVENT_END ? 1 : 0;
  }
  lt_status status = event != NULL ? LT_OK : env->is_closing ? LT_E_CLOSED : LT_E_TIMEOUT;
  bool is_for_others = env->queue.first != NULL && env->queue.waiting > 0; /* one was woken for several events */
  pthread_mutex_unlock(&env->lock);
  if (is_for_others) {
    lt_embed_queue_wake(&env->queue);
  }
  *ret_event = event != NULL ? &event->base : NULL;
  return lt_embed_env_leave(env, status, &err, NULL);
}

/* The host has it as const, since nothing changes that it sees. */
int lathe_fd(const lathe_env *theirs) {
  lathe_env *env = (lathe_env *)(uintptr_t)theirs;
  if (lt_embed_env_enter(env, NULL) != LATHE_OK) {
    return -1;
  }
  pthread_mutex_lock(&env->lock);
  int fd = lt_embed_queue_open_fd(&env->queue);
  pthread_mutex_unlock(&env->lock);
  (void)lt_embed_env_leave(env, LT_OK, NULL, NULL);
  return fd;
}

/* --- The environment's thread ------------------------------------------------------------------------------------- */
static void embed_env_say_open(lathe_env *env, lt_status status) {
  pthread_mutex_lock(&env->lock);
  env->is_open = true;
  env->open_status = status;
  pthread_cond_broadcast(&env->changed);
  pthread_mutex_unlock(&env->lock);
}

static lt_status embed_env_open_session(lathe_env *env) LT_YIELDS {
  LT_TRY(lt_session_open(&env->session, &env->open_err));
  lt_session_await(&env->session);
  return lt_modules_load(&env->session, &env->modules, &env->open_err);
}

static void embed_env_on_fiber(void *arg) {
  lathe_env *env = arg;
  lt_status status = embed_env_open_session(env);
  embed_env_say_open(env, status);
  while (status == LT_OK && env->stop.why == LT_OK) {
    lt_wait_on(&env->ending, UINT64_MAX);
  }
  lt_embed_agent_end(env);
  while (status == LT_OK && (!env->is_left || env->running > 0)) {
    lt_wait_on(&env->ending, UINT64_MAX);
  }
  lt_embed_agent_close(env);
  lt_embed_tools_close(env);
  atomic_store(&env->queue.crew, NULL); /* it ends with the session, which may still have something to say */
  lt_modules_release(&env->modules);
  lt_session_close(&env->session);
}

static lt_status embed_env_start(lathe_env *env) {
  LT_TRY(lt_session_start(&env->session, &env->open_err));
  lt_wait_init(&env->ending, env->session.loop);
  lt_lane_share(env->session.loop);
  return lt_loop_spawn(env->session.loop, embed_env_on_fiber, env, &env->open_err);
}

/* The thread that closes the environment may still be inside the post that ended the fiber. */
static void embed_env_await_closer(lathe_env *env) {
  pthread_mutex_lock(&env->lock);
  while (env->open_status == LT_OK && !env->may_end) {
    pthread_cond_wait(&env->changed, &env->lock);
  }
  pthread_mutex_unlock(&env->lock);
}

static void *embed_env_thread(void *arg) {
  lathe_env *env = arg;
  lt_status status = embed_env_start(env);
  if (status == LT_OK) {
    lt_loop_run(env->session.loop);
    embed_env_await_closer(env);
  } else {
    embed_env_say_open(env, status);
  }
  lt_session_release(&env->session);
  return NULL;
}

/* The host's signals are for the host's threads. A fault is delivered to the thread that made it, whatever the mask; it
 * ends the process if it is blocked. */
static int embed_env_start_thread(lathe_env *env) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    sigdelset(&blocked, faults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  int failed = pthread_create(&env->thread, NULL, embed_env_thread, env);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
static lt_status embed_env_configure(lathe_env *env, const lathe_options *options, lt_err *err) {
  const lt_config_sources sources = {
      .is_alone = true, .text = options->config, .folder = options->folder, .config_file = options->config_file};
  if (options->config != NULL && options->config_file != NULL) {
    return lt_fail(err, LT_E_INVALID, "give either config or config_file");
  }
  LT_TRY(lt_embed_helper_find(options->helper, &env->helper, err));
  env->session.is_embedded = true;
  env->session.helper = env->helper;
  env->session.report = (lt_report){.on_line = embed_env_on_line, .arg = env};
  LT_TRY(lt_session_configure(&env->session, &sources, err));
  if (env->session.config.store == NULL) {
    env->session.config.store = ":memory:";
  }
  return LT_OK;
}

static void embed_env_free(lathe_env *env) {
  lt_embed_queue_release(&env->queue);
  pthread_cond_destroy(&env->changed);
  pthread_mutex_destroy(&env->lock);
  lt_mem_free(env->helper);
  lt_mem_free(env);
}

static lt_status embed_env_run(lathe_env *env, lt_err *err) {
  if (embed_env_start_thread(env) != 0) {
    lt_session_release(&env->session);
    return lt_fail(err, LT_E_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
  }
  pthread_mutex_lock(&env->lock);
  while (!env->is_open) {
    pthread_cond_wait(&env->changed, &env->lock);
  }
  lt_status status = env->open_status;
  pthread_mutex_unlock(&env->lock);
  if (status != LT_OK) {
    pthread_join(env->thread, NULL);
    (void)lt_err_copy(err, &env->open_err);
  }
  return status;
}

static lt_status embed_env_open(lathe_env *env, const lathe_options *options, lt_err *err) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, embed_env_watch_forks);
  env->forks = atomic_load(&embed_env_forks);
  env->open_err = LT_ERR_INIT;
  lt_cancel_init(&env->stop);
  pthread_mutex_init(&env->lock, NULL);
  pthread_cond_init(&env->changed, NULL);
  LT_TRY(lt_embed_queue_init(&env->queue, true, err));
  lt_status status = embed_env_configure(env, options, err);
  if (status != LT_OK) {
    lt_session_release(&env->session);
    return status;
  }
  return embed_env_run(env, err);
}

/* Their numbers would be given to files of the library: libuv ends the process where it closes such a one, and what
 * somebody else prints would go into it. */
static lt_status embed_env_check_streams(lt_err *err) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0) {
      return lt_fail(err, LT_E_INVALID, "descriptor %d is closed: open /dev/null as 0, 1 and 2 where nothing else is",
                     fd);
    }
  }
  return LT_OK;
}

static lt_status embed_env_make(const lathe_options *theirs, lathe_env **ret_env, lt_err *err) {
  lathe_options options = {.size = sizeof options};
  if (theirs != NULL) {
    LT_TRY(lt_embed_error_take_struct(theirs, LT_EMBED_BYTES_TO(lathe_options, folder), sizeof options, &options,
                                      "lathe_options", err));
  }
  LT_TRY(embed_env_check_streams(err));
  lathe_env *env = lt_mem_zalloc(1, sizeof *env);
  if (env == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_status status = embed_env_open(env, &options, err);
  if (status != LT_OK) {
    embed_env_free(env);
    return status;
  }
  *ret_env = env;
  return LT_OK;
}

lathe_status lathe_open(const lathe_options *options, lathe_env **ret_env, lathe_error *error) {
  LT_ERR_VAR(err);
  if (ret_env == NULL) {
    return lt_embed_error_put(LATHE_E_INVALID, "ret_env is NULL", error);
  }
  *ret_env = NULL;
  return lt_embed_error_tell(embed_env_make(options, ret_env, &err), &err, error);
}

static void embed_env_on_stop(void *arg) {
  lathe_env *env = arg;
  lt_cancel_fire(&env->stop, LT_E_CANCELLED);
  lt_wait_wake(&env->ending, LT_OK);
}

static void embed_env_on_left(void *arg) {
  lathe_env *env = arg;
  if (lt_embed_turn_let_all_go(env)) { /* what is posted for them comes first */
    lt_loop_post(env->session.loop, &env->left_post);
    return;
  }
  env->is_left = true;
  lt_wait_wake(&env->ending, LT_OK);
}

void lathe_close(lathe_env *env) {
  if (env == NULL || embed_env_is_foreign(env)) {
    return;
  }
  env->stop_post = (lt_post){.fn = embed_env_on_stop, .arg = env};
  env->left_post = (lt_post){.fn = embed_env_on_left, .arg = env};
  pthread_mutex_lock(&env->lock);
  env->is_closing = true;
  pthread_cond_broadcast(&env->queue.has_events);
  lt_loop_post(env->session.loop, &env->stop_post);
  env->is_empty = atomic_fetch_or(&env->users, USERS_CLOSING) == 0;
  while (!env->is_empty) {
    pthread_cond_wait(&env->changed, &env->lock);
  }
  lt_loop_post(env->session.loop, &env->left_post);
  env->may_end = true;
  pthread_cond_broadcast(&env->changed);
  pthread_mutex_unlock(&env->lock);
  pthread_join(env->thread, NULL);
  embed_env_free(env);
}
