/* Addresses and ranges, as a configuration and a proxy write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "io/address_range.h"

static bool has(const char *range, const char *address) {
  lt_address_range read;
  assert_true(lt_address_range_read(lt_str_of(range), &read));
  return lt_address_range_has(&read, lt_str_of(address));
}

static void test_one_address(void **state) {
  (void)state;
  assert_true(has("192.0.2.7", "192.0.2.7"));
  assert_false(has("192.0.2.7", "192.0.2.8"));
  assert_true(has("::1", "0:0::1"));
  assert_true(has("192.0.2.7", "::ffff:192.0.2.7"));
  assert_false(has("192.0.2.7", ""));
  assert_false(has("192.0.2.7", "192.0.2.7:80"));
  assert_false(has("0.0.0.0/0", "evil"));
}

static void test_networks(void **state) {
  (void)state;
  assert_true(has("10.0.0.0/8", "10.255.0.1"));
  assert_false(has("10.0.0.0/8", "11.0.0.1"));
  assert_true(has("192.0.2.128/25", "192.0.2.200"));
  assert_false(has("192.0.2.128/25", "192.0.2.127"));
  assert_true(has("2001:db8::/32", "2001:db8:ffff::1"));
  assert_false(has("2001:db8::/32", "2001:db9::1"));
  assert_true(has("0.0.0.0/0", "203.0.113.9"));
  assert_false(has("0.0.0.0/0", "2001:db8::1"));
  assert_true(has("::/0", "203.0.113.9"));
}

static void test_unix(void **state) {
  (void)state;
  assert_true(has("unix", "unix"));
  assert_false(has("unix", "127.0.0.1"));
  assert_false(has("::/0", "unix"));
}

static void test_what_is_none(void **state) {
  (void)state;
  static const char *const wrong[] = {"",      "localhost",  "10.0.0.0/33",  "10.1.0.0/8",    "10.0.0.0/",
                                      "/8",    "10.0.0.0/x", "10.0.0.0/8/8", "10.0.0",        "2001:db8::/129",
                                      "[::1]", "::1/0",      "10.0.0.0/-1",  "10.0.0.0/0008", "unix:/run/x"};
  lt_address_range read;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_false(lt_address_range_read(lt_str_of(wrong[i]), &read));
  }
}

static void test_local(void **state) {
  (void)state;
  assert_true(lt_address_is_local(LT_STR("127.8.9.1")));
  assert_true(lt_address_is_local(LT_STR("::1")));
  assert_true(lt_address_is_local(LT_STR("unix")));
  assert_false(lt_address_is_local(LT_STR("192.0.2.7")));
  assert_false(lt_address_is_local(LT_STR("")));
}

static void without_port(const char *text, const char *address) {
  lt_str got = lt_address_without_port(lt_str_of(text));
  assert_true(lt_str_eqc(got, address));
}

static void test_ports(void **state) {
  (void)state;
  without_port(" 192.0.2.7 ", "192.0.2.7");
  without_port("192.0.2.7:1234", "192.0.2.7");
  without_port("[2001:db8::1]:80", "2001:db8::1");
  without_port("2001:db8::1", "2001:db8::1");
  without_port("[::1]", "::1");
  without_port("unknown", "");
  without_port("", "");
  without_port("_hidden", "");
}

static void test_networks_of_clients(void **state) {
  (void)state;
  char room[LT_ADDRESS_BYTES];
  assert_true(lt_str_eqc(lt_address_network(LT_STR("2001:db8:1:2:3:4:5:6"), room), "2001:db8:1:2::"));
  assert_true(lt_str_eqc(lt_address_network(LT_STR("192.0.2.7"), room), "192.0.2.7"));
  assert_true(lt_str_eqc(lt_address_network(LT_STR("unix"), room), "unix"));
  assert_true(lt_str_eqc(lt_address_network(LT_STR("::ffff:192.0.2.7"), room), "192.0.2.7"));
  assert_true(lt_str_eqc(lt_address_network(LT_STR("::fffe:192.0.2.7"), room), "::"));
}

/* Texts of the bytes that addresses have, each in a block of its own length: what is read prints to an address that
 * means the same. */
static void test_random_texts(void **state) {
  (void)state;
  static const char bytes[] = "0123456789abcdef:::...//[]% \0,x";
  uint64_t random = 14;
  unsigned read = 0;
  for (unsigned i = 0; i < 200000; i++) {
    size_t n = (random = random * 6364136223846793005U + 1442695040888963407U) >> 33;
    n %= 20;
    char *text = malloc(n + (n == 0)), room[LT_ADDRESS_BYTES];
    for (size_t k = 0; k < n; k++) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      text[k] = bytes[(random >> 33) % (sizeof bytes - 1)];
    }
    lt_address_range range;
    lt_str all = lt_str_from(text, n), alone = lt_address_without_port(all);
    if (lt_address_range_read(all, &range) && lt_str_find(all, LT_STR("/"), 0) == SIZE_MAX) {
      read++;
      assert_true(lt_address_range_has(&range, all));
      assert_true(lt_address_range_has(&range, alone));
    }
    if (alone.n > 0) {
      assert_true(lt_address_range_read(alone, &range));
      assert_true(lt_address_network(alone, room).n > 0);
    }
    free(text);
  }
  assert_true(read > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_address),         cmocka_unit_test(test_networks),     cmocka_unit_test(test_unix),
      cmocka_unit_test(test_what_is_none),        cmocka_unit_test(test_local),        cmocka_unit_test(test_ports),
      cmocka_unit_test(test_networks_of_clients), cmocka_unit_test(test_random_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
