/* What a switch costs: a resume and the yield that answers it, and a stack made and unmade. */
#include <stdio.h>
#include <time.h>

#include "base/fiber.h"
#include "base/limits.h"

enum { SWITCHES = 20000000, STACKS = 20000, ROUNDS = 5 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void yields(void *arg) {
  (void)arg;
  for (int i = 0; i < SWITCHES; i++) {
    lt_fiber_yield();
  }
}

static double switch_ns(void) {
  lt_fiber fiber;
  void *stack;
  size_t size;
  LT_CHECK(lt_fiber_stack_new(LT_LOOP_STACK_BYTES, &stack, &size, NULL) == LT_OK);
  lt_fiber_init(&fiber, stack, size, yields, NULL);
  double start = now_ns();
  while (lt_fiber_resume(&fiber)) {
  }
  double ns = (now_ns() - start) / SWITCHES;
  lt_fiber_release(&fiber);
  lt_fiber_stack_free(stack, size);
  return ns;
}

static double stack_ns(void) {
  double start = now_ns();
  for (int i = 0; i < STACKS; i++) {
    void *stack;
    size_t size;
    LT_CHECK(lt_fiber_stack_new(LT_LOOP_STACK_BYTES, &stack, &size, NULL) == LT_OK);
    lt_fiber_stack_free(stack, size);
  }
  return (now_ns() - start) / STACKS;
}

/* The best of a few rounds: what is slower was somebody else's work on the same machine. */
static double best_ns(double (*measure)(void)) {
  double best = measure();
  for (int i = 1; i < ROUNDS; i++) {
    double ns = measure();
    best = ns < best ? ns : best;
  }
  return best;
}

int main(void) {
  printf("fiber: resume and yield           %8.1f ns\n", best_ns(switch_ns));
  printf("fiber: map and unmap a stack      %8.1f ns\n", best_ns(stack_ns));
  return 0;
}
