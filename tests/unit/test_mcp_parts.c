/* The parts of the MCP client that need no server: messages, words, requests in flight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_param_headers.h"
#include "mcp/mcp_url.h"
#include "mcp/mcp_requests.h"
#include "mcp/mcp_list.h"
#include "mcp/mcp_protocol.h"
#include "mcp/mcp_peer_text.h"

/* Reads a message from bytes without anything behind them. */
static lt_mcp_kind kind_of(const char *text, int64_t *ret_id) {
  size_t n = strlen(text);
  char *bytes = lt_mem_alloc(n);
  assert_non_null(bytes);
  memcpy(bytes, text, n);
  lt_arena arena;
  lt_arena_init(&arena, LT_MIB);
  lt_json_doc doc;
  assert_int_equal(lt_json_parse(&arena, lt_str_from(bytes, n), &doc, NULL), LT_OK);
  lt_mcp_message m = lt_mcp_message_read(lt_json_root(&doc));
  *ret_id = -1;
  lt_mcp_id_read(m.id, ret_id);
  lt_arena_release(&arena);
  lt_mem_free(bytes);
  return m.kind;
}

static void test_kinds(void **state) {
  (void)state;
  static const struct {
    const char *text;
    lt_mcp_kind kind;
    int64_t id;
  } cases[] = {
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", LT_MCP_RESPONSE, 7},
      {"{\"id\":7,\"result\":{},\"jsonrpc\":\"2.0\",\"error\":null}", LT_MCP_RESPONSE, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"result\":{}}", LT_MCP_RESPONSE, -1},
      {"{\"jsonrpc\":\"2.0\",\"id\":7.5,\"result\":{}}", LT_MCP_RESPONSE, -1},
      {"{\"jsonrpc\":\"2.0\",\"id\":1e30,\"result\":{}}", LT_MCP_RESPONSE, -1},
      {"{\"jsonrpc\":\"2.0\",\"id\":7}", LT_MCP_RESPONSE, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", LT_MCP_RESPONSE, -1},
      {"{\"jsonrpc\":\"2.0\",\"error\":{}}", LT_MCP_RESPONSE, -1},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", LT_MCP_NOTIFICATION, -1},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"a\\u0000b\"}", LT_MCP_REQUEST, -1},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":0}", LT_MCP_REQUEST, 0},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":null}", LT_MCP_NOISE, -1},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":[1]}", LT_MCP_NOISE, -1},
      {"{\"jsonrpc\":\"2.0\",\"method\":5,\"id\":1}", LT_MCP_NOISE, 1},
      {"{\"jsonrpc\":\"2.0\"}", LT_MCP_NOISE, -1},
      {"{\"jsonrpc\":2.0,\"id\":1,\"result\":{}}", LT_MCP_NOISE, -1},
      {"{\"level\":30,\"msg\":\"listening\"}", LT_MCP_NOISE, -1},
      {"{}", LT_MCP_NOISE, -1},
      {"[]", LT_MCP_NOISE, -1},
      {"\"jsonrpc\"", LT_MCP_NOISE, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t id;
    if (kind_of(cases[i].text, &id) != cases[i].kind || id != cases[i].id) {
      fail_msg("wrong: %s", cases[i].text);
    }
  }
}

static const lt_mcp_self old = {.is_modern = false};
static const lt_mcp_call_extra nothing = {.wants_progress = false}, with_progress = {.wants_progress = true};

static void test_call_on_the_wire(void **state) {
  (void)state;
  lt_buf out;
  lt_buf_init(&out, LT_KIB);
  lt_mcp_write_call(&out, 9, &old, LT_STR("a\"\nb"), LT_STR("{\n\"k\":\"\xED\xBF\xBF\"\r\n}"), &with_progress);
  assert_string_equal(out.p,
                      "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"a\\\"\\nb\","
                      "\"arguments\":{ \"k\":\"\\udfff\"  },\"_meta\":{\"progressToken\":9}}}\n");
  lt_buf_clear(&out);
  lt_mcp_write_cancelled(&out, 9, "why");
  assert_string_equal(out.p,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9,"
                      "\"reason\":\"why\"}}\n");
  lt_buf_release(&out);
  lt_buf_init(&out, 100);
  lt_mcp_write_call(&out, 9, &old, LT_STR("a"), LT_STR("{\"long\":\"123456789012345678901234567890\"}"), &nothing);
  assert_int_equal(out.status, LT_E_LIMIT);
  lt_buf_release(&out);
}

static void expect_words(lt_str text, lt_mcp_end end, size_t max, const lt_secrets *secrets, const char *want) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_mcp_peer_text_add(&out, text, end, max, secrets);
  assert_string_equal(out.p ? out.p : "", want);
  lt_buf_release(&out);
}

