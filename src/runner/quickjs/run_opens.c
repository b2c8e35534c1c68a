#include "runner/quickjs/run_opens.h"

#include "runner/quickjs/run.h"

/* --- On the worker ------------------------------------------------------------------------------------------------ */
void lt_run_opens_init(lt_run *run) {
  run->opens = (lt_run_opens){.last_ready = &run->opens.ready};
}

uint32_t lt_run_opens_next(const lt_run *run) {
  return run->opens.last_number + 1;
}

static uint32_t opens_take_id(lt_run *run, const lt_run_open *open) {
  return ++run->opens.last_number * 2 - open->is_timer;
}

void lt_run_opens_add(lt_run *run, lt_run_open *open, void (*start_on_loop)(void *arg)) {
  open->run = run;
  open->id = opens_take_id(run, open);
  open->post = (lt_post){.fn = start_on_loop, .arg = open};
  open->is_opened = true;
  open->place = LT_TAPE_NOWHERE;
  pthread_mutex_lock(&run->lock);
  run->opens.open_count++;
  run->opens.ticking_count += open->is_timer;
  pthread_mutex_unlock(&run->lock);
  lt_lane_post(run->lane, &open->post);
}

/* The last element of a list that is not empty. */
static const lt_run_open *opens_last_ready(const lt_run *run) {
  return (const lt_run_open *)(const void *)((const char *)run->opens.last_ready - offsetof(lt_run_open, next_ready));
}

/* Inserts by the place on the tape. An element without a place goes to the end, where most others belong, too. Under
 * the lock. */
static void opens_list(lt_run *run, lt_run_open *open) {
  lt_run_open **link = run->opens.last_ready;
  if (open->place != LT_TAPE_NOWHERE && run->opens.ready != NULL && opens_last_ready(run)->place > open->place) {
    link = &run->opens.ready;
    while (*link != NULL && (*link)->place < open->place) {
      link = &(*link)->next_ready;
    }
  }
  open->next_ready = *link;
  *link = open;
  if (open->next_ready == NULL) {
    run->opens.last_ready = &open->next_ready;
  }
  run->opens.ready_count++;
}

void lt_run_opens_add_known(lt_run *run, lt_run_open *open, bool is_ready, uint32_t place) {
  uint32_t id = opens_take_id(run, open);
  if (open->run == NULL) { /* otherwise the loop may be reading it */
    open->run = run;
    open->id = id;
  }
  pthread_mutex_lock(&run->lock);
  open->is_opened = true;
  open->is_ready |= is_ready;
  open->place = is_ready ? place : open->place;
  run->opens.open_count++;
  run->opens.ticking_count += open->is_timer && !open->is_ready;
  if (open->is_ready) {
    opens_list(run, open);
  }
  pthread_mutex_unlock(&run->lock);
}

/* Removes from the list of ready elements. Under the lock. */
static void opens_unlink(lt_run *run, lt_run_open **link) {
  lt_run_open *open = *link;
  *link = open->next_ready;
  if (*link == NULL) {
    run->opens.last_ready = link;
  }
  run->opens.open_count--;
  run->opens.ready_count--;
}

bool lt_run_opens_drop(lt_run *run, lt_run_open *open) {
  pthread_mutex_lock(&run->lock);
  lt_run_open **link = &run->opens.ready;
  while (*link != NULL && *link != open) {
    link = &(*link)->next_ready;
  }
  bool was_ready = *link != NULL;
  lt_tape_dropped(&run->tape, lt_tape_place(&run->tape, open->id));
  if (was_ready) {
    opens_unlink(run, link);
  } else {
    open->is_dropped = true;
    run->opens.open_count--;
    run->opens.ticking_count -= open->is_timer;
  }
  pthread_mutex_unlock(&run->lock);
  return was_ready;
}

/* The ready element that the program waits for; NULL: none. Under the lock. */
static lt_run_open *opens_take(lt_run *run, uint32_t id) {
  for (lt_run_open **link = &run->opens.ready; *link != NULL; link = &(*link)->next_ready) {
    lt_run_open *open = *link;
    if (id == 0 || open->id == id) {
      opens_unlink(run, link);
      lt_tape_taken(&run->tape, open->place);
      return open;
    }
  }
  return NULL;
}

