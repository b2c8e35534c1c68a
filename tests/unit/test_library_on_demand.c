/* Libraries that are opened when they are needed: missing, incomplete, refusing to begin, and opened once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/library_on_demand.h"

typedef struct table {
  double (*cosine)(double);
  void (*other)(void);
} table;

static table functions_of_libm;
static unsigned inits;
static bool does_init_fail;

static lt_status count_init(lt_err *err) {
  inits++;
  return does_init_fail ? lt_fail(err, LT_E_UNSUPPORTED, "it is not in the mood") : LT_OK;
}

static const lt_symbol symbols[] = {{"cos", offsetof(table, cosine)}, {"no_such_function", offsetof(table, other)}};

static lt_library library_of(const char *file, size_t count) {
  return (lt_library){.file = file,
                      .needed_for = "geometry needs libm",
                      .package = "libm6",
                      .functions = symbols,
                      .count = count,
                      .table = &functions_of_libm,
                      .init = count_init,
                      .lock = PTHREAD_MUTEX_INITIALIZER};
}

static int set_up(void **state) {
  (void)state;
  memset(&functions_of_libm, 0, sizeof functions_of_libm);
  inits = 0;
  does_init_fail = false;
  return 0;
}

static void test_opened_once(void **state) {
  (void)state;
  lt_library library = library_of("libm.so.6", 1);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(lt_library_open(&library, NULL), LT_OK);
  }
  assert_true(functions_of_libm.cosine(0.0) == 1.0);
  assert_int_equal(inits, 1);
}

static void assert_unusable(lt_library *library, const char *why) {
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_library_open(library, &err), LT_E_UNSUPPORTED);
  assert_non_null(strstr(lt_err_msg(&err), "geometry needs libm, which cannot be used ("));
  assert_non_null(strstr(lt_err_msg(&err), why));
  assert_non_null(strstr(lt_err_msg(&err), "install it (Debian package libm6)"));
}

static void test_a_library_that_is_not_there(void **state) {
  (void)state;
  lt_library library = library_of("libof_nobody.so.1", 1);
  assert_unusable(&library, "libof_nobody.so.1");
  assert_int_equal(inits, 0);
}

static void test_a_function_that_it_has_not(void **state) {
  (void)state;
  lt_library library = library_of("libm.so.6", 2);
  assert_unusable(&library, "libm.so.6 has no no_such_function");
  assert_int_equal(inits, 0);
}

static void test_one_that_does_not_begin_is_tried_again(void **state) {
  (void)state;
  lt_library library = library_of("libm.so.6", 1);
  does_init_fail = true;
  assert_unusable(&library, "it is not in the mood");
  does_init_fail = false;
  assert_int_equal(lt_library_open(&library, NULL), LT_OK);
  assert_int_equal(inits, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_opened_once, set_up),
      cmocka_unit_test_setup(test_a_library_that_is_not_there, set_up),
      cmocka_unit_test_setup(test_a_function_that_it_has_not, set_up),
      cmocka_unit_test_setup(test_one_that_does_not_begin_is_tried_again, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
