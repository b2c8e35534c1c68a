/* What a switch costs: a resume and the yield that answers it, and a stack made and unmade. */
#include "base/fiber.h"
#include "base/limits.h"
#include "bench/bench.h"
#include "bench/measure.h"

enum { BATCH = 100000, BATCHES = 200, STACKS = 5000 };

static void yields(void *arg) {
  (void)arg;
  for (;;) {
    lt_fiber_yield();
  }
}

static void measure_switch(void) {
  lt_fiber fiber;
  void *stack;
  size_t size;
  LT_CHECK(lt_fiber_stacks_new(LT_LOOP_STACK_BYTES, 1, &stack, &size, NULL) == LT_OK);
  lt_fiber_init(&fiber, stack, size, yields, NULL);
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < BATCHES; i++) {
    double start = lt_measure_now();
    for (int k = 0; k < BATCH; k++) {
      lt_fiber_resume(&fiber);
    }
    lt_measure_add(&m, (lt_measure_now() - start) / BATCH);
  }
  lt_fiber_release(&fiber);
  lt_fiber_stack_free(stack, size);
  lt_measure_print_ns("fiber: resume and yield (batches of 100,000)", &m, 0);
}

static void measure_stack(void) {
  lt_measure m;
  lt_measure_init(&m);
  for (int i = 0; i < STACKS; i++) {
    double start = lt_measure_now();
    void *stack;
    size_t size;
    LT_CHECK(lt_fiber_stacks_new(LT_LOOP_STACK_BYTES, 1, &stack, &size, NULL) == LT_OK);
    lt_fiber_stack_free(stack, size);
    lt_measure_add(&m, lt_measure_now() - start);
  }
  lt_measure_print_ns("fiber: map and unmap a stack", &m, 0);
}

void lt_bench_fiber(void) {
  measure_switch();
  measure_stack();
}
