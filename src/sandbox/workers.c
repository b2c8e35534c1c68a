#include "sandbox/workers_impl.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define REGULAR_MAX   (LT_WORKERS_MAX - LT_WORKER_EXTRA_MAX)
#define SPIN_NS       20000     /* about the cost of waking a sleeping thread */
#define EXTRA_IDLE_NS 100000000 /* an extra worker without work ends */

uint64_t lt_workers_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */
static lt_workers_queue *workers_next_queue(lt_workers *w) {
  bool is_turn = w->resumed_in_row < LT_WORKER_RESUMED_MAX || w->submitted.head == NULL;
  return w->resumed.head != NULL && is_turn ? &w->resumed : &w->submitted;
}

static lt_workers_task *workers_pop(lt_workers *w) {
  lt_workers_queue *queue = workers_next_queue(w);
  lt_workers_task *task = queue->head;
  if (task != NULL) {
    queue->head = task->next;
    if (queue->head == NULL) {
      queue->tail = &queue->head;
    }
    w->resumed_in_row = queue == &w->resumed ? w->resumed_in_row + 1 : 0;
    w->taken++;
    atomic_fetch_sub(&w->queued, 1);
  }
  return task;
}

/* The only queued task is left to a thread that helps. The watchdog, which is awake, wakes a worker if none comes.
 * Under the lock. */
static bool workers_leave_to_helper(lt_workers *w) {
  return atomic_load(&w->is_help_coming) && atomic_load(&w->queued) == 1 && !atomic_load(&w->watch_asleep);
}

/* Whether one worker more would have a processor, as far as we know. The thread that queues tasks has one while it is
 * awake. Then a worker that is awake takes what is queued, if its step is short; if it is long, another one does. Under
 * the lock. */
static bool workers_may_wake(const lt_workers *w) {
  unsigned awake = w->started + w->extras + w->waking - w->sleeping;
  return awake <= atomic_load(&w->long_steps) || awake + 1 < w->regular || !atomic_load(&w->is_queuer_awake);
}

static void workers_push(lt_workers *w, lt_workers_queue *queue, lt_workers_task *task) {
  pthread_mutex_lock(&w->lock);
  task->next = NULL;
  *queue->tail = task;
  queue->tail = &task->next;
  atomic_fetch_add(&w->queued, 1);
  atomic_store_explicit(&w->queued_cpu, sched_getcpu(), memory_order_relaxed);
  /* A worker that is about to sleep takes the lock and checks the queue once more. */
  bool wake =
      workers_may_wake(w) && atomic_load(&w->spinning) == 0 && !workers_leave_to_helper(w) && lt_workers_wake_one(w);
  lt_workers_unlock(w, wake);
}

void lt_workers_submit(lt_workers *w, lt_workers_task *task) {
  workers_push(w, &w->submitted, task);
}

void lt_workers_resume(lt_workers *w, lt_workers_task *task) {
  workers_push(w, &w->resumed, task);
}

/* Who queues a task looks at `is_queuer_awake` after it has counted the task, and this does the reverse: one of them
 * sees what the other has done. */
void lt_workers_note_queuer(lt_workers *w, bool is_awake) {
  atomic_store(&w->is_queuer_awake, is_awake);
  if (is_awake || atomic_load(&w->queued) == 0) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  bool wake = lt_workers_has_task(w) && !workers_leave_to_helper(w) && lt_workers_wake_one(w);
  lt_workers_unlock(w, wake);
}

static lt_workers_chore *workers_pop_chore(lt_workers *w) {
  lt_workers_chore *chore = w->chores;
  if (chore != NULL) {
    w->chores = chore->next;
    atomic_fetch_sub(&w->chore_count, 1);
  }
  return chore;
}

/* Few of them wake nobody: a worker that spins does them, or the watchdog wakes one at its next tick. */
bool lt_workers_do_later(lt_workers *w, lt_workers_chore *chore) {
  pthread_mutex_lock(&w->lock);
  unsigned count = atomic_load(&w->chore_count);
  bool has_room = count < LT_WORKER_CHORES_MAX;
  if (has_room) {
    chore->next = w->chores;
    w->chores = chore;
    atomic_fetch_add(&w->chore_count, 1);
  }
  bool wake = atomic_load(&w->spinning) == 0 && count == LT_WORKER_CHORES_MAX / 2 && lt_workers_wake_one(w);
  lt_workers_unlock(w, wake);
  lt_workers_wake_watchdog(w);
  return has_room;
}