static void test_words(void **state) {
  (void)state;
  const lt_secrets *none = NULL;
  lt_secrets *some = lt_secrets_new();
  assert_int_equal(lt_secrets_add(some, LT_STR("abc123")), LT_OK);
  assert_int_equal(lt_secrets_add(some, LT_STR("longer-value")), LT_OK);
  expect_words(LT_STR("  a\x1b[1;31mb\x1b[0m\a\0c\x7f\xC2\x9B"
                      "d\r\n"),
               LT_MCP_HEAD, 99, none, "abcd");
  expect_words(LT_STR("\x1b"), LT_MCP_HEAD, 99, none, "");
  expect_words(LT_STR("\x1b["), LT_MCP_HEAD, 99, none, "");
  expect_words(LT_STR("\xff\xC3(\xC3"), LT_MCP_HEAD, 99, none, "\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD");
  expect_words(LT_STR("\x1b]0;title\aa\u202Eb\tc\r\nd"), LT_MCP_HEAD, 99, none, "ab\tc\nd");
  expect_words(LT_STR("abc\xC3\xA9"), LT_MCP_HEAD, 4, none, "abc...");
  expect_words(LT_STR("\xC3\xA9xyz"), LT_MCP_TAIL, 4, none, "...xyz");
  expect_words(LT_STR("first line\nsecond line\nlast"), LT_MCP_TAIL, 18, none, "...second line\nlast");
  expect_words(LT_STR("one\n"), LT_MCP_TAIL, 99, none, "one");
  expect_words(LT_STR("abc123 longer-value true abc123"), LT_MCP_HEAD, 99, some, "*** *** true ***");
  expect_words(LT_STR("a\x1b[0mbc123"), LT_MCP_HEAD, 99, some, "***");
  expect_words(LT_STR("xxxxlonger-value"), LT_MCP_TAIL, 6, some, "...xxx***");
  assert_int_equal(lt_secrets_add(some, LT_STR("key\tin\r\nparts")), LT_OK);
  expect_words(LT_STR("<key\tin\r\nparts>"), LT_MCP_HEAD, 99, some, "<***>");
  lt_secrets_free(some);
}

/* Two calls in flight, one line lost: whose it was is known when the other one has been answered. */
static void test_lost_line(void **state) {
  (void)state;
  lt_loop *loop;
  assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
  lt_mcp_requests calls;
  lt_mcp_request a = {0};
  lt_mcp_request b = {0};
  lt_mcp_request c = {0};
  lt_mcp_requests_init(&calls, loop);
  lt_mcp_requests_enter(&calls, &a);
  lt_mcp_requests_enter(&calls, &b);
  assert_false(lt_mcp_requests_lost_line(&calls, "over 64 MiB"));
  assert_false(a.done || b.done);
  lt_mcp_requests_enter(&calls, &c); /* asked later: not a suspect */
  lt_mcp_result line = {0};
  lt_arena_init(&line.arena, LT_MIB);
  lt_str text = LT_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
  assert_int_equal(lt_json_parse(&line.arena, text, &line.doc, NULL), LT_OK);
  lt_mcp_message m = lt_mcp_message_read(lt_json_root(&line.doc));
  assert_int_equal(lt_mcp_requests_answer(&calls, &m, &line, NULL), LT_MCP_ANSWERED);
  assert_true(a.done && a.status == LT_OK);
  assert_true(b.done && b.status == LT_E_LIMIT && strstr(b.err.msg, "over 64 MiB"));
  assert_false(c.done);
  lt_mcp_requests_leave(&calls, &c);
  lt_mcp_result_release(&a.answer);
  lt_arena_release(&line.arena);
  lt_loop_free(loop);
}

/* One page, a call and a server's words, with memory for `n` allocations: true when all went well. */
static bool use_memory(lt_json page, long n) {
  lt_mcp_list list;
  lt_str cursor = LT_STR_NULL;
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_mcp_list_init(&list);
  lt_buf_init(&out, LT_KIB);
  lt_secrets *secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(secrets, LT_STR("secret")), LT_OK);
  lt_mem_fail_at(n);
  lt_status status = lt_mcp_list_add_page(&list, page, &cursor, &err);
  lt_mcp_write_call(&out, 1, &old, LT_STR("t"), LT_STR("{\n}"), &nothing);
  lt_mcp_peer_text_add(&out, LT_STR("top secret"), LT_MCP_TAIL, 99, secrets);
  bool failed = lt_mem_failed();
  lt_mem_fail_at(-1);
  assert_true(status == LT_OK ? cursor.n > 0 && list.count == 2 : status == LT_E_NOMEM && err.msg[0]);
  if (out.p) {
    assert_null(strstr(out.p, "secret")); /* memory or not */
  }
  lt_secrets_free(secrets);
  lt_buf_release(&out);
  lt_mcp_list_release(&list);
  return !failed;
}

