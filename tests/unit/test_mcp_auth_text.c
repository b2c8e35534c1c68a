/* The texts of OAuth: forms, queries, challenges, scopes, PKCE; and what seals kept tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/seal.h"
#include "mcp/mcp_auth_text.h"

static void expect(const lt_buf *buf, const char *text) {
  assert_int_equal(buf->status, LT_OK);
  assert_true(lt_str_eqc(lt_buf_view(buf), text));
}

/* From bytes without anything behind them. NULL: there is no such parameter. */
static void expect_challenge(const char *header, const char *parameter, const char *value) {
  size_t n = strlen(header);
  char *bytes = lt_mem_alloc(n + (n == 0));
  assert_non_null(bytes);
  memcpy(bytes, header, n);
  LT_AUTO_BUF(out, LT_KIB);
  assert_int_equal(lt_mcp_auth_text_challenge(lt_str_from(bytes, n), parameter, &out), value != NULL);
  if (value != NULL) {
    expect(&out, value);
  }
  lt_mem_free(bytes);
}

static void test_challenges(void **state) {
  (void)state;
  expect_challenge("Bearer resource_metadata=\"https://a/b?c\", scope=\"x y\"", "scope", "x y");
  expect_challenge("Bearer resource_metadata=\"https://a/b?c\", scope=\"x y\"", "resource_metadata", "https://a/b?c");
  expect_challenge("bearer  error = insufficient_scope , scope=a", "error", "insufficient_scope");
  expect_challenge("bearer  error = insufficient_scope , scope=a", "scope", "a");
  expect_challenge("Bearer realm=\"a, scope=\\\"no\\\"\", scope=\"yes\"", "scope", "yes");
  expect_challenge("Bearer realm=\"a \\\"b\\\"\"", "realm", "a \"b\"");
  expect_challenge("Basic realm=\"x\", Bearer scope=\"y\"", "scope", "y");
  expect_challenge("Basic scope=\"x\"", "scope", NULL);
  expect_challenge("Bearer scope=\"y\", Basic realm=\"x\"", "realm", NULL);
  expect_challenge("Negotiate YII==, Bearer scope=\"y\"", "scope", "y");
  expect_challenge("Bearer", "scope", NULL);
  expect_challenge("Bearer scope=", "scope", "");
  expect_challenge("Bearer scope=\"open", "scope", "open");
  expect_challenge("Bearer scope=\"open\\", "scope", "open\\");
  expect_challenge("", "scope", NULL);
  expect_challenge(",,= \t=", "scope", NULL);
}

static void test_forms(void **state) {
  (void)state;
  LT_AUTO_BUF(form, LT_KIB);
  lt_mcp_auth_text_field(&form, "a", LT_STR("x y&z=\xc3\xa9~"));
  lt_mcp_auth_text_field(&form, "none", LT_STR_NULL);
  lt_mcp_auth_text_field(&form, "b", LT_STR("1"));
  expect(&form, "a=x%20y%26z%3D%C3%A9~&b=1");
  LT_AUTO_BUF(value, LT_KIB);
  assert_true(lt_mcp_auth_text_query(lt_buf_view(&form), "a", &value));
  expect(&value, "x y&z=\xc3\xa9~");
  assert_false(lt_mcp_auth_text_query(lt_buf_view(&form), "none", &value));
  LT_AUTO_BUF(odd, LT_KIB);
  assert_true(lt_mcp_auth_text_query(LT_STR("&&x&code=%4&code=2"), "code", &odd));
  expect(&odd, "%4");
  assert_true(lt_str_eqc(lt_mcp_auth_text_query_of(LT_STR("http://h/p?a=1#f?g")), "a=1"));
  assert_int_equal(lt_mcp_auth_text_query_of(LT_STR("http://h/p")).n, 0);
}

/* RFC 7636, appendix B. */
static void test_code_challenge(void **state) {
  (void)state;
  LT_AUTO_BUF(challenge, LT_KIB);
  lt_mcp_auth_text_code_challenge(LT_STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), &challenge);
  expect(&challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

static void test_scopes(void **state) {
  (void)state;
  LT_AUTO_BUF(scopes, LT_KIB);
  lt_mcp_auth_text_add_scopes(&scopes, LT_STR(" read  write "));
  lt_mcp_auth_text_add_scopes(&scopes, LT_STR("writer read"));
  expect(&scopes, "read write writer");
  assert_true(lt_mcp_auth_text_has_scopes(lt_buf_view(&scopes), LT_STR("writer read")));
  assert_true(lt_mcp_auth_text_has_scopes(lt_buf_view(&scopes), LT_STR_NULL));
  assert_false(lt_mcp_auth_text_has_scopes(lt_buf_view(&scopes), LT_STR("rea")));
}

static const char key[LT_SEAL_KEY_BYTES] = "0123456789abcdef0123456789abcde";

static lt_status open_sealed(const char *with, const char *bound_to, lt_str sealed, lt_buf *out) {
  return lt_seal_open(with, lt_str_of(bound_to), sealed, out, NULL);
}

static void test_seal(void **state) {
  (void)state;
  static const char other[LT_SEAL_KEY_BYTES] = "another key";
  LT_AUTO_BUF(sealed, LT_KIB);
  LT_AUTO_BUF(again, LT_KIB);
  LT_AUTO_BUF(plain, LT_KIB);
  LT_AUTO_BUF(none, LT_KIB);
  assert_int_equal(lt_seal_close(key, LT_STR("me"), LT_STR("a token"), &sealed, NULL), LT_OK);
  assert_int_equal(lt_seal_close(key, LT_STR("me"), LT_STR("a token"), &again, NULL), LT_OK);
  assert_false(lt_str_eq(lt_buf_view(&sealed), lt_buf_view(&again)));
  assert_int_equal(lt_str_find(lt_buf_view(&sealed), LT_STR("token"), 0), SIZE_MAX);
  assert_int_equal(open_sealed(key, "me", lt_buf_view(&sealed), &plain), LT_OK);
  expect(&plain, "a token");
  assert_int_equal(open_sealed(other, "me", lt_buf_view(&sealed), &none), LT_E_DENIED);
  assert_int_equal(open_sealed(key, "you", lt_buf_view(&sealed), &none), LT_E_DENIED);
  for (size_t i = 0; i < sealed.n; i++) {
    sealed.p[i] ^= 1;
    assert_int_equal(open_sealed(key, "me", lt_buf_view(&sealed), &none), LT_E_DENIED);
    sealed.p[i] ^= 1;
    assert_int_equal(open_sealed(key, "me", lt_str_sub(lt_buf_view(&sealed), 0, i), &none), LT_E_DENIED);
  }
  assert_int_equal(none.n, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_challenges), cmocka_unit_test(test_forms), cmocka_unit_test(test_code_challenge),
      cmocka_unit_test(test_scopes),     cmocka_unit_test(test_seal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