void lt_workers_do_one_now(lt_workers *w) {
  if (atomic_load_explicit(&w->chore_count, memory_order_relaxed) == 0) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  lt_workers_chore *chore = workers_pop_chore(w);
  pthread_mutex_unlock(&w->lock);
  if (chore != NULL) {
    chore->fn(chore);
  }
}

/* A sleeping thread takes tens of microseconds to wake, so spin for a short time first: unless the thread that queues
 * tasks is on this CPU, and cannot go on meanwhile. */
static void workers_spin(lt_workers *w) {
  if (atomic_load_explicit(&w->queued_cpu, memory_order_relaxed) == sched_getcpu()) {
    return;
  }
  uint64_t until = lt_workers_now() + SPIN_NS;
  atomic_fetch_add(&w->spinning, 1);
  while (atomic_load_explicit(&w->queued, memory_order_relaxed) == 0 &&
         atomic_load_explicit(&w->chore_count, memory_order_relaxed) == 0 && lt_workers_now() < until) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  atomic_fetch_sub(&w->spinning, 1);
}

/* What a worker does next: a step, or else a chore; neither: it ends. */
typedef struct worker_turn {
  lt_workers_task *task;
  lt_workers_chore *chore;
} worker_turn;

static bool workers_take(lt_workers *w, worker_turn *ret) {
  ret->task = workers_pop(w);
  ret->chore = ret->task == NULL ? workers_pop_chore(w) : NULL;
  return ret->task != NULL || ret->chore != NULL;
}

void lt_workers_start_next(lt_workers *w) {
  if (!w->is_stopping && w->started < w->regular && lt_workers_start_worker(w, false) == LT_OK) {
    w->started++;
  }
}

static worker_turn workers_next(lt_worker_slot *s) {
  lt_workers *w = s->workers;
  workers_spin(w);
  pthread_mutex_lock(&w->lock);
  worker_turn turn;
  while (!workers_take(w, &turn) && !w->is_stopping) {
    struct timespec until = lt_workers_after_ns(EXTRA_IDLE_NS);
    w->sleeping++;
    int waited =
        s->is_extra ? pthread_cond_timedwait(&w->wake, &w->lock, &until) : pthread_cond_wait(&w->wake, &w->lock);
    w->sleeping--;
    w->waking -= w->waking > 0;
    if (s->is_extra && waited == ETIMEDOUT && !lt_workers_has_task(w) && w->chores == NULL) {
      break;
    }
  }
  /* One signal can stand for several tasks. */
  if (turn.task != NULL && lt_workers_has_task(w)) {
    if (w->sleeping == 0) {
      lt_workers_start_next(w);
    } else if (workers_may_wake(w) && lt_workers_wake_one(w)) {
      pthread_cond_signal(&w->wake);
    }
  }
  if (turn.task == NULL && turn.chore == NULL && s->is_extra) {
    s->is_live = false;
    w->extras--;
    pthread_detach(pthread_self());
  }
  pthread_mutex_unlock(&w->lock);
  return turn;
}

/* --- A worker ----------------------------------------------------------------------------------------------------- */
static void workers_set_task(lt_worker_slot *s, lt_workers_task *task, uint64_t now) {
  pthread_mutex_lock(&s->lock);
  s->task = task;
  s->started_ns = now;
  s->stop_seen_ns = 0;
  pthread_mutex_unlock(&s->lock);
}

/* The slot of the thread that runs a step, which may run another one inside it. */
static __thread lt_worker_slot *workers_slot_here;

/* Under the watchdog's eyes. */
static lt_workers_step workers_watched_step(lt_worker_slot *s, lt_workers_task *task, uint64_t slice_ns) {
  lt_workers *w = s->workers;
  uint64_t now = lt_workers_now();
  uint64_t until = slice_ns != UINT64_MAX ? now + slice_ns : UINT64_MAX;
  atomic_store_explicit(&task->slice_ns, until, memory_order_relaxed);
  atomic_fetch_add(&w->busy, 1);
  workers_set_task(s, task, now);
  workers_slot_here = s;
  lt_workers_wake_watchdog(w);
  lt_workers_step step = task->step(task);
  workers_slot_here = NULL;
  workers_set_task(s, NULL, 0);
  atomic_fetch_sub(&w->busy, 1);
  return step;
}

