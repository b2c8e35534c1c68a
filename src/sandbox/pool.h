/* Pools: clean boxes of one image, ready for use. The pool owns the boxes it holds. Any thread; nothing here suspends.
 * */
#ifndef LT_SANDBOX_POOL_H
#define LT_SANDBOX_POOL_H

#include <pthread.h>

#include "sandbox/box.h"

typedef struct lt_pool {
  const lt_image *image;
  pthread_mutex_t lock;
  lt_box *boxes;
  unsigned count;
  unsigned max;     /* clean boxes kept */
  uint64_t taken;   /* boxes taken so far */
  uint64_t given;   /* boxes given back so far */
  uint64_t cleaned; /* boxes cleaned so far, to be used again */
} lt_pool;

void lt_pool_init(lt_pool *pool, const lt_image *image, unsigned max);
/* Every box must have been given back. */
void lt_pool_release(lt_pool *pool);

/* Takes a clean box out of the pool, or makes a new one. Errors: those of lt_box_new. */
lt_status lt_pool_take(lt_pool *pool, lt_box **ret_box, lt_err *err);

/* Returns a used box. The pool cleans and keeps it. It frees the box when it has enough, when the box cannot be
 * cleaned, or when only one box was ever taken. 10 to 30 us: call it after the program's result has been handed on. */
void lt_pool_give(lt_pool *pool, lt_box *box);

/* Boxes now, and so far. */
typedef struct lt_pool_counts {
  uint64_t used; /* taken, and not given back */
  uint64_t pooled;
  uint64_t taken, cleaned;
} lt_pool_counts;

lt_pool_counts lt_pool_count(lt_pool *pool);

#endif
