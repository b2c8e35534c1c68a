/* Must fail under UndefinedBehaviorSanitizer: a signed overflow. Without -fno-sanitize-recover it would print a line
 * and exit 0. With --healthy it must succeed.
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

int main(int argc, char **argv) {
  bool healthy = argc > 1 && strcmp(argv[1], "--healthy") == 0;
  volatile int n = healthy ? 1 : INT_MAX;
  n = n + 1;
  return 0;
}