/* Inside the step of another task, whose thread and slice it has. */
static lt_workers_step workers_inner_step(lt_worker_slot *s, lt_workers_task *task) {
  lt_workers_task *outer = s->task;
  uint64_t until = atomic_load_explicit(&outer->slice_ns, memory_order_relaxed);
  atomic_store_explicit(&task->slice_ns, until, memory_order_relaxed);
  task->is_helped = outer->is_helped;
  task->is_brief = outer->is_brief;
  workers_set_task(s, task, lt_workers_now());
  lt_workers_step step = task->step(task);
  workers_set_task(s, outer, lt_workers_now());
  return step;
}

static void workers_run_step(lt_worker_slot *s, lt_workers_task *task) {
  lt_workers *w = s->workers;
  task->is_helped = s->is_guest;
  task->is_brief = s == &w->own;
  lt_workers_step step =
      workers_watched_step(s, task, task->is_brief ? LT_WORKER_BRIEF_US * 1000u : LT_WORKER_SLICE_MS * LT_NS_PER_MS);
  if (step == LT_STEP_AGAIN) {
    lt_workers_submit(w, task);
  } else {
    task->after(task, step);
  }
}

static void *workers_worker(void *arg) {
  lt_worker_slot *s = arg;
  LT_ERR_VAR(err);
  if (lt_box_thread_init(&err) != LT_OK) {
    lt_err_check_failed(lt_err_msg(&err), __FILE__,
                        __LINE__); /* without its signal stack a trap would end the process */
  }
  for (worker_turn turn = workers_next(s); turn.task != NULL || turn.chore != NULL; turn = workers_next(s)) {
    if (turn.task != NULL) {
      workers_run_step(s, turn.task);
    } else {
      turn.chore->fn(turn.chore);
    }
  }
  lt_box_thread_release();
  return NULL;
}

/* Of a worker that has ended, or another one. NULL: there are as many as there may be, or no memory. */
static lt_worker_slot *workers_free_slot(lt_workers *w) {
  unsigned count = atomic_load(&w->slot_count);
  for (unsigned i = 0; i < count; i++) {
    if (!w->slots[i]->is_live) {
      return w->slots[i];
    }
  }
  lt_worker_slot *s = count < LT_WORKERS_MAX ? lt_mem_zalloc(1, sizeof *s) : NULL;
  if (s != NULL) {
    pthread_mutex_init(&s->lock, NULL);
    s->workers = w;
    w->slots[count] = s;
    atomic_store(&w->slot_count, count + 1); /* the watchdog looks at it from now on */
  }
  return s;
}

lt_status lt_workers_start_worker(lt_workers *w, bool is_extra) {
  lt_worker_slot *s = workers_free_slot(w);
  if (s == NULL) {
    return LT_E_NOMEM;
  }
  s->is_extra = is_extra;
  s->is_live = pthread_create(&s->thread, NULL, workers_worker, s) == 0;
  return s->is_live ? LT_OK : LT_E_NOMEM;
}

/* --- Threads of others -------------------------------------------------------------------------------------------- */
static lt_worker_guest *workers_new_guest(lt_workers *w) {
  lt_worker_guest *guest = lt_mem_zalloc(1, sizeof *guest);
  void *stack = guest != NULL ? lt_box_signal_stack_new() : NULL;
  if (stack == NULL) {
    lt_mem_free(guest);
    return NULL;
  }
  pthread_mutex_init(&guest->slot.lock, NULL);
  guest->slot.workers = w;
  guest->slot.is_guest = true;
  guest->signal_stack = stack;
  atomic_init(&guest->is_taken, true);
  guest->next = atomic_load(&w->guests);
  while (!atomic_compare_exchange_weak(&w->guests, &guest->next, guest)) {
  }
  return guest;
}

