#include "sandbox/pool.h"

void lt_pool_init(lt_pool *pool, const lt_image *image, const lt_pool_limits *limits) {
  *pool = (lt_pool){.image = image, .limits = *limits, .most = limits->most};
  if (limits->budget == NULL) {
    pool->limits.budget = &pool->own;
  }
  pthread_mutex_init(&pool->lock, NULL);
  lt_box_shelf_init(&pool->shelf);
}

/* --- The lists of clean boxes, under the lock --------------------------------------------------------------------- */
static lt_pool_list *pool_list_of(lt_pool *pool, const lt_box *box) {
  return box->place.rests > 0 ? &pool->homes : &pool->clean;
}

static void pool_count_bytes(lt_pool *pool, const lt_box *box, size_t more) {
  atomic_fetch_add(&pool->limits.budget->bytes, more);
  pool->home_bytes += box->place.rests > 0 ? more : 0;
}

/* The newest comes first: its pages are the likeliest to be in the processor's caches. */
static void pool_push(lt_pool *pool, lt_box *box) {
  lt_pool_list *list = pool_list_of(pool, box);
  lt_box_place *place = &box->place;
  place->prev = NULL;
  place->next = list->first;
  *(list->first != NULL ? &list->first->place.prev : &list->last) = box;
  list->first = box;
  list->count++;
  place->is_listed = true;
  pool_count_bytes(pool, box, box->kept_bytes);
}

static lt_box *pool_unlink(lt_pool *pool, lt_box *box) {
  lt_pool_list *list = pool_list_of(pool, box);
  lt_box_place *place = &box->place;
  *(place->prev != NULL ? &place->prev->place.next : &list->first) = place->next;
  *(place->next != NULL ? &place->next->place.prev : &list->last) = place->prev;
  place->prev = place->next = NULL;
  place->is_listed = false;
  list->count--;
  pool->least = pool->clean.count < pool->least ? pool->clean.count : pool->least;
  pool_count_bytes(pool, box, -box->kept_bytes);
  return box;
}

static lt_box *pool_pop(lt_pool *pool, lt_pool_list *list) {
  return list->first != NULL ? pool_unlink(pool, list->first) : NULL;
}

/* --- Waiting, under the lock -------------------------------------------------------------------------------------- */
static lt_pool_waiter **pool_first_of(lt_pool *pool, const lt_pool_waiter *waiter) {
  return waiter->home != NULL ? &waiter->home->place.first_waiting : &pool->first_waiting;
}

static lt_pool_waiter **pool_last_of(lt_pool *pool, const lt_pool_waiter *waiter) {
  return waiter->home != NULL ? &waiter->home->place.last_waiting : &pool->last_waiting;
}

static void pool_note_wanted(const lt_pool_waiter *waiter) {
  if (waiter->home != NULL) {
    atomic_store(&waiter->home->place.is_wanted, waiter->home->place.first_waiting != NULL);
  }
}

static void pool_enqueue(lt_pool *pool, lt_pool_waiter *waiter) {
  lt_pool_waiter **last = pool_last_of(pool, waiter);
  waiter->is_waiting = true;
  waiter->next = NULL;
  waiter->prev = *last;
  *(waiter->prev != NULL ? &waiter->prev->next : pool_first_of(pool, waiter)) = waiter;
  *last = waiter;
  pool_note_wanted(waiter);
}

static lt_pool_waiter *pool_dequeue(lt_pool *pool, lt_pool_waiter *waiter) {
  *(waiter->prev != NULL ? &waiter->prev->next : pool_first_of(pool, waiter)) = waiter->next;
  *(waiter->next != NULL ? &waiter->next->prev : pool_last_of(pool, waiter)) = waiter->prev;
  waiter->is_waiting = false;
  waiter->prev = waiter->next = NULL;
  pool_note_wanted(waiter);
  return waiter;
}

/* Who gets a box that has become free. Programs at rest come first: they need this one. */
static lt_pool_waiter *pool_next_waiter(lt_pool *pool, const lt_box *box) {
  lt_pool_waiter *first = box->place.first_waiting != NULL ? box->place.first_waiting : pool->first_waiting;
  return first != NULL ? pool_dequeue(pool, first) : NULL;
}

