#include "runner/quickjs/guest_timers.h"

#include "base/mem.h"
#include "runner/quickjs/run.h"

struct lt_guest_timer {
  lt_run_open open; /* first */
  uint64_t ms;
  uint64_t due_us; /* when it fires, by the guest's clock */
  /* Used by the worker. */
  lt_guest_timer *next;
  lt_guest_timer **link;
  /* Used by the loop. */
  lt_timer *timer; /* while it runs */
  lt_guest_timer *next_ticking;
  lt_guest_timer **ticking_link;
  lt_post drop_post;
};

static lt_guest_timer *timer_of(lt_run_open *open) {
  return (lt_guest_timer *)(void *)open;
}

/* --- On the worker ------------------------------------------------------------------------------------------------ */
static void on_timer_start(void *arg);
static void on_timer_drop(void *arg);

static void timers_link(lt_run *run, lt_guest_timer *t) {
  t->next = run->timers.first;
  t->link = &run->timers.first;
  if (t->next != NULL) {
    t->next->link = &t->next;
  }
  run->timers.first = t;
  run->timers.count++;
}

static void timers_unlink(lt_run *run, lt_guest_timer *t) {
  *t->link = t->next;
  if (t->next != NULL) {
    t->next->link = t->link;
  }
  run->timers.count--;
}

static lt_guest_timer *timers_find(const lt_run *run, uint32_t id) {
  lt_guest_timer *t = run->timers.first;
  while (t != NULL && t->open.id != id) {
    t = t->next;
  }
  return t;
}

/* Finds a timer that has been running since before the program was dropped. */
static lt_guest_timer *timers_find_ticking(const lt_run *run) {
  return run->tape.options.drops ? timers_find(run, lt_run_opens_next(run) * 2 - 1) : NULL;
}

uint32_t lt_guest_timers_open(lt_run *run, uint64_t ms) {
  lt_guest_timer *t = timers_find_ticking(run);
  if (t != NULL) {
    lt_run_opens_add_known(run, &t->open, false, LT_TAPE_NOWHERE);
    return t->open.id;
  }
  t = run->timers.count < LT_RUN_TIMERS_MAX ? lt_mem_zalloc(1, sizeof *t) : NULL;
  if (t == NULL) {
    return 0;
  }
  t->open.is_timer = true;
  t->ms = ms;
  t->due_us = run->tape.now_us + ms * 1000;
  timers_link(run, t);
  pthread_mutex_lock(&run->lock);
  uint32_t place = lt_tape_place(&run->tape, lt_run_opens_next(run) * 2 - 1);
  pthread_mutex_unlock(&run->lock);
  if (place != LT_TAPE_NOWHERE) {
    lt_run_opens_add_known(run, &t->open, true, place);
  } else {
    lt_run_opens_add(run, &t->open, on_timer_start);
  }
  return t->open.id;
}

void lt_guest_timers_rewind(lt_run *run) {
  for (lt_guest_timer *t = run->timers.first; t != NULL; t = t->next) {
    t->open.is_opened = false;
  }
}

void lt_guest_timers_taken(lt_run *run, lt_run_open *open) {
  timers_unlink(run, timer_of(open));
  lt_mem_free(open);
}

void lt_guest_timers_drop(lt_run *run, uint32_t id) {
  lt_guest_timer *t = timers_find(run, id);
  if (t == NULL) {
    return;
  }
  timers_unlink(run, t);
  if (lt_run_opens_drop(run, &t->open)) {
    lt_mem_free(t);
    return;
  }
  /* The loop uses the timer and frees it. */
  t->drop_post = (lt_post){.fn = on_timer_drop, .arg = t};
  lt_lane_post(run->lane, &t->drop_post);
}

/* --- On the loop -------------------------------------------------------------------------------------------------- */
static void timers_link_ticking(lt_run *run, lt_guest_timer *t) {
  t->next_ticking = run->timers.ticking;
  t->ticking_link = &run->timers.ticking;
  if (t->next_ticking != NULL) {
    t->next_ticking->ticking_link = &t->next_ticking;
  }
  run->timers.ticking = t;
}

static void timers_stop_ticking(lt_guest_timer *t) {
  if (t->timer == NULL) {
    return;
  }
  lt_timer_free(t->timer);
  t->timer = NULL;
  *t->ticking_link = t->next_ticking;
  if (t->next_ticking != NULL) {
    t->next_ticking->ticking_link = t->ticking_link;
  }
}

static void on_timer_due(void *arg) {
  lt_guest_timer *t = arg;
  timers_stop_ticking(t);
  lt_run_opens_ready(t->open.run, &t->open, LT_OK, LT_STR_NULL);
}

/* Without memory for a loop timer, it fires at once. */
static void on_timer_start(void *arg) {
  lt_guest_timer *t = arg;
  lt_run *run = t->open.run;
  if (lt_timer_new(run->loop, on_timer_due, t, &t->timer, NULL) != LT_OK) {
    on_timer_due(t);
    return;
  }
  timers_link_ticking(run, t);
  lt_timer_start(t->timer, t->ms);
}

/* The list begins with the newest timer. Of timers with the same time the oldest fires first. */
static void timers_reverse_ticking(lt_run *run) {
  lt_guest_timer *rest = run->timers.ticking;
  run->timers.ticking = NULL;
  while (rest != NULL) {
    lt_guest_timer *t = rest;
    rest = t->next_ticking;
    timers_link_ticking(run, t);
  }
}

static uint64_t timers_first_due_us(const lt_run *run) {
  uint64_t first = UINT64_MAX;
  for (const lt_guest_timer *t = run->timers.ticking; t != NULL; t = t->next_ticking) {
    first = t->due_us < first ? t->due_us : first;
  }
  return first;
}

/* The clock includes the time without a process, but not beyond the first timer: the others keep their distance to it.
 * When the clock was set back, no timer takes longer than its full time. */
static void on_catch_up(void *arg) {
  lt_run *run = arg;
  uint64_t elapsed = lt_tape_elapsed_us(&run->tape), first = timers_first_due_us(run);
  uint64_t now = elapsed < first ? elapsed : first;
  timers_reverse_ticking(run);
  for (lt_guest_timer *t = run->timers.ticking; t != NULL; t = t->next_ticking) {
    uint64_t left = (t->due_us - now + 999) / 1000;
    lt_timer_start(t->timer, left < t->ms ? left : t->ms);
  }
}

/* Posted under the lock, so that it comes before anything with which the run can end. */
void lt_guest_timers_catch_up(lt_run *run) {
  const lt_run_opens *opens = &run->opens;
  bool waits_for_timers = opens->is_parked && opens->ticking_count > 0 && opens->ticking_count == opens->open_count;
  if (run->tape.is_recalled && !run->timers.has_caught_up && waits_for_timers) {
    run->timers.has_caught_up = true;
    run->timers.catch_up_post = (lt_post){.fn = on_catch_up, .arg = run};
    lt_lane_post(run->lane, &run->timers.catch_up_post);
  }
}

static void on_timer_drop(void *arg) {
  lt_guest_timer *t = arg;
  timers_stop_ticking(t);
  lt_mem_free(t);
}

void lt_guest_timers_release(lt_run *run) {
  while (run->timers.ticking != NULL) {
    timers_stop_ticking(run->timers.ticking);
  }
  while (run->timers.first != NULL) {
    lt_guest_timer *t = run->timers.first;
    timers_unlink(run, t);
    lt_mem_free(t);
  }
}
