/* Pools: who gets which box, who waits, and how much is kept. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"

enum { MOST = 4 };

typedef struct waiting {
  lt_pool_waiter waiter; /* first */
  unsigned called;
} waiting;

static void on_box(lt_pool_waiter *waiter) {
  ((waiting *)waiter)->called++;
}

static void take_all(lt_pool *pool, lt_box **boxes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(lt_pool_take(pool, &boxes[i], NULL), LT_OK);
    for (unsigned j = 0; j < i; j++) {
      assert_ptr_not_equal(boxes[i], boxes[j]);
    }
  }
}

static void give_all(lt_pool *pool, lt_box **boxes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    lt_pool_give(pool, boxes[i]);
  }
}

/* What a program does to its box, as far as the pool sees it. */
static void write_to(lt_box *box, size_t bytes) {
  memset(box->memory + box->image->head.start, 1, bytes);
}

static void boxes_are_used_again(void **state) {
  lt_box *boxes[MOST], *again[MOST];
  lt_pool pool;
  (void)state;
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST});
  take_all(&pool, boxes, MOST);
  give_all(&pool, boxes, MOST);
  take_all(&pool, again, MOST);
  for (unsigned i = 0; i < MOST; i++) {
    assert_ptr_equal(again[i], boxes[MOST - 1 - i]); /* the one that was used last comes first */
  }
  lt_pool_counts counts = lt_pool_count(&pool);
  assert_int_equal(counts.used, MOST);
  assert_int_equal(counts.cleaned, MOST);
  give_all(&pool, again, MOST);
  lt_pool_release(&pool);
}

/* A process with one program does not clean its box; one that needs another box does. */
static void the_only_box_is_kept_when_there_is_more_to_do(void **state) {
  lt_box *boxes[2];
  lt_pool pool;
  (void)state;
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST});
  bool is_small = true;
  assert_true(lt_pool_lacks_clean(&pool, &is_small));
  assert_false(is_small);
  take_all(&pool, boxes, 1);
  lt_pool_give(&pool, boxes[0]);
  assert_int_equal(lt_pool_count(&pool).pooled, 0);
  take_all(&pool, boxes, 1);
  assert_true(lt_pool_lacks_clean(&pool, &is_small));
  assert_true(is_small);
  lt_pool_give(&pool, boxes[0]);
  assert_false(lt_pool_lacks_clean(&pool, &is_small));
  assert_int_equal(lt_pool_count(&pool).pooled, 1);
  for (unsigned i = 0; i < MOST; i++) {
    lt_pool_make_ahead(&pool);
  }
  assert_int_equal(lt_pool_count(&pool).pooled, MOST < LT_BOX_AHEAD ? MOST : LT_BOX_AHEAD);
  assert_int_equal(lt_pool_count(&pool).used, 0);
  lt_pool_release(&pool);
}

static void who_gets_no_box_waits_in_turn(void **state) {
  lt_box *boxes[MOST], *none = NULL;
  waiting w[3] = {{.waiter.on_box = on_box}, {.waiter.on_box = on_box}, {.waiter.on_box = on_box}};
  lt_pool pool;
  lt_err err = LT_ERR_INIT;
  (void)state;
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST});
  take_all(&pool, boxes, MOST);
  assert_int_equal(lt_pool_take(&pool, &none, &err), LT_E_LIMIT);
  for (unsigned i = 0; i < 3; i++) {
    assert_true(lt_pool_wait(&pool, &w[i].waiter));
  }
  assert_true(lt_pool_forget(&pool, &w[1].waiter));
  assert_false(lt_pool_forget(&pool, &w[1].waiter));
  lt_pool_give(&pool, boxes[2]);
  assert_int_equal(w[0].called, 1);
  assert_ptr_equal(w[0].waiter.box, boxes[2]);
  assert_int_equal(w[2].called, 0);
  boxes[3]->trap = LT_TRAP_MEMORY; /* it cannot be cleaned, but there is room for another one */
  lt_pool_give(&pool, boxes[3]);
  assert_int_equal(w[1].called, 0);
  assert_int_equal(w[2].called, 1);
  assert_null(w[2].waiter.box);
  assert_int_equal(lt_pool_take(&pool, &boxes[3], NULL), LT_OK);
  lt_pool_give(&pool, boxes[0]);
  assert_false(lt_pool_wait(&pool, &w[2].waiter)); /* one came back in between */
  assert_ptr_equal(w[2].waiter.box, boxes[0]);
  give_all(&pool, boxes, MOST);
  assert_int_equal(lt_pool_count(&pool).used, 0);
  lt_pool_release(&pool);
}