/* A box that could not be cleaned has to be mapped anew. Rare, so the lock is held meanwhile. */
static bool pool_is_usable(lt_box *box) {
  return (box->trap == LT_TRAP_NONE && atomic_load(&box->state) == LT_BOX_HOST) || lt_box_renew(box);
}

/* --- Taking ------------------------------------------------------------------------------------------------------- */
/* One box less. Returns the waiters who must take again: without any box nobody would ever wake them. Linked by `next`.
 */
static lt_pool_waiter *pool_forget_box(lt_pool *pool) {
  pool->made--;
  if (pool->made > 0) {
    return NULL;
  }
  lt_pool_waiter *all = pool->first_waiting;
  for (lt_pool_waiter *waiter = all; waiter != NULL; waiter = waiter->next) {
    waiter->is_waiting = false;
  }
  pool->first_waiting = pool->last_waiting = NULL;
  return all;
}

static void pool_wake_all(lt_pool_waiter *waiter) {
  while (waiter != NULL) {
    lt_pool_waiter *next = waiter->next; /* its owner may reuse it at once */
    waiter->box = NULL;
    waiter->on_box(waiter);
    waiter = next;
  }
}

/* The system has no room for another box. Those that there are will come back, so others wait for them. */
static lt_status pool_learn_limit(lt_pool *pool, lt_status status) {
  pthread_mutex_lock(&pool->lock);
  pool->given++;
  lt_pool_waiter *woken = pool_forget_box(pool);
  bool is_worth_waiting = pool->made > 0;
  if (is_worth_waiting) {
    pool->most = pool->made;
  }
  pthread_mutex_unlock(&pool->lock);
  pool_wake_all(woken);
  return is_worth_waiting ? LT_E_LIMIT : status;
}

/* Of another program, which is at rest. */
static lt_box *pool_pop_home(lt_pool *pool) {
  lt_box *box = pool_pop(pool, &pool->homes);
  if (box != NULL && !pool_is_usable(box)) {
    pool_push(pool, box);
    return NULL;
  }
  return box;
}

lt_status lt_pool_take(lt_pool *pool, lt_box **ret_box, lt_err *err) {
  pthread_mutex_lock(&pool->lock);
  lt_box *box = pool_pop(pool, &pool->clean);
  bool has_few = pool->made < LT_BOX_CROWD && pool->made < pool->most;
  box = box != NULL || has_few ? box : pool_pop_home(pool);
  bool makes = box == NULL && pool->made < pool->most;
  pool->made += makes;
  pool->has_more = pool->has_more || pool->taken > 0;
  pool->taken += makes || box != NULL;
  unsigned most = pool->most;
  pthread_mutex_unlock(&pool->lock);
  if (makes) {
    lt_status status = lt_box_new(pool->image, ret_box, err);
    return status == LT_OK ? LT_OK : pool_learn_limit(pool, status);
  }
  if (box == NULL) {
    return lt_fail(err, LT_E_LIMIT, "%u programs run at once, and there is no room for another", most);
  }
  *ret_box = box;
  return LT_OK;
}

bool lt_pool_lacks_clean(lt_pool *pool, bool *ret_is_small) {
  pthread_mutex_lock(&pool->lock);
  bool lacks = pool->clean.count == 0;
  pool->has_more = pool->has_more || pool->taken > 0;
  *ret_is_small = pool->has_more && pool->made < LT_BOX_AHEAD;
  pthread_mutex_unlock(&pool->lock);
  return lacks;
}

/* The rest of a program has ended: it has its box. NULL: another program has it. */
static lt_box *pool_unlist_home(lt_pool *pool, lt_box *home) {
  if (!home->place.is_listed || !pool_is_usable(home)) {
    return NULL;
  }
  pool_unlink(pool, home);
  home->place.rests--;
  return home;
}

lt_status lt_pool_take_home(lt_pool *pool, lt_box *home, lt_err *err) {
  pthread_mutex_lock(&pool->lock);
  bool is_used = !home->place.is_listed;
  bool is_taken = pool_unlist_home(pool, home) != NULL;
  pool->taken += is_taken;
  pthread_mutex_unlock(&pool->lock);
  if (is_taken) {
    return LT_OK;
  }
  return is_used ? lt_fail(err, LT_E_LIMIT, "the program's memory is in use by another program")
                 : lt_fail(err, LT_E_NOMEM, "no memory to continue a program that was waiting");
}

