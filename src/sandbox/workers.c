#include "sandbox/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define WORKERS_MAX   256
#define REGULAR_MAX   (WORKERS_MAX - LT_WORKER_EXTRA_MAX)
#define SPIN_NS       20000     /* about the cost of waking a sleeping thread */
#define EXTRA_IDLE_NS 100000000 /* an extra worker without work ends */
#define WATCH_IDLE_NS 50000000  /* the watchdog goes to sleep after this time without a running step */
#define MS_NS         1000000u

/* The work of one worker, for the watchdog. The lock keeps the task alive while the watchdog reads it. */
typedef struct worker_slot {
  pthread_mutex_t lock;
  lt_workers *workers;
  pthread_t thread;
  lt_workers_task *task;
  uint64_t started_ns;
  uint64_t stop_seen_ns; /* when the watchdog first saw that the task should end */
  uint64_t nudged_ns;    /* when it was last sent a signal; before the first one: when it should end */
  bool is_extra;
  bool is_guest; /* of a thread of somebody else */
  bool is_live;  /* has a thread; under workers->lock */
} worker_slot;

typedef struct workers_queue {
  lt_workers_task *head;
  lt_workers_task **tail;
} workers_queue;

/* A thread of somebody else that runs a step: there are as many as ever did so at the same time. */
typedef struct worker_guest {
  worker_slot slot;
  atomic_bool is_taken;
  void *signal_stack;
  struct worker_guest *next;
} worker_guest;

struct lt_workers {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  workers_queue submitted;
  workers_queue resumed;
  unsigned resumed_in_row;
  _Atomic unsigned queued; /* in both */
  uint64_t taken;          /* from both so far */
  atomic_bool is_help_coming, is_help_over;
  lt_workers_chore *chores;
  _Atomic unsigned chore_count;
  _Atomic int spinning;
  _Atomic int queued_cpu; /* where the thread was that queued the last task */
  atomic_bool is_queuer_awake;
  _Atomic unsigned long_steps; /* at the last tick: steps of at least a tick */
  unsigned sleeping;
  unsigned waking;  /* of those: they were signalled, and have not run yet */
  unsigned regular; /* workers that do not end when they are idle: at most so many ... */
  unsigned started; /* ... of which so many have begun */
  unsigned extras;
  bool is_stopping;
  pthread_t watchdog;
  pthread_cond_t watch_wake;
  _Atomic bool watch_asleep;
  _Atomic unsigned busy;
  _Atomic(worker_guest *) guests;
  worker_slot own;            /* of the thread of lt_workers_step_own */
  atomic_bool is_own_in_step; /* `after` included */
  void (*on_late)(void *arg);
  void *late_arg;
  worker_slot *slots[WORKERS_MAX]; /* the first `slot_count` are there; they stay until all workers have ended */
  _Atomic unsigned slot_count;
};

uint64_t lt_workers_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct timespec workers_after_ns(uint64_t ns) {
  uint64_t at = lt_workers_now() + ns;
  return (struct timespec){.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)};
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */
static bool workers_has_task(const lt_workers *w) {
  return w->submitted.head != NULL || w->resumed.head != NULL;
}

static workers_queue *workers_next_queue(lt_workers *w) {
  bool is_turn = w->resumed_in_row < LT_WORKER_RESUMED_MAX || w->submitted.head == NULL;
  return w->resumed.head != NULL && is_turn ? &w->resumed : &w->submitted;
}

