/* Must fail under LeakSanitizer: memory from lt_mem_alloc that nobody frees. With --healthy it must succeed. */
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

/* Several and in a frame of their own, so that a stale register or stack slot does not keep the leak reachable. */
static __attribute__((noinline)) void use_memory(bool give_back) {
  for (int i = 0; i < 10; i++) {
    char *volatile p = lt_mem_alloc(100);
    if (give_back) {
      lt_mem_free(p);
    }
  }
}

int main(int argc, char **argv) {
  use_memory(argc > 1 && strcmp(argv[1], "--healthy") == 0);
  return 0;
}