/* The first one that is free, or a new one. NULL: no memory. */
static lt_worker_guest *workers_take_guest(lt_workers *w) {
  lt_worker_guest *guest = atomic_load(&w->guests);
  while (guest != NULL && atomic_exchange(&guest->is_taken, true)) {
    guest = guest->next;
  }
  return guest != NULL ? guest : workers_new_guest(w);
}

static void workers_free_guests(lt_workers *w) {
  for (lt_worker_guest *guest = atomic_load(&w->guests), *next; guest != NULL; guest = next) {
    next = guest->next;
    pthread_mutex_destroy(&guest->slot.lock);
    lt_box_signal_stack_free(guest->signal_stack);
    lt_mem_free(guest);
  }
}

static lt_status workers_begin_visit(lt_workers *w, lt_workers_visit *visit, lt_err *err) {
  if (visit->guest != NULL) {
    return LT_OK;
  }
  lt_worker_guest *guest = workers_take_guest(w);
  if (guest == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a signal stack");
  }
  lt_status status = lt_box_thread_borrow(guest->signal_stack, &visit->loan, err);
  if (status != LT_OK) {
    atomic_store(&guest->is_taken, false);
    return status;
  }
  guest->slot.thread = pthread_self();
  visit->guest = guest;
  return LT_OK;
}

void lt_workers_end_visit(lt_workers_visit *visit) {
  if (visit->guest != NULL) {
    lt_box_thread_give_back(&visit->loan);
    atomic_store(&visit->guest->is_taken, false);
    visit->guest = NULL;
  }
}

lt_status lt_workers_run_here(lt_workers *w, lt_workers_task *task, lt_workers_visit *visit, lt_workers_step *ret_step,
                              lt_err *err) {
  lt_worker_slot *slot = workers_slot_here;
  if (slot != NULL && slot->workers == w) {
    *ret_step = workers_inner_step(slot, task);
    return LT_OK;
  }
  LT_TRY(workers_begin_visit(w, visit, err));
  *ret_step = workers_watched_step(&visit->guest->slot, task, UINT64_MAX);
  return LT_OK;
}

/* --- A thread of our own that is no worker ------------------------------------------------------------------------ */
void lt_workers_on_late(lt_workers *w, void (*on_late)(void *arg), void *arg) {
  w->on_late = on_late;
  w->late_arg = arg;
}

void lt_workers_step_own(lt_workers *w, lt_workers_task *task) {
  if (lt_box_thread_init(NULL) != LT_OK) {
    lt_workers_submit(w, task);
    return;
  }
  atomic_store(&w->is_own_in_step, true);
  w->own.thread = pthread_self();
  workers_run_step(&w->own, task);
  atomic_store(&w->is_own_in_step, false);
}

/* --- Helping ------------------------------------------------------------------------------------------------------ */
static bool workers_help_as(lt_worker_slot *slot) {
  pthread_mutex_lock(&slot->workers->lock);
  lt_workers_task *task = workers_pop(slot->workers);
  pthread_mutex_unlock(&slot->workers->lock);
  if (task != NULL) {
    workers_run_step(slot, task);
  }
  return task != NULL;
}

void lt_workers_begin_help(lt_workers *w) {
  atomic_store(&w->is_help_coming, false); /* it is here: who queues a task after its look wakes a worker */
  atomic_store_explicit(&w->is_help_over, false, memory_order_relaxed);
}

/* The queue is looked at before anything is borrowed. A thread inside a step does not help. */
bool lt_workers_help(lt_workers *w) {
  lt_workers_visit visit = {0};
  bool can_help = workers_slot_here == NULL && atomic_load(&w->queued) > 0;
  bool has_helped = can_help && workers_begin_visit(w, &visit, NULL) == LT_OK && workers_help_as(&visit.guest->slot);
  lt_workers_end_visit(&visit);
  if (has_helped) {
    atomic_store(&w->is_help_coming, true);
  }
  return has_helped;
}

void lt_workers_end_help(lt_workers *w) {
  atomic_store_explicit(&w->is_help_over, true, memory_order_relaxed);
}

/* --- When a step should end or give way --------------------------------------------------------------------------- */
void lt_workers_task_stop(lt_workers_task *task, lt_stop why) {
  int not_yet = LT_STOP_NOT;
  atomic_compare_exchange_strong(&task->stop, &not_yet, why);
}