static lt_workers_task *workers_pop(lt_workers *w) {
  workers_queue *queue = workers_next_queue(w);
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

/* Counts a sleeping worker as woken, unless all are. True: `wake` is to be signalled. Under the lock. */
static bool workers_wake_one(lt_workers *w) {
  bool wakes = w->waking < w->sleeping;
  w->waking += wakes;
  return wakes;
}

static void workers_unlock(lt_workers *w, bool wake) {
  pthread_mutex_unlock(&w->lock);
  if (wake) {
    pthread_cond_signal(&w->wake);
  }
}

/* Whether one worker more would have a processor, as far as we know. The thread that queues tasks has one while it is
 * awake. Then a worker that is awake takes what is queued, if its step is short; if it is long, another one does. Under
 * the lock. */
static bool workers_may_wake(const lt_workers *w) {
  unsigned awake = w->started + w->extras + w->waking - w->sleeping;
  return awake <= atomic_load(&w->long_steps) || awake + 1 < w->regular || !atomic_load(&w->is_queuer_awake);
}

static void workers_push(lt_workers *w, workers_queue *queue, lt_workers_task *task) {
  pthread_mutex_lock(&w->lock);
  task->next = NULL;
  *queue->tail = task;
  queue->tail = &task->next;
  atomic_fetch_add(&w->queued, 1);
  atomic_store_explicit(&w->queued_cpu, sched_getcpu(), memory_order_relaxed);
  /* A worker that is about to sleep takes the lock and checks the queue once more. */
  bool wake =
      workers_may_wake(w) && atomic_load(&w->spinning) == 0 && !workers_leave_to_helper(w) && workers_wake_one(w);
  workers_unlock(w, wake);
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
  bool wake = workers_has_task(w) && !workers_leave_to_helper(w) && workers_wake_one(w);
  workers_unlock(w, wake);
}

static lt_workers_chore *workers_pop_chore(lt_workers *w) {
  lt_workers_chore *chore = w->chores;
  if (chore != NULL) {
    w->chores = chore->next;
    atomic_fetch_sub(&w->chore_count, 1);
  }
  return chore;
}

static void workers_wake_watchdog(lt_workers *w);

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
  bool wake = atomic_load(&w->spinning) == 0 && count == LT_WORKER_CHORES_MAX / 2 && workers_wake_one(w);
  workers_unlock(w, wake);
  workers_wake_watchdog(w);
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

static lt_status workers_start_worker(lt_workers *w, bool extra);

/* With the lock, on a thread of our own: a new thread takes over the signals and processors of the one that starts it.
 * A thread costs 0.1 ms, and most processes run one program at a time. */
static void workers_start_next(lt_workers *w) {
  if (!w->is_stopping && w->started < w->regular && workers_start_worker(w, false) == LT_OK) {
    w->started++;
  }
}

static worker_turn workers_next(worker_slot *s) {
  lt_workers *w = s->workers;
  workers_spin(w);
  pthread_mutex_lock(&w->lock);
  worker_turn turn;
  while (!workers_take(w, &turn) && !w->is_stopping) {
    struct timespec until = workers_after_ns(EXTRA_IDLE_NS);
    w->sleeping++;
    int waited =
        s->is_extra ? pthread_cond_timedwait(&w->wake, &w->lock, &until) : pthread_cond_wait(&w->wake, &w->lock);
    w->sleeping--;
    w->waking -= w->waking > 0;
    if (s->is_extra && waited == ETIMEDOUT && !workers_has_task(w) && w->chores == NULL) {
      break;
    }
  }
  /* One signal can stand for several tasks. */
  if (turn.task != NULL && workers_has_task(w)) {
    if (w->sleeping == 0) {
      workers_start_next(w);
    } else if (workers_may_wake(w) && workers_wake_one(w)) {
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
static void workers_set_task(worker_slot *s, lt_workers_task *task, uint64_t now) {
  pthread_mutex_lock(&s->lock);
  s->task = task;
  s->started_ns = now;
  s->stop_seen_ns = 0;
  pthread_mutex_unlock(&s->lock);
}

static void workers_wake_watchdog(lt_workers *w) {
  if (atomic_load(&w->watch_asleep)) {
    pthread_mutex_lock(&w->lock);
    pthread_cond_signal(&w->watch_wake);
    pthread_mutex_unlock(&w->lock);
  }
}

/* The slot of the thread that runs a step, which may run another one inside it. */
static __thread worker_slot *workers_slot_here;

/* Under the watchdog's eyes. */
static lt_workers_step workers_watched_step(worker_slot *s, lt_workers_task *task, uint64_t slice_ns) {
  lt_workers *w = s->workers;
  uint64_t now = lt_workers_now();
  uint64_t until = slice_ns != UINT64_MAX ? now + slice_ns : UINT64_MAX;
  atomic_store_explicit(&task->slice_ns, until, memory_order_relaxed);
  atomic_fetch_add(&w->busy, 1);
  workers_set_task(s, task, now);
  workers_slot_here = s;
  workers_wake_watchdog(w);
  lt_workers_step step = task->step(task);
  workers_slot_here = NULL;
  workers_set_task(s, NULL, 0);
  atomic_fetch_sub(&w->busy, 1);
  return step;
}

/* Inside the step of another task, whose thread and slice it has. */
static lt_workers_step workers_inner_step(worker_slot *s, lt_workers_task *task) {
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

static void workers_run_step(worker_slot *s, lt_workers_task *task) {
  lt_workers *w = s->workers;
  task->is_helped = s->is_guest;
  task->is_brief = s == &w->own;
  lt_workers_step step =
      workers_watched_step(s, task, task->is_brief ? LT_WORKER_BRIEF_US * 1000u : LT_WORKER_SLICE_MS * MS_NS);
  if (step == LT_STEP_AGAIN) {
    lt_workers_submit(w, task);
  } else {
    task->after(task, step);
  }
}

static void *workers_worker(void *arg) {
  worker_slot *s = arg;
  lt_err err = LT_ERR_INIT;
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
static worker_slot *workers_free_slot(lt_workers *w) {
  unsigned count = atomic_load(&w->slot_count);
  for (unsigned i = 0; i < count; i++) {
    if (!w->slots[i]->is_live) {
      return w->slots[i];
    }
  }
  worker_slot *s = count < WORKERS_MAX ? lt_mem_zalloc(1, sizeof *s) : NULL;
  if (s != NULL) {
    pthread_mutex_init(&s->lock, NULL);
    s->workers = w;
    w->slots[count] = s;
    atomic_store(&w->slot_count, count + 1); /* the watchdog looks at it from now on */
  }
  return s;
}

static lt_status workers_start_worker(lt_workers *w, bool extra) {
  worker_slot *s = workers_free_slot(w);
  if (s == NULL) {
    return LT_E_NOMEM;
  }
  s->is_extra = extra;
  s->is_live = pthread_create(&s->thread, NULL, workers_worker, s) == 0;
  return s->is_live ? LT_OK : LT_E_NOMEM;
}

/* --- Threads of others -------------------------------------------------------------------------------------------- */
static worker_guest *workers_new_guest(lt_workers *w) {
  worker_guest *guest = lt_mem_zalloc(1, sizeof *guest);
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
static worker_guest *workers_take_guest(lt_workers *w) {
  worker_guest *guest = atomic_load(&w->guests);
  while (guest != NULL && atomic_exchange(&guest->is_taken, true)) {
    guest = guest->next;
  }
  return guest != NULL ? guest : workers_new_guest(w);
}

static void workers_free_guests(lt_workers *w) {
  for (worker_guest *guest = atomic_load(&w->guests), *next; guest != NULL; guest = next) {
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
  worker_guest *guest = workers_take_guest(w);
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
  worker_slot *slot = workers_slot_here;
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
static bool workers_help_as(worker_slot *slot) {
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

/* --- The watchdog ------------------------------------------------------------------------------------------------- */
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

/* Ends a task in three stages. First the task sees the stop when it polls. Then its memory is revoked. Then its thread
 * is signalled repeatedly, because a signal during host code has no effect. While the slot holds a task, under its
 * lock, the slot's thread exists. */
static void workers_enforce(worker_slot *s, uint64_t now) {
  if (!lt_workers_task_should_stop(s->task)) {
    return;
  }
  if (s->stop_seen_ns == 0) {
    s->stop_seen_ns = s->nudged_ns = now;
  }
  lt_box *box = atomic_load(&s->task->box);
  if (box == NULL) {
    return;
  }
  if (now - s->stop_seen_ns >= LT_WATCHDOG_GRACE_MS * MS_NS) {
    lt_box_revoke(box);
  }
  if (now - s->nudged_ns >= LT_WATCHDOG_NUDGE_MS * MS_NS) {
    s->nudged_ns = now;
    lt_box_nudge(s->thread);
  }
}

/* Returns for how many nanoseconds its step has run; 0: there is none. */
static uint64_t workers_look_at(worker_slot *s, uint64_t now) {
  uint64_t age_ns = 0;
  pthread_mutex_lock(&s->lock);
  if (s->task != NULL) {
    workers_enforce(s, now);
    age_ns = now > s->started_ns ? now - s->started_ns : 0; /* it may have begun after the look at the clock */
  }
  pthread_mutex_unlock(&s->lock);
  return age_ns;
}

/* Under the slot's lock, so that the step has not ended when on_late returns. */
static void workers_look_at_own(lt_workers *w, uint64_t now) {
  (void)workers_look_at(&w->own, now);
  pthread_mutex_lock(&w->own.lock);
  if (w->own.task != NULL && now - w->own.started_ns >= LT_WORKER_LATE_MS * MS_NS && w->on_late != NULL) {
    w->on_late(w->late_arg);
  }
  pthread_mutex_unlock(&w->own.lock);
}

/* A guest's step holds up nobody else. */
static void workers_look_at_guests(lt_workers *w, uint64_t now) {
  for (worker_guest *guest = atomic_load(&w->guests); guest != NULL; guest = guest->next) {
    if (atomic_load(&guest->is_taken)) {
      (void)workers_look_at(&guest->slot, now);
    }
  }
  pthread_mutex_lock(&w->lock);
  bool wake = w->chores != NULL && workers_wake_one(w);
  workers_unlock(w, wake);
}

/* While tasks are queued, there is an extra worker for each stuck worker. This is checked at every tick, because an
 * idle extra worker may end before the stuck step does. */
static void workers_replace_stuck(lt_workers *w, unsigned stuck) {
  unsigned most = stuck < LT_WORKER_EXTRA_MAX ? stuck : LT_WORKER_EXTRA_MAX;
  if (stuck == 0 || atomic_load(&w->queued) == 0) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  if (!w->is_stopping && w->sleeping == 0 && w->extras < most && workers_start_worker(w, true) == LT_OK) {
    w->extras++;
  }
  pthread_mutex_unlock(&w->lock);
}

/* What is queued while all workers are at work does not wait for one of them. */
static void workers_start_missing(lt_workers *w) {
  if (atomic_load(&w->queued) > 0) {
    pthread_mutex_lock(&w->lock);
    if (w->sleeping == 0) {
      workers_start_next(w);
    }
    pthread_mutex_unlock(&w->lock);
  }
}

static void workers_tick(void) {
  struct timespec ms = {.tv_nsec = LT_WATCHDOG_TICK_MS * MS_NS};
  nanosleep(&ms, NULL);
}

/* Sleeps until a step begins; true when it is time to end. */
static bool workers_watch_sleep(lt_workers *w) {
  pthread_mutex_lock(&w->lock);
  atomic_store(&w->watch_asleep, true);
  while (atomic_load(&w->busy) == 0 && w->chores == NULL && !workers_has_task(w) && !w->is_stopping) {
    pthread_cond_wait(&w->watch_wake, &w->lock);
  }
  atomic_store(&w->watch_asleep, false);
  bool stopping = w->is_stopping;
  pthread_mutex_unlock(&w->lock);
  return stopping;
}

/* Waits for a millisecond, or less when the watchdog must end: then it returns true. */
static bool workers_watch_tick(lt_workers *w) {
  pthread_mutex_lock(&w->lock);
  if (!w->is_stopping) {
    struct timespec until = workers_after_ns(LT_WATCHDOG_TICK_MS * MS_NS);
    pthread_cond_timedwait(&w->watch_wake, &w->lock, &until);
  }
  bool stopping = w->is_stopping;
  pthread_mutex_unlock(&w->lock);
  return stopping;
}

/* At each tick: has a worker woken when tasks wait and none was taken since the last tick. Then the thread that was
 * expected to help does something else, or the workers that are awake have long steps. */
static void workers_wake_for_late(lt_workers *w, uint64_t *seen) {
  pthread_mutex_lock(&w->lock);
  bool is_late = workers_has_task(w) && w->taken == *seen;
  *seen = w->taken;
  if (is_late) {
    atomic_store(&w->is_help_coming, false);
  }
  bool wake = is_late && w->sleeping > 0;
  workers_unlock(w, wake);
}

static void *workers_watch(void *arg) {
  lt_workers *w = arg;
  uint64_t last_busy = 0, seen_taken = 0;
  for (bool stopping = false; !stopping; stopping = workers_watch_tick(w)) {
    uint64_t now = lt_workers_now();
    if (atomic_load(&w->busy) > 0) {
      last_busy = now;
    } else if (now - last_busy >= WATCH_IDLE_NS) {
      if (workers_watch_sleep(w)) {
        break;
      }
      last_busy = lt_workers_now();
      continue; /* a worker that was woken or has just been started may not have begun yet: nothing is missing */
    }
    unsigned stuck = 0, long_steps = 0;
    for (unsigned i = 0; i < atomic_load(&w->slot_count); i++) {
      uint64_t age_ns = workers_look_at(w->slots[i], now);
      stuck += age_ns >= LT_WORKER_STUCK_MS * MS_NS; /* one that polls would have ended its slice, as others wait */
      long_steps += age_ns >= LT_WATCHDOG_TICK_MS * MS_NS;
    }
    atomic_store(&w->long_steps, long_steps);
    workers_look_at_own(w, now);
    workers_look_at_guests(w, now);
    workers_wake_for_late(w, &seen_taken);
    workers_start_missing(w);
    workers_replace_stuck(w, stuck);
  }
  return NULL;
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
  lt_status status = workers_start_worker(w, false);
  w->started = 1;
  pthread_mutex_unlock(&w->lock);
  if (status != LT_OK || pthread_create(&w->watchdog, NULL, workers_watch, w) != 0) {
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
    workers_tick();
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
    workers_tick();
  }
}

void lt_workers_free(lt_workers *w) {
  if (w == NULL) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  LT_CHECK(!workers_has_task(w));
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
    worker_slot *s = w->slots[i];
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