static void test_without_memory(void **state) {
  (void)state;
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, LT_MIB);
  lt_str text = LT_STR("{\"tools\":[{\"name\":\"a\",\"title\":\"\\n\"},{\"name\":\"b\"}],\"nextCursor\":\"c\"}");
  assert_int_equal(lt_json_parse(&arena, text, &doc, NULL), LT_OK);
  long n = 0;
  while (!use_memory(lt_json_root(&doc), n)) {
    n++;
  }
  assert_true(n > 3);
  lt_arena_release(&arena);
}

static void expect_encoded(lt_str value, const char *want) {
  LT_AUTO_BUF(out, LT_KIB);
  lt_mcp_param_headers_encode(&out, value);
  assert_string_equal(out.p ? out.p : "", want);
}

/* The examples of the specification of 2026-07-28 (Streamable HTTP, Value Encoding). */
static void test_values_in_headers(void **state) {
  (void)state;
  expect_encoded(LT_STR("us-west1"), "us-west1");
  expect_encoded(LT_STR("Hello, \xE4\xB8\x96\xE7\x95\x8C"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  expect_encoded(LT_STR(" padded "), "=?base64?IHBhZGRlZCA=?=");
  expect_encoded(LT_STR("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  expect_encoded(LT_STR("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

static void test_parameters_in_headers(void **state) {
  (void)state;
  const char *why = NULL;
  lt_str schema = LT_STR(
      "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"o\":{\"properties\":{"
      "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"}}},\"gone\":{\"type\":\"boolean\",\"x-mcp-header\":\"G\"}}}");
  LT_AUTO_BUF(out, LT_KIB);
  assert_true(lt_mcp_param_headers_are_valid(schema, &why));
  lt_mcp_param_headers_add(&out, schema, LT_STR("{\"a\":\"\",\"o\":{\"n\":-7},\"gone\":null,\"n\":1}"));
  assert_string_equal(out.p, "Mcp-Param-A: \nMcp-Param-N: -7\n");
  static const char *const bad[] = {
      "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"b\":{\"type\":\"string\",\"x-mcp-header\":"
      "\"a\"}}}",
      "{\"properties\":{\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}}}",
      "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A:b\"}}}",
      "{\"properties\":{\"a\":{\"items\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}",
      "{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}]}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(lt_mcp_param_headers_are_valid(lt_str_of(bad[i]), &why));
    assert_non_null(why);
  }
}

static void expect_join(const char *base, const char *reference, const char *want) {
  LT_AUTO_BUF(out, LT_KIB);
  lt_mcp_url_join(lt_str_of(base), lt_str_of(reference), &out);
  assert_string_equal(out.p, want);
}

static void test_addresses(void **state) {
  (void)state;
  expect_join("http://a:1/x/y?q", "/m?s=1", "http://a:1/m?s=1");
  expect_join("http://a:1/x/y?q", "m", "http://a:1/x/m");
  expect_join("http://a:1/x/y?q", "?s", "http://a:1/x/y?s");
  expect_join("https://a", "m", "https://a/m");
  expect_join("https://a/x", "//b/m", "https://b/m");
  expect_join("https://a/x", "http://b/m", "http://b/m");
  assert_true(lt_mcp_url_same_origin(LT_STR("https://A/x"), LT_STR("https://a:443/y")));
  assert_false(lt_mcp_url_same_origin(LT_STR("https://a/x"), LT_STR("http://a/x")));
  assert_false(lt_mcp_url_same_origin(LT_STR("https://a/x"), LT_STR("https://a.b/x")));
  assert_false(lt_mcp_url_same_origin(LT_STR("https://a/x"), LT_STR("https://a@b/x")));
  assert_true(lt_mcp_url_is_loopback(LT_STR("http://127.0.0.1:80/")));
  assert_true(lt_mcp_url_is_loopback(LT_STR("http://localhost/")));
  assert_true(lt_mcp_url_is_loopback(LT_STR("http://[::1]:7/")));
  assert_false(lt_mcp_url_is_loopback(LT_STR("http://127.0.0.1.example.com/")));
  assert_false(lt_mcp_url_is_loopback(LT_STR("http://localhost.example.com/")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_call_on_the_wire),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_lost_line),
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_values_in_headers),
      cmocka_unit_test(test_parameters_in_headers),
      cmocka_unit_test(test_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
