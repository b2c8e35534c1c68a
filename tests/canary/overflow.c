/* Must fail under AddressSanitizer: a fiber writes past an array in its own frame, after a yield.
 *
 * With --healthy it stays inside and must succeed: then a failure without it is the overflow's, and nothing else's.
 */
#include "base/fiber.h"

#include <string.h>

#define STACK_BYTES (64 * 1024)

static void write_at(void *arg) {
  const size_t *at = arg;
  char frame[16] = {0};
  char *volatile p = frame; /* hides the array's size from UBSan, which would be first otherwise */
  lt_fiber_yield();
  p[*at] = 1;
}

int main(int argc, char **argv) {
  bool healthy = argc > 1 && strcmp(argv[1], "--healthy") == 0;
  size_t at = healthy ? 15 : 16;
  void *stack;
  size_t size;
  lt_fiber fiber;
  LT_CHECK(lt_fiber_stacks_new(STACK_BYTES, 1, &stack, &size, NULL) == LT_OK);
  lt_fiber_init(&fiber, stack, size, write_at, &at);
  LT_CHECK(lt_fiber_resume(&fiber));
  LT_CHECK(!lt_fiber_resume(&fiber));
  lt_fiber_release(&fiber);
  lt_fiber_stack_free(stack, size);
  return 0;
}