bool lt_workers_task_should_stop(lt_workers_task *task) {
  uint64_t deadline = atomic_load_explicit(&task->deadline_ns, memory_order_relaxed);
  if (deadline != 0 && lt_workers_now() >= deadline) {
    lt_workers_task_stop(task, LT_STOP_TIMEOUT);
  }
  return atomic_load_explicit(&task->stop, memory_order_relaxed) != LT_STOP_NOT;
}

bool lt_workers_task_should_yield(const lt_workers *w, const lt_workers_task *task, bool is_waited_for) {
  bool is_wanted_back = task->is_helped && atomic_load_explicit(&w->is_help_over, memory_order_relaxed);
  bool do_others_wait = is_waited_for || task->is_brief || atomic_load_explicit(&w->queued, memory_order_relaxed) > 0;
  return is_wanted_back ||
         (do_others_wait && lt_workers_now() >= atomic_load_explicit(&task->slice_ns, memory_order_relaxed));
}

/* --- Starting and stopping ---------------------------------------------------------------------------------------- */
static void workers_init_sync(lt_workers *w) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->wake, &attr);
  pthread_cond_init(&w->watch_wake, &attr);
  pthread_condattr_destroy(&attr);
  pthread_mutex_init(&w->own.lock, NULL);
  w->own.workers = w;
}

/* Of those that this process may use. */
static unsigned workers_cores(void) {
  cpu_set_t allowed;
  bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0; /* with 1,024 or fewer */
  long n = is_known ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > REGULAR_MAX ? REGULAR_MAX : (unsigned)n;
}

lt_status lt_workers_new(unsigned count, lt_workers **ret_workers, lt_err *err) {
  lt_workers *w = lt_mem_zalloc(1, sizeof *w);
  if (w == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for worker threads");
  }
  w->submitted.tail = &w->submitted.head;
  w->resumed.tail = &w->resumed.head;
  w->regular = count == 0 ? workers_cores() : count > REGULAR_MAX ? REGULAR_MAX : count;
  workers_init_sync(w);
  pthread_mutex_lock(&w->lock);
  lt_status status = lt_workers_start_worker(w, false);
  w->started = 1;
  pthread_mutex_unlock(&w->lock);
  if (status != LT_OK || pthread_create(&w->watchdog, NULL, lt_workers_watch, w) != 0) {
    w->watchdog = 0;
    lt_workers_free(w);
    return lt_fail(err, LT_E_NOMEM, "cannot start worker threads: raise the limit on processes (ulimit -u)");
  }
  *ret_workers = w;
  return LT_OK;
}

/* The step that ends the last task may be followed by the end of everything, on another thread. */
static void workers_wait_for_own(lt_workers *w) {
  while (atomic_load(&w->is_own_in_step)) {
    lt_workers_tick();
  }
}

static void workers_wait_for_extras(lt_workers *w) {
  for (;;) {
    pthread_mutex_lock(&w->lock);
    unsigned extras = w->extras;
    pthread_mutex_unlock(&w->lock);
    if (extras == 0) {
      return;
    }
    lt_workers_tick();
  }
}

void lt_workers_free(lt_workers *w) {
  if (w == NULL) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  LT_CHECK(!lt_workers_has_task(w));
  w->is_stopping = true;
  pthread_cond_broadcast(&w->wake);
  pthread_cond_broadcast(&w->watch_wake);
  pthread_mutex_unlock(&w->lock);
  if (w->watchdog != 0) {
    pthread_join(w->watchdog, NULL);
  }
  workers_wait_for_own(w);
  workers_wait_for_extras(w); /* workers write to their slots when they end */
  for (unsigned i = 0; i < atomic_load(&w->slot_count); i++) {
    lt_worker_slot *s = w->slots[i];
    if (s->is_live) {
      pthread_join(s->thread, NULL);
    }
    pthread_mutex_destroy(&s->lock);
    lt_mem_free(s);
  }
  workers_free_guests(w);
  pthread_mutex_destroy(&w->own.lock);
  pthread_cond_destroy(&w->wake);
  pthread_cond_destroy(&w->watch_wake);
  pthread_mutex_destroy(&w->lock);
  lt_mem_free(w);
}