bool lt_pool_wait(lt_pool *pool, lt_pool_waiter *waiter) {
  pthread_mutex_lock(&pool->lock);
  waiter->box = waiter->home != NULL ? pool_unlist_home(pool, waiter->home) : pool_pop(pool, &pool->clean);
  bool is_used = waiter->home != NULL ? !waiter->home->place.is_listed : pool->made >= pool->most;
  bool waits = waiter->box == NULL && is_used;
  pool->taken += waiter->box != NULL;
  if (waits) {
    pool_enqueue(pool, waiter);
  }
  pthread_mutex_unlock(&pool->lock);
  return waits;
}

bool lt_pool_forget(lt_pool *pool, lt_pool_waiter *waiter) {
  pthread_mutex_lock(&pool->lock);
  bool was_waiting = waiter->is_waiting;
  if (was_waiting) {
    pool_dequeue(pool, waiter);
  }
  pthread_mutex_unlock(&pool->lock);
  return was_waiting;
}

/* --- Giving back -------------------------------------------------------------------------------------------------- */
static bool pool_has_room(const lt_pool *pool, size_t bytes) {
  return atomic_load(&pool->limits.budget->bytes) + bytes <= LT_BOX_POOL_MAX_BYTES;
}

/* A process that runs one program does not clean its box: that would cost 0.3 ms of `lathe run`, mostly page faults. */
static bool pool_is_worth_cleaning(lt_pool *pool, const lt_box *box) {
  pthread_mutex_lock(&pool->lock);
  bool is_needed = pool->first_waiting != NULL || box->place.rests > 0;
  bool is_worth = is_needed || (pool->has_more && pool_has_room(pool, 0));
  pthread_mutex_unlock(&pool->lock);
  return is_worth;
}

static void pool_drop(lt_pool *pool, lt_box *box) {
  lt_box_free(box);
  pthread_mutex_lock(&pool->lock);
  pool->given++;
  lt_pool_waiter *woken = pool_forget_box(pool);
  if (woken == NULL && pool->first_waiting != NULL) {
    woken = pool_dequeue(pool, pool->first_waiting); /* there may be room for a new box now */
  }
  pthread_mutex_unlock(&pool->lock);
  pool_wake_all(woken);
}

/* Under the lock. A home is kept in any case, but its memory need not be. */
static bool pool_keep(lt_pool *pool, lt_box *box, bool is_clean) {
  bool has_room = pool_has_room(pool, box->kept_bytes);
  if (box->place.rests == 0 && (!is_clean || !has_room)) {
    return false;
  }
  if (is_clean && !has_room) {
    lt_box_empty(box);
  }
  pool_push(pool, box);
  return true;
}

static void pool_put_back(lt_pool *pool, lt_box *box, bool is_clean) {
  pthread_mutex_lock(&pool->lock);
  is_clean = is_clean || (box->place.rests > 0 && pool_is_usable(box));
  lt_pool_waiter *waiter = is_clean ? pool_next_waiter(pool, box) : NULL;
  bool is_kept = waiter == NULL && pool_keep(pool, box, is_clean);
  if (waiter != NULL) {
    waiter->box = box;
    box->place.rests -= waiter->home != NULL;
    pool->taken++;
  }
  pool->given += waiter != NULL || is_kept;
  pool->cleaned += waiter != NULL || is_kept;
  pthread_mutex_unlock(&pool->lock);
  if (waiter != NULL) {
    waiter->on_box(waiter);
  } else if (!is_kept) {
    pool_drop(pool, box);
  }
}

void lt_pool_make_ahead(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool makes = pool->made < LT_BOX_AHEAD && pool->made < pool->most;
  pool->made += makes;
  pool->taken += makes;
  pthread_mutex_unlock(&pool->lock);
  lt_box *box = NULL;
  if (makes && lt_box_new(pool->image, &box, NULL) != LT_OK) {
    (void)pool_learn_limit(pool, LT_E_NOMEM);
  } else if (makes) {
    pool_put_back(pool, box, true);
  }
}

void lt_pool_give(lt_pool *pool, lt_box *box) {
  pool_put_back(pool, box, pool_is_worth_cleaning(pool, box) && lt_box_clean(box));
}