static void what_is_kept_is_bounded_by_bytes(void **state) {
  lt_pool_budget budget = {.bytes = LT_BOX_POOL_MAX_BYTES - LT_MIB};
  lt_box *boxes[MOST];
  lt_pool pool;
  (void)state;
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST, .budget = &budget});
  take_all(&pool, boxes, MOST);
  for (unsigned i = 0; i < MOST; i++) {
    write_to(boxes[i], 300 * LT_KIB);
  }
  give_all(&pool, boxes, MOST);
  lt_pool_counts counts = lt_pool_count(&pool);
  assert_int_equal(counts.used, 0);
  assert_int_equal(counts.pooled, 2); /* each holds more than 300 KiB, and there was room for 1,024 */
  assert_true(atomic_load(&budget.bytes) <= LT_BOX_POOL_MAX_BYTES);
  lt_pool_release(&pool);
  assert_int_equal(atomic_load(&budget.bytes), LT_BOX_POOL_MAX_BYTES - LT_MIB);
}

/* As by a deep recursion. */
static void a_used_stack_is_not_kept(void **state) {
  lt_box *box = NULL;
  lt_pool pool;
  (void)state;
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST});
  assert_int_equal(lt_pool_take(&pool, &box, NULL), LT_OK);
  lt_pool_give(&pool, box); /* of the first box nothing is kept */
  assert_int_equal(lt_pool_take(&pool, &box, NULL), LT_OK);
  memset(box->stack + lt_box_stack_bytes(box) - LT_MIB, 1, LT_MIB);
  memset(box->memory + box->image->head.start - 512 * LT_KIB, 1, 512 * LT_KIB);
  lt_pool_give(&pool, box);
  assert_true(box->kept_bytes <= 2 * LT_BOX_STACK_KEEP_BYTES);
  assert_int_equal(box->stack[lt_box_stack_bytes(box) - LT_MIB], 0);
  assert_int_equal(box->stack[lt_box_stack_bytes(box) - 1], 1);
  assert_int_equal(box->memory[box->image->head.start - 1], 0);
  lt_pool_release(&pool);
}

static void what_nobody_needs_is_freed(void **state) {
  lt_box *boxes[MOST];
  lt_pool pool;
  (void)state;
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST, .keep = 1});
  take_all(&pool, boxes, MOST);
  assert_true(lt_pool_can_trim(&pool));
  give_all(&pool, boxes, MOST);
  lt_pool_trim(&pool); /* begins to count */
  assert_int_equal(lt_pool_count(&pool).pooled, MOST);
  take_all(&pool, boxes, 2);
  give_all(&pool, boxes, 2);
  lt_pool_trim(&pool);
  assert_int_equal(lt_pool_count(&pool).pooled, 2);
  lt_pool_trim(&pool);
  lt_pool_trim(&pool);
  assert_int_equal(lt_pool_count(&pool).pooled, 1);
  assert_false(lt_pool_can_trim(&pool));
  lt_pool_release(&pool);
}

/* The last page of the image: no other test here writes to it, and `boxes` are never cleaned. */
static void waiting_programs_teach_what_is_written(void **state) {
  lt_box *boxes[2];
  lt_pool pool;
  (void)state;
  if (engine_image.page_map < 0) {
    skip();
  }
  uint32_t last = (engine_image.head.size - engine_image.head.start) / LT_IMAGE_PAGE - 1;
  const _Atomic uint8_t *dirty = &engine_image.hot->dirty[last];
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = MOST});
  take_all(&pool, boxes, 1);
  memset(boxes[0]->memory + engine_image.head.size - LT_IMAGE_PAGE, 1, 1);
  lt_pool_learn(&pool, boxes[0]);
  assert_int_equal(atomic_load(dirty), 0); /* the only box: there may never be another one */
  assert_int_equal(lt_pool_take(&pool, &boxes[1], NULL), LT_OK);
  lt_pool_learn(&pool, boxes[1]); /* does not write there */
  for (unsigned i = 0; i < 2 * LT_IMAGE_SAMPLES; i++) {
    lt_pool_learn(&pool, boxes[0]);
  }
  assert_int_equal(atomic_load(dirty), LT_IMAGE_SAMPLES - 1);
  boxes[0]->trap = boxes[1]->trap = LT_TRAP_MEMORY;
  give_all(&pool, boxes, 2);
  lt_pool_release(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waiting_programs_teach_what_is_written),
      cmocka_unit_test(boxes_are_used_again),
      cmocka_unit_test(the_only_box_is_kept_when_there_is_more_to_do),
      cmocka_unit_test(who_gets_no_box_waits_in_turn),
      cmocka_unit_test(what_is_kept_is_bounded_by_bytes),
      cmocka_unit_test(a_used_stack_is_not_kept),
      cmocka_unit_test(what_nobody_needs_is_freed),
  };
  return cmocka_run_group_tests_name("pool", tests, engine_open, engine_close);
}
