#include "sandbox/pool.h"

void lt_pool_init(lt_pool *pool, const lt_image *image, const lt_pool_limits *limits) {
  *pool = (lt_pool){.image = image, .limits = *limits, .most = limits->most};
  if (limits->budget == NULL) {
    pool->limits.budget = &pool->own;
  }
  pthread_mutex_init(&pool->lock, NULL);
}

/* --- The list of clean boxes, under the lock ---------------------------------------------------------------------- */
/* The newest comes first: its pages are the likeliest to be in the processor's caches. */
static void pool_push(lt_pool *pool, lt_box *box) {
  lt_pool_list *list = &pool->clean;
  box->prev = NULL;
  box->next = list->first;
  *(list->first != NULL ? &list->first->prev : &list->last) = box;
  list->first = box;
  list->count++;
  atomic_fetch_add(&pool->limits.budget->bytes, box->kept_bytes);
}

static lt_box *pool_unlink(lt_pool *pool, lt_box *box) {
  lt_pool_list *list = &pool->clean;
  *(box->prev != NULL ? &box->prev->next : &list->first) = box->next;
  *(box->next != NULL ? &box->next->prev : &list->last) = box->prev;
  list->count--;
  pool->least = list->count < pool->least ? list->count : pool->least;
  atomic_fetch_sub(&pool->limits.budget->bytes, box->kept_bytes);
  box->prev = box->next = NULL;
  return box;
}

static lt_box *pool_pop(lt_pool *pool) {
  return pool->clean.first != NULL ? pool_unlink(pool, pool->clean.first) : NULL;
}

/* --- Waiting, under the lock -------------------------------------------------------------------------------------- */
static void pool_enqueue(lt_pool *pool, lt_pool_waiter *waiter) {
  waiter->is_waiting = true;
  waiter->next = NULL;
  waiter->prev = pool->last_waiting;
  *(waiter->prev != NULL ? &waiter->prev->next : &pool->first_waiting) = waiter;
  pool->last_waiting = waiter;
}

static lt_pool_waiter *pool_dequeue(lt_pool *pool, lt_pool_waiter *waiter) {
  *(waiter->prev != NULL ? &waiter->prev->next : &pool->first_waiting) = waiter->next;
  *(waiter->next != NULL ? &waiter->next->prev : &pool->last_waiting) = waiter->prev;
  waiter->is_waiting = false;
  waiter->prev = waiter->next = NULL;
  return waiter;
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

lt_status lt_pool_take(lt_pool *pool, lt_box **ret_box, lt_err *err) {
  pthread_mutex_lock(&pool->lock);
  lt_box *box = pool_pop(pool);
  bool makes = box == NULL && pool->made < pool->most;
  pool->made += makes;
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

bool lt_pool_wait(lt_pool *pool, lt_pool_waiter *waiter) {
  pthread_mutex_lock(&pool->lock);
  waiter->box = pool_pop(pool);
  bool waits = waiter->box == NULL && pool->made >= pool->most;
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
static bool pool_is_worth_cleaning(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool is_worth = pool->first_waiting != NULL || (pool->taken > 1 && pool_has_room(pool, 0));
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

void lt_pool_give(lt_pool *pool, lt_box *box) {
  if (!pool_is_worth_cleaning(pool) || !lt_box_clean(box)) {
    pool_drop(pool, box);
    return;
  }
  pthread_mutex_lock(&pool->lock);
  lt_pool_waiter *waiter = pool->first_waiting;
  bool is_kept = waiter == NULL && pool_has_room(pool, box->kept_bytes);
  if (waiter != NULL) {
    pool_dequeue(pool, waiter)->box = box;
    pool->taken++;
  } else if (is_kept) {
    pool_push(pool, box);
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

/* --- Trimming ----------------------------------------------------------------------------------------------------- */
/* Takes the boxes that are freed out of the list, those first that were used the longest ago. Linked by `next`. */
static lt_box *pool_take_unneeded(lt_pool *pool) {
  lt_box *all = NULL;
  unsigned unneeded = pool->least < LT_BOX_TRIM ? pool->least : LT_BOX_TRIM;
  for (unsigned i = 0; i < unneeded && pool->clean.count > pool->limits.keep; i++) {
    lt_box *box = pool_unlink(pool, pool->clean.last);
    box->next = all;
    all = box;
    pool->made--;
  }
  pool->least = pool->clean.count;
  return all;
}

void lt_pool_trim(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  lt_box *unneeded = pool_take_unneeded(pool);
  pool->most = pool->limits.most;
  pthread_mutex_unlock(&pool->lock);
  while (unneeded != NULL) {
    lt_box *box = unneeded;
    unneeded = box->next;
    lt_box_free(box);
  }
}

bool lt_pool_can_trim(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool can_trim = pool->made > pool->limits.keep;
  pthread_mutex_unlock(&pool->lock);
  return can_trim;
}

void lt_pool_release(lt_pool *pool) {
  LT_CHECK(pool->first_waiting == NULL);
  for (lt_box *box = pool_pop(pool); box != NULL; box = pool_pop(pool)) {
    lt_box_free(box);
  }
  pthread_mutex_destroy(&pool->lock);
}

lt_pool_counts lt_pool_count(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  lt_pool_counts counts = {
      .used = pool->taken - pool->given, .pooled = pool->clean.count, .taken = pool->taken, .cleaned = pool->cleaned};
  pthread_mutex_unlock(&pool->lock);
  return counts;
}
