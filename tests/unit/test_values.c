/* store() and recall(): what is kept, what is replaced, and where it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "runner/stored_values.h"

static void put(lt_stored_values *s, const char *key, const char *json) {
  assert_int_equal(lt_stored_values_put(s, lt_str_of(key), lt_str_of(json), NULL), LT_OK);
}

static void expect(const lt_stored_values *s, const char *key, const char *json) {
  lt_str found = lt_stored_values_find(s, lt_str_of(key));
  assert_true(lt_str_eqc(found, json));
}

static void test_values_are_kept_replaced_and_removed(void **state) {
  (void)state;
  lt_stored_values *s = lt_stored_values_new();
  expect(s, "a", "");
  put(s, "a", "1");
  put(s, "b", "{\"x\":[1,2]}");
  expect(s, "a", "1");
  expect(s, "b", "{\"x\":[1,2]}");
  put(s, "a", "\"longer than before\"");
  expect(s, "a", "\"longer than before\"");
  put(s, "a", "");
  expect(s, "a", "");
  put(s, "a", "");
  expect(s, "b", "{\"x\":[1,2]}");
  lt_stored_values_free(s);
}

static void test_names_may_be_anything(void **state) {
  (void)state;
  lt_stored_values *s = lt_stored_values_new();
  lt_str nul = lt_str_from("a\0b", 3);
  assert_int_equal(lt_stored_values_put(s, nul, LT_STR("1"), NULL), LT_OK);
  assert_int_equal(lt_stored_values_put(s, LT_STR_NULL, LT_STR("2"), NULL), LT_OK);
  put(s, "__proto__", "3");
  assert_true(lt_str_eqc(lt_stored_values_find(s, nul), "1"));
  assert_true(lt_str_eqc(lt_stored_values_find(s, LT_STR_NULL), "2"));
  expect(s, "a", "");
  expect(s, "__proto__", "3");
  lt_stored_values_free(s);
}

static void test_what_is_kept_is_a_copy(void **state) {
  (void)state;
  lt_stored_values *s = lt_stored_values_new();
  char key[] = "key", json[] = "[1]";
  put(s, key, json);
  key[0] = json[1] = 'X';
  expect(s, "key", "[1]");
  lt_stored_values_free(s);
}

static void test_many_values(void **state) {
  (void)state;
  lt_stored_values *s = lt_stored_values_new();
  char key[32], json[32];
  for (int i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "key %d", i);
    snprintf(json, sizeof json, "%d", i * 7);
    put(s, key, json);
  }
  for (int i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "key %d", i);
    snprintf(json, sizeof json, "%d", i * 7);
    expect(s, key, json);
  }
  lt_stored_values_free(s);
}

/* The largest value that fits beside nothing else. */
static size_t largest(lt_stored_values *s, const char *bytes) {
  size_t low = 1, high = LT_RUN_STORE_MAX_BYTES + 1;
  while (low + 1 < high) {
    size_t middle = (low + high) / 2;
    bool fits = lt_stored_values_put(s, LT_STR("k"), lt_str_from(bytes, middle), NULL) == LT_OK;
    *(fits ? &low : &high) = middle;
    lt_stored_values_put(s, LT_STR("k"), LT_STR_NULL, NULL);
  }
  return low;
}

static void test_the_limit_counts_what_is_there_now(void **state) {
  (void)state;
  lt_stored_values *s = lt_stored_values_new();
  char *bytes = lt_mem_zalloc(1, LT_RUN_STORE_MAX_BYTES + 1);
  lt_err err = LT_ERR_INIT;
  size_t most = largest(s, bytes);
  assert_in_range(most, LT_RUN_STORE_MAX_BYTES - 1024, LT_RUN_STORE_MAX_BYTES);
  /* Replacing counts once. */
  for (int i = 0; i < 3; i++) {
    assert_int_equal(lt_stored_values_put(s, LT_STR("k"), lt_str_from(bytes, most), NULL), LT_OK);
  }
  assert_int_equal(lt_stored_values_put(s, LT_STR("other"), LT_STR("1"), &err), LT_E_LIMIT);
  assert_non_null(strstr(lt_err_msg(&err), "store(\"other\")"));
  assert_non_null(strstr(lt_err_msg(&err), "16 MiB"));
  assert_int_equal(lt_stored_values_put(s, LT_STR("k"), lt_str_from(bytes, most + 1), NULL), LT_E_LIMIT);
  /* What did not fit changed nothing. */
  assert_int_equal(lt_stored_values_find(s, LT_STR("k")).n, most);
  put(s, "k", "");
  put(s, "other", "1");
  lt_stored_values_free(s);
  lt_mem_free(bytes);
}

static void test_without_memory(void **state) {
  (void)state;
  lt_mem_fail_at(0);
  assert_null(lt_stored_values_new());
  lt_mem_fail_at(-1);
  lt_stored_values *s = lt_stored_values_new();
  put(s, "a", "1");
  lt_mem_fail_at(0);
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_stored_values_put(s, LT_STR("a"), LT_STR("2"), &err), LT_E_NOMEM);
  lt_mem_fail_at(-1);
  expect(s, "a", "1");
  lt_stored_values_free(s);
  lt_stored_values_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_are_kept_replaced_and_removed),
      cmocka_unit_test(test_names_may_be_anything),
      cmocka_unit_test(test_what_is_kept_is_a_copy),
      cmocka_unit_test(test_many_values),
      cmocka_unit_test(test_the_limit_counts_what_is_there_now),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
