/* Memory, and making it fail. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static int failures_off(void **state) {
  (void)state;
  lt_mem_fail_at(-1);
  return 0;
}

static void sizes_of_nothing_give_a_pointer(void **state) {
  (void)state;
  void *a = lt_mem_alloc(0);
  void *b = lt_mem_zalloc(0, 8);
  assert_non_null(a);
  assert_non_null(b);
  a = lt_mem_realloc(a, 0);
  assert_non_null(a);
  lt_mem_free(a);
  lt_mem_free(b);
  lt_mem_free(NULL);
}

static void zalloc_is_zero(void **state) {
  (void)state;
  for (int round = 0; round < 4; round++) { /* what was freed comes back */
    unsigned char *p = lt_mem_zalloc(10, 100);
    assert_non_null(p);
    for (size_t i = 0; i < 1000; i++) {
      assert_int_equal(p[i], 0);
    }
    memset(p, 0xFF, 1000);
    lt_mem_free(p);
  }
}

/* volatile: the compiler warns of sizes that it can see are absurd. */
static volatile size_t half = SIZE_MAX / 2 + 1;

static void absurd_sizes_are_refused(void **state) {
  (void)state;
  assert_null(lt_mem_zalloc(half, 2)); /* the product is 0 */
  assert_null(lt_mem_zalloc(half, 3));
  assert_null(lt_mem_zalloc(1, half));
  assert_null(lt_mem_alloc(half));
  char *p = lt_mem_alloc(3);
  assert_non_null(p);
  memcpy(p, "ab", 3);
  assert_null(lt_mem_realloc(p, half));
  assert_string_equal(p, "ab");
  assert_null(lt_mem_strdup(lt_str_from(p, half * 2 - 1)));
  lt_mem_free(p);
}

static void realloc_keeps_the_bytes(void **state) {
  (void)state;
  char *p = lt_mem_realloc(NULL, 4);
  assert_non_null(p);
  memcpy(p, "abc", 4);
  static const size_t sizes[] = {5, 100, 70000, 1000000, 64, 4};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    p = lt_mem_realloc(p, sizes[i]);
    assert_non_null(p);
    assert_string_equal(p, "abc");
    memset(p + 4, 'x', sizes[i] - 4);
  }
  lt_mem_free(p);
}

static void strdup_ends_in_nul(void **state) {
  (void)state;
  char *p = lt_mem_strdup(lt_str_from("abcdef", 3));
  char *q = lt_mem_strdup(LT_STR_NULL);
  assert_string_equal(p, "abc");
  assert_string_equal(q, "");
  lt_mem_free(p);
  lt_mem_free(q);
}

static void the_chosen_allocation_fails_once(void **state) {
  (void)state;
  for (long n = 0; n < 4; n++) {
    lt_mem_fail_at(n);
    for (long i = 0; i < 6; i++) {
      assert_int_equal(lt_mem_failed(), i > n);
      void *p = lt_mem_alloc(8);
      assert_int_equal(p == NULL, i == n);
      lt_mem_free(p);
    }
  }
}

static void every_kind_of_allocation_can_fail(void **state) {
  (void)state;
  lt_mem_fail_at(0);
  assert_null(lt_mem_alloc(1));
  lt_mem_fail_at(0);
  assert_null(lt_mem_zalloc(1, 1));
  lt_mem_fail_at(0);
  assert_null(lt_mem_strdup(LT_STR("a")));
  char *p = lt_mem_strdup(LT_STR("abc"));
  lt_mem_fail_at(0);
  assert_null(lt_mem_realloc(p, 100));
  assert_int_equal(lt_mem_failed(), 1);
  assert_string_equal(p, "abc");
  lt_mem_free(p);
}

static void minus_one_turns_it_off(void **state) {
  (void)state;
  lt_mem_fail_at(0);
  lt_mem_fail_at(-1);
  void *p = lt_mem_alloc(1);
  assert_non_null(p);
  assert_int_equal(lt_mem_failed(), 0);
  lt_mem_free(p);
}

enum { THREADS = 4, ALLOCATIONS = 500 };

static atomic_int nulls;

static void *allocate(void *arg) {
  (void)arg;
  for (int i = 0; i < ALLOCATIONS; i++) {
    void *p = lt_mem_alloc(16);
    if (p == NULL) {
      atomic_fetch_add(&nulls, 1);
    }
    lt_mem_free(p);
  }
  return NULL;
}

static void only_one_of_many_threads_sees_the_failure(void **state) {
  (void)state;
  for (int round = 0; round < 5; round++) {
    atomic_store(&nulls, 0);
    lt_mem_fail_at(THREADS * ALLOCATIONS / 2);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_create(&threads[i], NULL, allocate, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&nulls), 1);
    assert_int_equal(lt_mem_failed(), 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_of_nothing_give_a_pointer),
      cmocka_unit_test(zalloc_is_zero),
      cmocka_unit_test(absurd_sizes_are_refused),
      cmocka_unit_test(realloc_keeps_the_bytes),
      cmocka_unit_test(strdup_ends_in_nul),
      cmocka_unit_test_teardown(the_chosen_allocation_fails_once, failures_off),
      cmocka_unit_test_teardown(every_kind_of_allocation_can_fail, failures_off),
      cmocka_unit_test_teardown(minus_one_turns_it_off, failures_off),
      cmocka_unit_test_teardown(only_one_of_many_threads_sees_the_failure, failures_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
