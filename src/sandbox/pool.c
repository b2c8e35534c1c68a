#include "sandbox/pool.h"

void lt_pool_init(lt_pool *pool, const lt_image *image, unsigned max) {
  *pool = (lt_pool){.image = image, .max = max};
  pthread_mutex_init(&pool->lock, NULL);
}

void lt_pool_release(lt_pool *pool) {
  while (pool->boxes != NULL) {
    lt_box *box = pool->boxes;
    pool->boxes = box->next;
    lt_box_free(box);
  }
  pthread_mutex_destroy(&pool->lock);
}

static void pool_count_given(lt_pool *pool, unsigned n) {
  pthread_mutex_lock(&pool->lock);
  pool->given += n;
  pthread_mutex_unlock(&pool->lock);
}

lt_status lt_pool_take(lt_pool *pool, lt_box **ret_box, lt_err *err) {
  pthread_mutex_lock(&pool->lock);
  lt_box *box = pool->boxes;
  pool->taken++;
  if (box != NULL) {
    pool->boxes = box->next;
    pool->count--;
  }
  pthread_mutex_unlock(&pool->lock);
  if (box == NULL) {
    lt_status status = lt_box_new(pool->image, ret_box, err);
    pool_count_given(pool, status != LT_OK);
    return status;
  }
  box->next = NULL;
  *ret_box = box;
  return LT_OK;
}

/* A process that runs one program does not clean its box: that would cost 0.3 ms of `lathe run`, mostly page faults. */
static bool pool_is_worth_keeping(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool room = pool->count < pool->max && pool->taken > 1;
  pthread_mutex_unlock(&pool->lock);
  return room;
}

void lt_pool_give(lt_pool *pool, lt_box *box) {
  if (!pool_is_worth_keeping(pool) || !lt_box_clean(box)) {
    lt_box_free(box);
    pool_count_given(pool, 1);
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->given++;
  pool->cleaned++;
  box->next = pool->boxes;
  pool->boxes = box;
  pool->count++;
  pthread_mutex_unlock(&pool->lock);
}

lt_pool_counts lt_pool_count(lt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  lt_pool_counts counts = {
      .used = pool->taken - pool->given, .pooled = pool->count, .taken = pool->taken, .cleaned = pool->cleaned};
  pthread_mutex_unlock(&pool->lock);
  return counts;
}