lt_run_open *lt_run_opens_wait(lt_run *run, uint32_t id) {
  for (;;) {
    if (atomic_load(&run->task.stop) != LT_STOP_NOT) { /* checked before the answer: it does not continue */
      return NULL;
    }
    pthread_mutex_lock(&run->lock);
    lt_run_open *open = opens_take(run, id);
    bool is_over = open != NULL || run->opens.open_count == 0;
    run->opens.waiting = is_over ? LT_WAIT_NOTHING : id == 0 ? LT_WAIT_ANY : LT_WAIT_ONE;
    run->opens.waiting_id = id;
    pthread_mutex_unlock(&run->lock);
    if (is_over) {
      return open;
    }
    if (run->tape.options.drops) {
      run->box.is_dropping = true;
      return NULL;
    }
    run->box.step = LT_STEP_PARK;
    lt_fiber_yield();
  }
}

static bool opens_is_waited_for(const lt_run *run, const lt_run_open *open) {
  return run->opens.waiting == LT_WAIT_ANY || (run->opens.waiting == LT_WAIT_ONE && open->id == run->opens.waiting_id);
}

/* Whether the parked program can go on. Under the lock. */
static bool opens_has_answer(const lt_run *run) {
  const lt_run_open *open = run->opens.ready;
  while (open != NULL && !opens_is_waited_for(run, open)) {
    open = open->next_ready;
  }
  return open != NULL;
}

void lt_run_opens_park(lt_run *run) {
  pthread_mutex_lock(&run->lock);
  bool goes_on = opens_has_answer(run) || atomic_load(&run->task.stop) != LT_STOP_NOT;
  run->opens.is_parked = !goes_on;
  run->opens.on_parked(run);
  lt_run_clock_update(run); /* the clock may stop now, which it does only while the program is parked */
  pthread_mutex_unlock(&run->lock);
  if (goes_on) {
    lt_run_box_resume(run);
  }
}

void lt_run_opens_rewind(lt_run *run) {
  lt_run_opens *opens = &run->opens;
  opens->ready = NULL;
  opens->last_ready = &opens->ready;
  opens->open_count = opens->ready_count = opens->ticking_count = 0;
  opens->waiting = LT_WAIT_NOTHING;
  opens->last_number = 0;
}

/* --- On the loop -------------------------------------------------------------------------------------------------- */
/* Appends it to the tape before the program can take it. */
static void opens_record(lt_run *run, lt_run_open *open, lt_status status, lt_str text) {
  pthread_mutex_lock(&run->lock);
  open->place = open->is_dropped ? LT_TAPE_NOWHERE : lt_tape_append(&run->tape, open->id);
  pthread_mutex_unlock(&run->lock);
  lt_tape_note_ready(&run->tape, open->place, status, text);
}

/* A program that began again may not have opened it yet: then it is ready as soon as it is opened. Under the lock. */
static bool opens_list_ready(lt_run *run, lt_run_open *open) {
  open->is_ready = true;
  if (open->is_opened) {
    run->opens.ticking_count -= open->is_timer;
    opens_list(run, open);
  }
  return open->is_opened;
}

void lt_run_opens_ready(lt_run *run, lt_run_open *open, lt_status status, lt_str text) {
  bool wakes = false, has_moved = false;
  if (run->tape.is_on) {
    opens_record(run, open, status, text);
  }
  pthread_mutex_lock(&run->lock);
  if (!open->is_dropped && opens_list_ready(run, open)) {
    wakes = run->opens.is_parked && opens_is_waited_for(run, open);
    run->opens.is_parked = run->opens.is_parked && !wakes;
    has_moved = lt_run_clock_update(run);
  }
  pthread_mutex_unlock(&run->lock);
  if (has_moved) {
    lt_run_clock_follow(run);
  }
  if (wakes) {
    lt_run_rests_wake(run);
    lt_run_box_resume(run);
  }
}
