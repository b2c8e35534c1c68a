/* What requests to `lathe serve` say in escapes, and through proxies: whole, cut anywhere, and random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/serve_proxy.h"

static uint64_t random_state = 8;

static unsigned random_below(unsigned n) {
  random_state = random_state * 6364136223846793005U + 1442695040888963407U;
  return (unsigned)(random_state >> 33) % n;
}

/* A copy whose end is the block's, for AddressSanitizer. */
static lt_str copied(lt_str text) {
  char *copy = malloc(text.n + (text.n == 0));
  memcpy(copy, text.n > 0 ? text.p : "", text.n);
  return lt_str_from(copy, text.n);
}

/* --- Percent escapes ---------------------------------------------------------------------------------------------- */
static bool decodes(lt_str text, lt_str expected) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_str decoded = LT_STR_NULL, copy = copied(text);
  bool is = lt_serve_request_decode(copy, &arena, &decoded) && lt_str_eq(decoded, expected);
  free((char *)(uintptr_t)copy.p);
  return is;
}

static bool is_refused(lt_str text) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_str decoded, copy = copied(text);
  bool is = !lt_serve_request_decode(copy, &arena, &decoded);
  free((char *)(uintptr_t)copy.p);
  return is;
}

static void test_escapes(void **state) {
  (void)state;
  assert_true(decodes(LT_STR(""), LT_STR("")));
  assert_true(decodes(LT_STR("a%2Fb%2fc"), LT_STR("a/b/c")));
  assert_true(decodes(LT_STR("%25%32%35"), LT_STR("%25"))); /* once */
  assert_true(decodes(LT_STR("%C3%A4"), LT_STR("\xc3\xa4")));
  static const char *const wrong[] = {"%",   "%4",  "%zz",           "a%4g", "a%00b", "%-1",
                                      "%ff", "%C3", "%ED%A0%80x%80", "\xff", "%c0%80"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_true(is_refused(lt_str_of(wrong[i])));
  }
}

/* A text with every byte escaped is the text again; cut anywhere it is a part of it, or refused. */
static void test_escapes_cut(void **state) {
  (void)state;
  const lt_str text = LT_STR("a \xc3\xa4/\xe2\x82\xac?&=%+\xf0\x9f\x98\x80");
  LT_AUTO_BUF(escaped, LT_KIB);
  for (size_t i = 0; i < text.n; i++) {
    lt_buf_printf(&escaped, i % 2 == 0 ? "%%%02x" : "%%%02X", (unsigned char)text.p[i]);
  }
  assert_true(decodes(lt_buf_view(&escaped), text));
  for (size_t n = 0; n < escaped.n; n++) {
    lt_str cut = lt_str_sub(lt_buf_view(&escaped), 0, n);
    assert_true(is_refused(cut) || (n % 3 == 0 && decodes(cut, lt_str_sub(text, 0, n / 3))));
  }
}

static void test_random_bytes(void **state) {
  (void)state;
  static const char bytes[] = "%%%%0123456789abcdefABCDEFghz\xc3\xa4\xff\0+";
  unsigned decoded_count = 0;
  for (unsigned i = 0; i < 100000; i++) {
    char text[16];
    size_t n = random_below(sizeof text);
    for (size_t k = 0; k < n; k++) {
      text[k] = bytes[random_below(sizeof bytes - 1)];
    }
    LT_AUTO_ARENA(arena, LT_MIB);
    lt_str decoded, copy = copied(lt_str_from(text, n));
    if (lt_serve_request_decode(copy, &arena, &decoded)) {
      LT_AUTO_BUF(mended, LT_KIB);
      lt_json_mend_utf8(&mended, decoded);
      assert_true(lt_str_eq(lt_buf_view(&mended), decoded));
      assert_true(decoded.n <= n && strlen(decoded.p) == decoded.n);
      decoded_count++;
    }
    free((char *)(uintptr_t)copy.p);
  }
  assert_true(decoded_count > 1000);
}

/* --- X-Forwarded-For ---------------------------------------------------------------------------------------------- */
static lt_serve_proxy some_proxy(void) {
  lt_serve_proxy proxy = {.count = 2};
  assert_true(lt_address_range_read(LT_STR("10.0.0.0/8"), &proxy.from[0]));
  assert_true(lt_address_range_read(LT_STR("unix"), &proxy.from[1]));
  return proxy;
}

static void client_is(const char *peer, const char *forwarded, const char *client) {
  lt_serve_proxy proxy = some_proxy();
  lt_str text = copied(lt_str_of(forwarded));
  assert_true(lt_str_eqc(lt_serve_proxy_client_of(&proxy, lt_str_of(peer), text), client));
  free((char *)(uintptr_t)text.p);
}

static void test_clients(void **state) {
  (void)state;
  client_is("10.0.0.1", "", "10.0.0.1");
  client_is("10.0.0.1", "192.0.2.7", "192.0.2.7");
  client_is("unix", "198.51.100.1, 192.0.2.7:80", "192.0.2.7");
  client_is("10.0.0.1", "192.0.2.7,10.0.0.2 , [::ffff:10.0.0.3]:4", "192.0.2.7");
  client_is("10.0.0.1", "10.0.0.9", "10.0.0.9");
  client_is("192.0.2.8", "192.0.2.7", "192.0.2.8"); /* no proxy: its word does not count */
  client_is("10.0.0.1", "192.0.2.7, unknown", "10.0.0.1");
  client_is("10.0.0.1", "192.0.2.7,", "10.0.0.1");
  client_is("10.0.0.1", "192.0.2.7, unix", "10.0.0.1");
}

/* Whatever a client writes itself stands before what its proxies append, and changes nothing. */
static void test_what_clients_write(void **state) {
  (void)state;
  static const char bytes[] = "0123456789.:[]abcdef,,  unix\0\xff";
  lt_serve_proxy proxy = some_proxy();
  for (unsigned i = 0; i < 50000; i++) {
    LT_AUTO_BUF(text, LT_KIB);
    for (unsigned n = random_below(40); n > 0; n--) {
      lt_buf_byte(&text, bytes[random_below(sizeof bytes - 1)]);
    }
    lt_str written = copied(lt_buf_view(&text));
    lt_str client = lt_serve_proxy_client_of(&proxy, LT_STR("10.0.0.1"), written);
    lt_address_range read;
    assert_true(lt_address_range_read(client, &read) && !read.is_unix);
    free((char *)(uintptr_t)written.p);
    lt_buf_addc(&text, ", 192.0.2.7");
    for (unsigned n = random_below(3); n > 0; n--) {
      lt_buf_printf(&text, ", 10.%u.0.9", random_below(256));
    }
    lt_str all = copied(lt_buf_view(&text));
    assert_true(lt_str_eqc(lt_serve_proxy_client_of(&proxy, LT_STR("unix"), all), "192.0.2.7"));
    free((char *)(uintptr_t)all.p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_escapes), cmocka_unit_test(test_escapes_cut),        cmocka_unit_test(test_random_bytes),
      cmocka_unit_test(test_clients), cmocka_unit_test(test_what_clients_write),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
