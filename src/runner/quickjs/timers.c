/* Timers of a program: started on the worker, ticking on the loop, their outcome taken or dropped on the worker.
 *
 * A program may use millions of them one after another, so that each is gone when it has been taken. Until then it is
 * in the worker's list; while it ticks also in the loop's. */
#include "base/mem.h"
#include "runner/quickjs/tape.h"

struct lt_run_timer {
  lt_run_open open; /* first */
  uint64_t ms;
  uint64_t due_us; /* of runs with a tape: when it goes off, by the guest's clock */
  /* The worker's. */
  lt_run_timer *next;
  lt_run_timer **place;
  /* The loop's. */
  lt_timer *timer; /* while it ticks */
  lt_run_timer *next_ticking;
  lt_run_timer **ticking_place;
  lt_post drop_post;
};

static lt_run_timer *timer_of(lt_run_open *open) {
  return (lt_run_timer *)(void *)open;
}

/* --- On the worker ------------------------------------------------------------------------------------------------ */
static void start_on_loop(void *arg);
static void drop_on_loop(void *arg);

static void link_timer(lt_run *run, lt_run_timer *t) {
  t->next = run->timers;
  t->place = &run->timers;
  if (t->next != NULL) {
    t->next->place = &t->next;
  }
  run->timers = t;
  run->timer_count++;
}

static void unlink_timer(lt_run *run, lt_run_timer *t) {
  *t->place = t->next;
  if (t->next != NULL) {
    t->next->place = t->place;
  }
  run->timer_count--;
}

static lt_run_timer *find(const lt_run *run, uint32_t id) {
  lt_run_timer *t = run->timers;
  while (t != NULL && t->open.id != id) {
    t = t->next;
  }
  return t;
}

/* One that ticks since before the program was dropped. */
static lt_run_timer *find_ticking(const lt_run *run) {
  return run->tape != NULL ? find(run, run->last_id * 2 + 1) : NULL;
}

uint32_t lt_run_open_timer(lt_run *run, uint64_t ms) {
  lt_run_timer *t = find_ticking(run);
  if (t != NULL) {
    lt_run_add_known(run, &t->open, false, LT_TAPE_NOWHERE);
    return t->open.id;
  }
  t = run->timer_count < LT_RUN_TIMERS_MAX ? lt_mem_zalloc(1, sizeof *t) : NULL;
  if (t == NULL) {
    return 0;
  }
  t->open.is_timer = true;
  t->ms = ms;
  link_timer(run, t);
  uint32_t place = LT_TAPE_NOWHERE;
  if (run->tape != NULL) {
    t->due_us = run->tape->now_us + ms * 1000;
    pthread_mutex_lock(&run->lock);
    place = lt_tape_place(run->tape, run->last_id * 2 + 1);
    pthread_mutex_unlock(&run->lock);
  }
  if (place != LT_TAPE_NOWHERE) {
    lt_run_add_known(run, &t->open, true, place);
  } else {
    lt_run_add_open(run, &t->open, start_on_loop);
  }
  return t->open.id;
}

/* A timer that is there to be taken ticks no more. */
void lt_run_timers_forget(lt_run *run) {
  for (lt_run_timer *t = run->timers; t != NULL; t = t->next) {
    t->open.here = false;
  }
}

void lt_run_timer_taken(lt_run *run, lt_run_open *open) {
  unlink_timer(run, timer_of(open));
  lt_mem_free(open);
}

void lt_run_drop_timer(lt_run *run, uint32_t id) {
  lt_run_timer *t = find(run, id);
  if (t == NULL) {
    return;
  }
  unlink_timer(run, t);
  if (lt_run_drop_open(run, &t->open)) {
    lt_mem_free(t);
    return;
  }
  /* The loop has it: it comes back when the loop has heard of it. */
  t->drop_post = (lt_post){.fn = drop_on_loop, .arg = t};
  lt_loop_post(run->loop, &t->drop_post);
}

/* --- On the loop -------------------------------------------------------------------------------------------------- */
static void link_ticking(lt_run *run, lt_run_timer *t) {
  t->next_ticking = run->ticking;
  t->ticking_place = &run->ticking;
  if (t->next_ticking != NULL) {
    t->next_ticking->ticking_place = &t->next_ticking;
  }
  run->ticking = t;
}

static void stop_ticking(lt_run_timer *t) {
  if (t->timer == NULL) {
    return;
  }
  lt_timer_free(t->timer);
  t->timer = NULL;
  *t->ticking_place = t->next_ticking;
  if (t->next_ticking != NULL) {
    t->next_ticking->ticking_place = t->ticking_place;
  }
}

static void on_time(void *arg) {
  lt_run_timer *t = arg;
  stop_ticking(t);
  lt_run_ready(t->open.run, &t->open);
}

/* Without memory for a timer it is over at once. */
static void start_on_loop(void *arg) {
  lt_run_timer *t = arg;
  lt_run *run = t->open.run;
  if (lt_timer_new(run->loop, on_time, t, &t->timer, NULL) != LT_OK) {
    on_time(t);
    return;
  }
  link_ticking(run, t);
  lt_timer_start(t->timer, t->ms);
}

/* The last one set is the first of the list; of those that go off at the same time the first one set is to be first. */
static void reverse_ticking(lt_run *run) {
  lt_run_timer *rest = run->ticking;
  run->ticking = NULL;
  while (rest != NULL) {
    lt_run_timer *t = rest;
    rest = t->next_ticking;
    link_ticking(run, t);
  }
}

static uint64_t first_due_us(const lt_run *run) {
  uint64_t first = UINT64_MAX;
  for (const lt_run_timer *t = run->ticking; t != NULL; t = t->next_ticking) {
    first = t->due_us < first ? t->due_us : first;
  }
  return first;
}

/* The clock counts the time in which no process was there, but not beyond the first timer: the others keep their
 * distance to it. It may have been set back, and then they take no longer than they were to. */
static void catch_up(void *arg) {
  lt_run *run = arg;
  uint64_t elapsed = lt_tape_elapsed_us(run->tape), first = first_due_us(run);
  uint64_t now = elapsed < first ? elapsed : first;
  reverse_ticking(run);
  for (lt_run_timer *t = run->ticking; t != NULL; t = t->next_ticking) {
    uint64_t left = (t->due_us - now + 999) / 1000;
    lt_timer_start(t->timer, left < t->ms ? left : t->ms);
  }
}

/* Posted under the lock, so that it comes before anything with which the run can end. */
void lt_run_timers_catch_up(lt_run *run) {
  lt_tape *tape = run->tape;
  if (tape != NULL && tape->behind && run->parked && run->ticking_count > 0 && run->ticking_count == run->open_count) {
    tape->behind = false;
    tape->catch_up_post = (lt_post){.fn = catch_up, .arg = run};
    lt_loop_post(run->loop, &tape->catch_up_post);
  }
}

static void drop_on_loop(void *arg) {
  lt_run_timer *t = arg;
  stop_ticking(t);
  lt_mem_free(t);
}

void lt_run_timers_release(lt_run *run) {
  while (run->ticking != NULL) {
    stop_ticking(run->ticking);
  }
  while (run->timers != NULL) {
    lt_run_timer *t = run->timers;
    unlink_timer(run, t);
    lt_mem_free(t);
  }
}
