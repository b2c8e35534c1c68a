/* Who may ask a server: hosts, origins and tokens as browsers and programs send them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/http_guard.h"

static const char *const hosts[] = {"lathe.example", "other.example:8443", NULL};

static bool admits(const char *host) {
  return lt_http_guard_admits_host(lt_str_of(host), hosts);
}

static void test_loopback_is_known_by_its_names(void **state) {
  (void)state;
  assert_true(admits("127.0.0.1:8080"));
  assert_true(admits("127.1.2.3"));
  assert_true(admits("LOCALHOST:1"));
  assert_true(admits("[::1]:8080"));
  assert_true(lt_http_guard_admits_host(LT_STR("localhost"), NULL));
}

static void test_a_name_that_points_here_is_not(void **state) {
  (void)state;
  assert_false(admits(""));
  assert_false(admits(":8080"));
  assert_false(admits("evil.example:8080"));
  assert_false(admits("127.evil.example"));
  assert_false(admits("localhost.evil.example"));
  assert_false(admits("[::2]:8080"));
  assert_false(admits("evil.example@localhost"));
}

static void test_configured_hosts(void **state) {
  (void)state;
  assert_true(admits("lathe.example"));
  assert_true(admits("Lathe.Example:443"));
  assert_true(admits("other.example:8443"));
  assert_false(admits("other.example:1"));
  assert_false(admits("xlathe.example"));
}

static void test_origins(void **state) {
  (void)state;
  static const char *const origins[] = {"https://app.example", NULL};
  lt_str host = LT_STR("localhost:8080");
  assert_true(lt_http_guard_admits_origin(LT_STR(""), host, NULL));
  assert_true(lt_http_guard_admits_origin(LT_STR("http://localhost:8080"), host, NULL));
  assert_true(lt_http_guard_admits_origin(LT_STR("https://localhost:8080"), host, NULL));
  assert_true(lt_http_guard_admits_origin(LT_STR("https://app.example"), host, origins));
  assert_false(lt_http_guard_admits_origin(LT_STR("https://app.example"), host, NULL));
  assert_false(lt_http_guard_admits_origin(LT_STR("null"), host, origins));
  assert_false(lt_http_guard_admits_origin(LT_STR("http://localhost:8081"), host, origins));
  assert_false(lt_http_guard_admits_origin(LT_STR("http://"), LT_STR(""), origins));
  assert_false(lt_http_guard_admits_origin(LT_STR("https://app.example.evil.example"), host, origins));
}

static bool is_foreign(const char *site, const char *mode, const char *method) {
  return lt_http_guard_is_foreign_fetch(lt_str_of(site), lt_str_of(mode), lt_str_of(method));
}

static void test_fetch_metadata(void **state) {
  (void)state;
  assert_false(is_foreign("", "", "POST"));
  assert_false(is_foreign("same-origin", "cors", "POST"));
  assert_false(is_foreign("same-site", "cors", "POST"));
  assert_false(is_foreign("none", "navigate", "GET"));
  assert_false(is_foreign("cross-site", "navigate", "GET"));
  assert_true(is_foreign("cross-site", "navigate", "POST"));
  assert_true(is_foreign("cross-site", "no-cors", "GET"));
  assert_true(is_foreign("cross-site", "cors", "DELETE"));
  assert_true(is_foreign("cross-site", "", "PATCH"));
}

static void test_tokens(void **state) {
  (void)state;
  assert_true(lt_str_eqc(lt_http_guard_bearer(LT_STR("Bearer abc")), "abc"));
  assert_true(lt_str_eqc(lt_http_guard_bearer(LT_STR("bearer  abc ")), "abc"));
  assert_int_equal(lt_http_guard_bearer(LT_STR("Basic abc")).n, 0);
  assert_int_equal(lt_http_guard_bearer(LT_STR("Bearer")).n, 0);
  assert_int_equal(lt_http_guard_bearer(LT_STR("")).n, 0);
  assert_true(lt_http_guard_is_same_secret(LT_STR("abc"), LT_STR("abc")));
  assert_false(lt_http_guard_is_same_secret(LT_STR("abc"), LT_STR("abd")));
  assert_false(lt_http_guard_is_same_secret(LT_STR("abc"), LT_STR("ab")));
  assert_false(lt_http_guard_is_same_secret(LT_STR("ab"), LT_STR("abc")));
  assert_true(lt_http_guard_is_same_secret(LT_STR(""), LT_STR("")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loopback_is_known_by_its_names),
      cmocka_unit_test(test_a_name_that_points_here_is_not),
      cmocka_unit_test(test_configured_hosts),
      cmocka_unit_test(test_origins),
      cmocka_unit_test(test_fetch_metadata),
      cmocka_unit_test(test_tokens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
