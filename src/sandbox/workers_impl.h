/* The threads' common state, for workers.c (queue, workers, threads of others) and workers_watchdog.c. Internal to
 * sandbox/. */
#ifndef LT_SANDBOX_WORKERS_IMPL_H
#define LT_SANDBOX_WORKERS_IMPL_H

#include <pthread.h>
#include <time.h>

#include "base/limits.h"
#include "sandbox/workers.h"

/* The work of one worker, for the watchdog. The lock keeps the task alive while the watchdog reads it. */
typedef struct lt_worker_slot {
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
} lt_worker_slot;

typedef struct lt_workers_queue {
  lt_workers_task *head;
  lt_workers_task **tail;
} lt_workers_queue;

/* A thread of somebody else that runs a step: there are as many as ever did so at the same time. */
typedef struct lt_worker_guest {
  lt_worker_slot slot;
  atomic_bool is_taken;
  void *signal_stack;
  struct lt_worker_guest *next;
} lt_worker_guest;

struct lt_workers {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  lt_workers_queue submitted;
  lt_workers_queue resumed;
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
  _Atomic(lt_worker_guest *) guests;
  lt_worker_slot own;         /* of the thread of lt_workers_step_own */
  atomic_bool is_own_in_step; /* `after` included */
  void (*on_late)(void *arg);
  void *late_arg;
  lt_worker_slot *slots[LT_WORKERS_MAX]; /* the first `slot_count` are there; they stay until all workers have ended */
  _Atomic unsigned slot_count;
};

/* --- workers.c: under the lock ------------------------------------------------------------------------------------ */
static inline bool lt_workers_has_task(const lt_workers *w) {
  return w->submitted.head != NULL || w->resumed.head != NULL;
}

/* Counts a sleeping worker as woken, unless all are. True: `wake` is to be signalled. */
static inline bool lt_workers_wake_one(lt_workers *w) {
  bool wakes = w->waking < w->sleeping;
  w->waking += wakes;
  return wakes;
}

/* Lets go of the lock. */
static inline void lt_workers_unlock(lt_workers *w, bool wake) {
  pthread_mutex_unlock(&w->lock);
  if (wake) {
    pthread_cond_signal(&w->wake);
  }
}

/* Starts the next regular worker, unless all have begun. On a thread of our own: a new thread takes over the signals
 * and processors of the one that starts it. A thread costs 0.1 ms, and most processes run one program at a time. */
void lt_workers_start_next(lt_workers *w);
/* Starts a worker, an extra one or a regular one. Errors: LT_E_NOMEM, also when there are LT_WORKERS_MAX. */
lt_status lt_workers_start_worker(lt_workers *w, bool is_extra);

/* --- Time --------------------------------------------------------------------------------------------------------- */
/* For pthread_cond_timedwait. */
static inline struct timespec lt_workers_after_ns(uint64_t ns) {
  uint64_t at = lt_workers_now() + ns;
  return (struct timespec){.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)};
}

/* --- workers_watchdog.c ------------------------------------------------------------------------------------------- */
/* The watchdog's thread: `arg` is the workers. Ends when they are stopping. */
void *lt_workers_watch(void *arg);
/* A step or a chore has come: ends the watchdog's sleep. */
void lt_workers_wake_watchdog(lt_workers *w);
/* Sleeps for a tick of the watchdog. */
void lt_workers_tick(void);

#endif