void lt_pool_rest(lt_pool *pool, lt_box *box) {
  pthread_mutex_lock(&pool->lock);
  box->place.rests++;
  pthread_mutex_unlock(&pool->lock);
  pool_put_back(pool, box, false); /* it is clean, or has to be renewed: see pool_is_usable */
}

void lt_pool_leave(lt_pool *pool, lt_box *home) {
  pthread_mutex_lock(&pool->lock);
  bool was_listed = home->place.is_listed;
  if (was_listed) {
    pool_unlink(pool, home);
  }
  home->place.rests--;
  if (was_listed) {
    pool_push(pool, home);
  }
  pthread_mutex_unlock(&pool->lock);
}

/* A process that runs one program makes no other box. */
void lt_pool_learn(lt_pool *pool, const lt_box *box) {
  if (atomic_load_explicit(&pool->image->hot->waiting, memory_order_relaxed) >= LT_IMAGE_SAMPLES) {
    return;
  }
  pthread_mutex_lock(&pool->lock);
  bool has_others = pool->made > 1;
  pthread_mutex_unlock(&pool->lock);
  if (has_others) {
    lt_box_learn(box);
  }
}

bool lt_pool_is_short(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  uint64_t used = pool->taken - pool->given;
  bool is_short = pool->first_waiting != NULL || used > pool->most / 4 * 3;
  pthread_mutex_unlock(&pool->lock);
  return is_short;
}

bool lt_pool_is_crowded(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool is_crowded = pool->made >= LT_BOX_CROWD && pool->clean.count + pool->homes.count < LT_BOX_CROWD_FREE;
  pthread_mutex_unlock(&pool->lock);
  return is_crowded;
}

/* --- Trimming ----------------------------------------------------------------------------------------------------- */
/* Takes the boxes that are freed out of the list, those first that were used the longest ago. Linked by `next`. */
static lt_box *pool_take_unneeded(lt_pool *pool) {
  lt_box *all = NULL;
  unsigned unneeded = pool->least < LT_BOX_TRIM ? pool->least : LT_BOX_TRIM;
  for (unsigned i = 0; i < unneeded && pool->clean.count > pool->limits.keep; i++) {
    lt_box *box = pool_unlink(pool, pool->clean.last);
    box->place.next = all;
    all = box;
    pool->made--;
  }
  pool->least = pool->clean.count;
  return all;
}

/* Homes cannot be freed, but their memory can be. Those that were used the longest ago are last. */
static void pool_empty_homes(lt_pool *pool) {
  unsigned left = LT_BOX_TRIM;
  for (lt_box *box = pool->homes.last; box != NULL && left > 0; box = box->place.prev) {
    if (box->kept_bytes > 0) {
      size_t held = box->kept_bytes;
      lt_box_empty(box);
      pool_count_bytes(pool, box, box->kept_bytes - held);
      left--;
    }
  }
}

void lt_pool_trim(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  lt_box *unneeded = pool_take_unneeded(pool);
  pool_empty_homes(pool);
  pool->most = pool->limits.most;
  pthread_mutex_unlock(&pool->lock);
  while (unneeded != NULL) {
    lt_box *box = unneeded;
    unneeded = box->place.next;
    lt_box_free(box);
  }
  lt_box_shelf_trim(&pool->shelf);
}

bool lt_pool_can_trim(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool has_spare = pool->clean.count > pool->limits.keep || pool->home_bytes > 0 || pool->taken > pool->given;
  bool can_trim = has_spare && pool->made > pool->limits.keep;
  pthread_mutex_unlock(&pool->lock);
  return can_trim || lt_box_shelf_has_any(&pool->shelf);
}

void lt_pool_release(lt_pool *pool) {
  LT_CHECK(pool->first_waiting == NULL && pool->homes.count == 0);
  for (lt_box *box = pool_pop(pool, &pool->clean); box != NULL; box = pool_pop(pool, &pool->clean)) {
    lt_box_free(box);
  }
  lt_box_shelf_release(&pool->shelf);
  pthread_mutex_destroy(&pool->lock);
}

lt_pool_counts lt_pool_count(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  lt_pool_counts counts = {.used = pool->taken - pool->given,
                           .pooled = pool->clean.count + pool->homes.count,
                           .taken = pool->taken,
                           .cleaned = pool->cleaned};
  pthread_mutex_unlock(&pool->lock);
  return counts;
}
