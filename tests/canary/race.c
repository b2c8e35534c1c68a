/* Must fail under ThreadSanitizer: a fiber and another thread write to the fiber's frame, with nothing between them.
 *
 * With --healthy the other thread is joined first, and it must succeed.
 */
#include "base/fiber.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define STACK_BYTES (64 * 1024)

static void count(void *arg) {
  volatile int **ret_counter = arg;
  volatile int counter = 0;
  *ret_counter = &counter;
  lt_fiber_yield();
  counter = counter + 1;
  lt_fiber_yield(); /* the frame stays until both have written */
}

static void *count_from_outside(void *arg) {
  volatile int *counter = arg;
  *counter = *counter + 1;
  return NULL;
}

int main(int argc, char **argv) {
  bool healthy = argc > 1 && strcmp(argv[1], "--healthy") == 0;
  void *stack;
  size_t size;
  lt_fiber fiber;
  volatile int *counter = NULL;
  pthread_t other;
  LT_CHECK(lt_fiber_stacks_new(STACK_BYTES, 1, &stack, &size, NULL) == LT_OK);
  lt_fiber_init(&fiber, stack, size, count, &counter);
  LT_CHECK(lt_fiber_resume(&fiber));
  LT_CHECK(pthread_create(&other, NULL, count_from_outside, (void *)(uintptr_t)counter) == 0);
  if (healthy) {
    LT_CHECK(pthread_join(other, NULL) == 0);
  }
  LT_CHECK(lt_fiber_resume(&fiber));
  if (!healthy) {
    LT_CHECK(pthread_join(other, NULL) == 0);
  }
  LT_CHECK(!lt_fiber_resume(&fiber));
  lt_fiber_release(&fiber);
  lt_fiber_stack_free(stack, size);
  return 0;
}
