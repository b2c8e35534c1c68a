/* Pools: the boxes of one image. Clean boxes are kept ready for use, bounded by memory; the number of all boxes is
 * bounded, too, and whoever gets none can wait for one. A program at rest (box_rest.h) needs the same box again: other
 * programs use the box meanwhile, when there is no other one. The pool owns the boxes it holds. Any thread; nothing
 * here suspends. */
#ifndef LT_SANDBOX_POOL_H
#define LT_SANDBOX_POOL_H

#include <pthread.h>

#include "sandbox/box.h"
#include "sandbox/box_rest.h"

/* Clean boxes in the order in which they came. */
typedef struct lt_pool_list {
  lt_box *first;
  lt_box *last;
  unsigned count;
} lt_pool_list;

/* Somebody who waits for a box. Owned by the caller, and used by the pool until `on_box` is called. */
typedef struct lt_pool_waiter {
  struct lt_pool_waiter *prev;
  struct lt_pool_waiter *next;
  /* Called once, by the thread that has a box for it. */
  void (*on_box)(struct lt_pool_waiter *waiter);
  lt_box *home;    /* the box that it needs; NULL: any one */
  lt_box *box;     /* afterwards; NULL: the pool may make one now, so take again */
  bool is_waiting; /* under the pool's lock */
} lt_pool_waiter;

/* What the clean boxes of several pools hold together. */
typedef struct lt_pool_budget {
  _Atomic size_t bytes;
} lt_pool_budget;

typedef struct lt_pool_limits {
  unsigned most;          /* boxes at once */
  unsigned keep;          /* clean boxes that lt_pool_trim leaves */
  lt_pool_budget *budget; /* of LT_BOX_POOL_MAX_BYTES; NULL: the pool's own */
} lt_pool_limits;

typedef struct lt_pool {
  const lt_image *image;
  lt_pool_limits limits;
  lt_pool_budget own;
  pthread_mutex_t lock;
  lt_pool_list clean;
  lt_pool_list homes; /* clean boxes of programs at rest */
  size_t home_bytes;  /* that these hold */
  unsigned made;      /* boxes that there are */
  unsigned most;      /* as limits.most; less when the system has no room for more */
  unsigned least;     /* fewest clean boxes since the last trim: so many were not needed */
  lt_pool_waiter *first_waiting;
  lt_pool_waiter *last_waiting;
  lt_box_shelf shelf; /* not under `lock`: it has its own */
  bool has_more;      /* there is more than one program */
  uint64_t taken;     /* boxes taken so far */
  uint64_t given;     /* boxes given back so far */
  uint64_t cleaned;   /* boxes cleaned so far, to be used again */
} lt_pool;

/* Borrows the image and the budget, which must outlive the pool. */
void lt_pool_init(lt_pool *pool, const lt_image *image, const lt_pool_limits *limits);
/* Every box must have been given back, and nobody may wait or be at rest. */
void lt_pool_release(lt_pool *pool);

/* Takes a clean box out of the pool, or makes a new one. Errors: LT_E_LIMIT when all boxes are in use (lt_pool_wait
 * helps); those of lt_box_new when there is not even one. */
lt_status lt_pool_take(lt_pool *pool, lt_box **ret_box, lt_err *err);
/* Takes the box of a program whose rest ends. Errors: LT_E_LIMIT when another program uses it (lt_pool_wait helps);
 * LT_E_NOMEM: the program is at rest as before. */
lt_status lt_pool_take_home(lt_pool *pool, lt_box *home, lt_err *err);

/* Whether a program that begins gets a new box, unless one is given back before. From then on boxes are cleaned,
 * because it is not the only program. `ret_is_small`: lt_pool_make_ahead would make one. */
bool lt_pool_lacks_clean(lt_pool *pool, bool *ret_is_small);

/* Makes a clean box for a program that will begin, if there are fewer than LT_BOX_AHEAD. 150 us. */
void lt_pool_make_ahead(lt_pool *pool);

/* Waits for a box after LT_E_LIMIT, first come, first served. False: it need not wait, `box` is as after `on_box`,
 * which is not called. */
bool lt_pool_wait(lt_pool *pool, lt_pool_waiter *waiter);
/* Ends the wait. False: `on_box` has been called, or is being called by another thread. */
bool lt_pool_forget(lt_pool *pool, lt_pool_waiter *waiter);

/* Returns a used box. The pool cleans it, and hands it to whoever waits or keeps it. It frees the box when it has
 * enough, when the box cannot be cleaned, or when only one box was ever taken. 10 to 30 us: call it after the program's
 * result has been handed on. */
void lt_pool_give(lt_pool *pool, lt_box *box);
/* The same for a program that rests from now on. */
void lt_pool_rest(lt_pool *pool, lt_box *box);
/* A program at rest will not continue. */
void lt_pool_leave(lt_pool *pool, lt_box *home);

/* A program waits, and its box, which the caller uses, may teach something about later ones (lt_box_learn). */
void lt_pool_learn(lt_pool *pool, const lt_box *box);

/* Whether a program at rest waits for this box, which the caller uses. */
static inline bool lt_pool_wants(const lt_box *box) {
  return atomic_load_explicit(&box->place.is_wanted, memory_order_relaxed);
}
/* Whether somebody waits for any box, or soon will. */
bool lt_pool_is_short(lt_pool *pool);
/* Whether the next program that begins would need a new box, where there are many already. */
bool lt_pool_is_crowded(lt_pool *pool);

/* Frees some of the clean boxes that nobody has needed since the last call, and some of the shelf's memory. */
void lt_pool_trim(lt_pool *pool);
/* Whether there is more than lt_pool_trim leaves. */
bool lt_pool_can_trim(lt_pool *pool);

/* Boxes now, and so far. */
typedef struct lt_pool_counts {
  uint64_t used; /* taken, and not given back */
  uint64_t pooled;
  uint64_t taken, cleaned;
} lt_pool_counts;

lt_pool_counts lt_pool_count(lt_pool *pool);

#endif
