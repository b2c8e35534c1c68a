/* The watchdog: a thread that looks at all running steps at each tick. It ends the tasks that should have ended, and
 * sees to it that no queued task waits for a step that does not end. */
#include "sandbox/workers_impl.h"

#include <time.h>

#define WATCH_IDLE_NS 50000000 /* the watchdog goes to sleep after this time without a running step */

/* --- A step that should end --------------------------------------------------------------------------------------- */
/* Ends a task in three stages. First the task sees the stop when it polls. Then its memory is revoked. Then its thread
 * is signalled repeatedly, because a signal during host code has no effect. While the slot holds a task, under its
 * lock, the slot's thread exists. */
static void workers_enforce(lt_worker_slot *s, uint64_t now) {
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
  if (now - s->stop_seen_ns >= LT_WATCHDOG_GRACE_MS * LT_NS_PER_MS) {
    lt_box_revoke(box);
  }
  if (now - s->nudged_ns >= LT_WATCHDOG_NUDGE_MS * LT_NS_PER_MS) {
    s->nudged_ns = now;
    lt_box_nudge(s->thread);
  }
}

/* For how many nanoseconds its step has run; 0: there is none, or it has begun after the look at the clock. Under the
 * slot's lock. */
static uint64_t workers_step_age(const lt_worker_slot *s, uint64_t now) {
  return s->task != NULL && now > s->started_ns ? now - s->started_ns : 0;
}

/* Returns workers_step_age. */
static uint64_t workers_look_at(lt_worker_slot *s, uint64_t now) {
  pthread_mutex_lock(&s->lock);
  if (s->task != NULL) {
    workers_enforce(s, now);
  }
  uint64_t age_ns = workers_step_age(s, now);
  pthread_mutex_unlock(&s->lock);
  return age_ns;
}

/* Under the slot's lock, so that the step has not ended when on_late returns. */
static void workers_look_at_own(lt_workers *w, uint64_t now) {
  (void)workers_look_at(&w->own, now);
  pthread_mutex_lock(&w->own.lock);
  if (w->on_late != NULL && workers_step_age(&w->own, now) >= LT_WORKER_LATE_MS * LT_NS_PER_MS) {
    w->on_late(w->late_arg);
  }
  pthread_mutex_unlock(&w->own.lock);
}

/* A guest's step holds up nobody else. */
static void workers_look_at_guests(lt_workers *w, uint64_t now) {
  for (lt_worker_guest *guest = atomic_load(&w->guests); guest != NULL; guest = guest->next) {
    if (atomic_load(&guest->is_taken)) {
      (void)workers_look_at(&guest->slot, now);
    }
  }
  pthread_mutex_lock(&w->lock);
  bool wake = w->chores != NULL && lt_workers_wake_one(w);
  lt_workers_unlock(w, wake);
}

/* --- Tasks that wait ---------------------------------------------------------------------------------------------- */
/* While tasks are queued, there is an extra worker for each stuck worker. This is checked at every tick, because an
 * idle extra worker may end before the stuck step does. */
static void workers_replace_stuck(lt_workers *w, unsigned stuck) {
  unsigned most = stuck < LT_WORKER_EXTRA_MAX ? stuck : LT_WORKER_EXTRA_MAX;
  if (stuck == 0 || atomic_load(&w->queued) == 0) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  if (!w->is_stopping && w->sleeping == 0 && w->extras < most && lt_workers_start_worker(w, true) == LT_OK) {
    w->extras++;
  }
  pthread_mutex_unlock(&w->lock);
}

/* What is queued while all workers are at work does not wait for one of them. */
static void workers_start_missing(lt_workers *w) {
  if (atomic_load(&w->queued) > 0) {
    pthread_mutex_lock(&w->lock);
    if (w->sleeping == 0) {
      lt_workers_start_next(w);
    }
    pthread_mutex_unlock(&w->lock);
  }
}

/* At each tick: has a worker woken when tasks wait and none was taken since the last tick. Then the thread that was
 * expected to help does something else, or the workers that are awake have long steps. */
static void workers_wake_for_late(lt_workers *w, uint64_t *seen) {
  pthread_mutex_lock(&w->lock);
  bool is_late = lt_workers_has_task(w) && w->taken == *seen;
  *seen = w->taken;
  if (is_late) {
    atomic_store(&w->is_help_coming, false);
  }
  bool wake = is_late && w->sleeping > 0;
  lt_workers_unlock(w, wake);
}

/* --- The thread --------------------------------------------------------------------------------------------------- */
void lt_workers_wake_watchdog(lt_workers *w) {
  if (atomic_load(&w->watch_asleep)) {
    pthread_mutex_lock(&w->lock);
    pthread_cond_signal(&w->watch_wake);
    pthread_mutex_unlock(&w->lock);
  }
}

void lt_workers_tick(void) {
  struct timespec ms = {.tv_nsec = LT_WATCHDOG_TICK_MS * LT_NS_PER_MS};
  nanosleep(&ms, NULL);
}

/* Sleeps until a step begins; true when it is time to end. */
static bool workers_watch_sleep(lt_workers *w) {
  pthread_mutex_lock(&w->lock);
  atomic_store(&w->watch_asleep, true);
  while (atomic_load(&w->busy) == 0 && w->chores == NULL && !lt_workers_has_task(w) && !w->is_stopping) {
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
    struct timespec until = lt_workers_after_ns(LT_WATCHDOG_TICK_MS * LT_NS_PER_MS);
    pthread_cond_timedwait(&w->watch_wake, &w->lock, &until);
  }
  bool stopping = w->is_stopping;
  pthread_mutex_unlock(&w->lock);
  return stopping;
}

void *lt_workers_watch(void *arg) {
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
      /* A step that polls would have ended its slice, as others wait. */
      stuck += age_ns >= LT_WORKER_STUCK_MS * LT_NS_PER_MS;
      long_steps += age_ns >= LT_WATCHDOG_TICK_MS * LT_NS_PER_MS;
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
