/* Lists of "name=value" in variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "text/pair_list.h"

/* "name=value;" of each pair. */
static void expect_pairs(const char *list, const char *wanted) {
  LT_AUTO_BUF(all, LT_KIB);
  size_t n = strlen(list);
  char *copy = malloc(n + (n == 0)); /* its end is the block's, for ASan */
  lt_str rest = lt_str_from(copy, n), name, value;
  memcpy(copy, list, n);
  while (lt_pair_list_next(&rest, &name, &value)) {
    lt_buf_add(&all, name);
    lt_buf_byte(&all, '=');
    lt_pair_list_decode(value, &all);
    lt_buf_byte(&all, ';');
  }
  assert_true(lt_str_eqc(lt_buf_view(&all), wanted));
  free(copy);
}

static void test_pairs(void **state) {
  (void)state;
  expect_pairs("", "");
  expect_pairs("a=b", "a=b;");
  expect_pairs(" a = b , c=d", "a=b;c=d;");
  expect_pairs("a=,b==c=", "a=;b==c=;");
  expect_pairs(",,a,=b, =c,d=e,", "d=e;");
}

static void test_escapes(void **state) {
  (void)state;
  expect_pairs("a=Basic%20a%3Db%2c", "a=Basic a=b,;");
  expect_pairs("a=%,b=%4,c=%4g,d=%41%4", "a=%;b=%4;c=%4g;d=A%4;");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_escapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
