/* Addresses to listen at, as people write them: which ones other machines reach decides who needs a token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/listen_address.h"

static lt_listen_address read(const char *text) {
  lt_err err = LT_ERR_INIT;
  lt_listen_address address;
  assert_int_equal(lt_listen_address_read(lt_str_of(text), 8420, &address, &err), LT_OK);
  return address;
}

static void test_loopback(void **state) {
  static const char *const texts[] = {"8420",           ":8420",          "localhost:8420", "LOCALHOST:8420",
                                      "127.0.0.1:8420", "127.1.2.3:8420", "[::1]:8420"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    lt_listen_address address = read(texts[i]);
    assert_true(address.is_loopback);
    assert_int_equal(address.port, 8420);
  }
  assert_string_equal(read("localhost:0").host, "127.0.0.1");
  assert_string_equal(read("[::1]:0").host, "::1");
  assert_string_equal(read("[::1]:0").name, "[::1]");
}

static void test_what_others_reach(void **state) {
  static const char *const texts[] = {"0.0.0.0:1",  "[::]:1", "192.0.2.7:1", "[2001:db8::1]:1", "[::ffff:127.0.0.1]:1",
                                      "128.0.0.1:1"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_false(read(texts[i]).is_loopback);
  }
}

static void test_what_is_none(void **state) {
  static const char *const texts[] = {"",      "here",          "127.0.0.1:",  "127.0.0.1:65536", "127.0.0.1:-1",
                                      "1:2:3", "elsewhere:80",  "127.1:80",    "[::1]",           "::1:80",
                                      "[]:80", "[127.0.0.1]:1", "127.0.0.1:1x"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    lt_err err = LT_ERR_INIT;
    lt_listen_address address;
    assert_int_equal(lt_listen_address_read(lt_str_of(texts[i]), 8420, &address, &err), LT_E_INVALID);
  }
}

static void test_a_request_for_it(void **state) {
  (void)state;
  lt_listen_address v4 = read("192.0.2.7:8420"), v6 = read("[2001:db8::1]:8420");
  assert_true(lt_listen_address_is_named(&v4, LT_STR("192.0.2.7:8420")));
  assert_true(lt_listen_address_is_named(&v4, LT_STR("127.0.0.1:8420")));
  assert_true(lt_listen_address_is_named(&v6, LT_STR("[2001:db8::1]")));
  assert_false(lt_listen_address_is_named(&v4, LT_STR("192.0.2.8:8420")));
  assert_false(lt_listen_address_is_named(&v4, LT_STR("192.0.2.7.evil.example")));
  assert_false(lt_listen_address_is_named(&v4, LT_STR("")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loopback),
      cmocka_unit_test(test_what_others_reach),
      cmocka_unit_test(test_what_is_none),
      cmocka_unit_test(test_a_request_for_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
