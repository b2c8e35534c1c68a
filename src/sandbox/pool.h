/* Pools: clean boxes of one image, ready to be taken. Any thread. */
#ifndef LT_SANDBOX_POOL_H
#define LT_SANDBOX_POOL_H

#include <pthread.h>

#include "sandbox/box.h"

typedef struct lt_pool {
  const lt_image *image;
  pthread_mutex_t lock;
  lt_box *boxes;
  unsigned count;
  unsigned max;   /* clean boxes kept */
  unsigned taken; /* boxes so far: 0, 1 or more */
} lt_pool;

void lt_pool_init(lt_pool *pool, const lt_image *image, unsigned max);
/* Every box must have been given back. */
void lt_pool_release(lt_pool *pool);

/* A clean box: one that waits here, or a new one. Errors: those of lt_box_new. */
lt_status lt_pool_take(lt_pool *pool, lt_box **ret_box, lt_err *err);

/* Takes a used box back: cleans and keeps it, or frees it when there are enough, when it cannot be cleaned, or
 * when it is the only one that was ever asked for.
 * 10 to 30 us: call it after the program's result has been handed on. */
void lt_pool_give(lt_pool *pool, lt_box *box);

#endif
