/* Must fail everywhere: a test whose assertion is false. With --healthy it is true, and it must succeed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool healthy;

static void one_is_two(void **state) {
  (void)state;
  assert_int_equal(1, healthy ? 1 : 2);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_is_two)};
  healthy = argc > 1 && strcmp(argv[1], "--healthy") == 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
