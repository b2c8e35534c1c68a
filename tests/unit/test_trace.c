/* Trace contexts, samplers, addresses, and spans as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/otlp.h"
#include "trace/sampler.h"
#include "trace/server_address.h"

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static lt_trace_context read_parent(const char *parent, const char *state) {
  lt_trace_context context;
  (void)lt_trace_context_read(lt_str_of(parent), lt_str_of(state), &context);
  return context;
}

/* --- traceparent -------------------------------------------------------------------------------------------------- */
static void test_parent_comes_back(void **state) {
  (void)state;
  static const char *const parents[] = {PARENT, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"};
  for (size_t i = 0; i < 2; i++) {
    char text[LT_TRACE_PARENT_LENGTH + 1];
    lt_trace_context context = read_parent(parents[i], "a=1, b=2");
    assert_true(lt_trace_context_has_span(&context) && context.is_remote);
    lt_trace_context_print(&context, text);
    assert_string_equal(text, parents[i]);
    assert_true(lt_str_eqc(context.state, "a=1, b=2"));
    assert_int_equal(lt_trace_context_is_recorded(&context), i == 0);
  }
}

static void test_parent_of_other_versions(void **state) {
  (void)state;
  lt_trace_context context;
  static const char *const good[] = {"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                     "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff"};
  static const char *const bad[] = {"",
                                    "00",
                                    PARENT "-x",
                                    PARENT "0",
                                    "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                    "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what",
                                    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
                                    "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                    " " PARENT};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(lt_trace_context_read(lt_str_of(good[i]), LT_STR_NULL, &context));
    assert_true(context.is_sampled);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(lt_trace_context_read(lt_str_of(bad[i]), LT_STR("a=1"), &context));
    assert_false(lt_trace_context_is_set(&context));
  }
}

/* Every cut and every changed byte: read without touching what lies behind, and what is taken prints to what came. */
static void test_parent_cut_and_changed(void **state) {
  (void)state;
  for (size_t n = 0; n <= LT_TRACE_PARENT_LENGTH; n++) {
    char *copy = malloc(n + (n == 0)); /* its end is the block's, for ASan */
    lt_trace_context context;
    memcpy(copy, PARENT, n);
    assert_int_equal(lt_trace_context_read(lt_str_from(copy, n), LT_STR_NULL, &context), n == LT_TRACE_PARENT_LENGTH);
    free(copy);
  }
  for (size_t i = 0; i < LT_TRACE_PARENT_LENGTH; i++) {
    for (int byte = 0; byte < 256; byte++) {
      char text[LT_TRACE_PARENT_LENGTH + 1] = PARENT, back[LT_TRACE_PARENT_LENGTH + 1];
      lt_trace_context context;
      text[i] = (char)byte;
      if (lt_trace_context_read(lt_str_from(text, LT_TRACE_PARENT_LENGTH), LT_STR_NULL, &context)) {
        lt_trace_context_print(&context, back);
        assert_memory_equal(back + 2, text + 2, 51); /* ids; other versions and flags are not kept */
      }
    }
  }
}

static void test_state_is_bounded(void **state) {
  (void)state;
  static const char *const bad[] = {"a",          "=1",          "A=1",  "a=",    "a=b=c",
                                    "a=\xc3\xa4", "a=1\r\nx: y", "a=\n", "a b=1", "a=\x7f"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(read_parent(PARENT, bad[i]).state.n, 0);
  }
  char text[LT_TRACE_STATE_BYTES + 2] = "a=";
  memset(text + 2, 'x', 200);
  assert_int_equal(read_parent(PARENT, text).state.n, 202);
  memset(text + 2, 'x', sizeof text - 3);
  assert_int_equal(read_parent(PARENT, text).state.n, 0);
  assert_true(lt_str_eqc(read_parent(PARENT, "rojo=00f067aa0ba902b7,,congo=t61rcWkgMzE,1a/b@c=x y").state,
                         "rojo=00f067aa0ba902b7,,congo=t61rcWkgMzE,1a/b@c=x y"));
}

static void test_children(void **state) {
  (void)state;
  lt_trace_context parent = read_parent(PARENT, "a=1"), nothing = {.is_sampled = false};
  lt_trace_context child = lt_trace_context_child(&parent), other = lt_trace_context_child(&parent);
  assert_memory_equal(child.trace_id, parent.trace_id, LT_TRACE_ID_BYTES);
  assert_memory_not_equal(child.span_id, parent.span_id, LT_SPAN_ID_BYTES);
  assert_memory_not_equal(child.span_id, other.span_id, LT_SPAN_ID_BYTES);
  assert_true(child.is_sampled && !child.is_remote && lt_str_eqc(child.state, "a=1"));
  child = lt_trace_context_child(&nothing);
  assert_false(lt_trace_context_is_set(&child));
  child = lt_trace_context_child(NULL);
  assert_false(lt_trace_context_is_set(&child));
}

/* --- Samplers ----------------------------------------------------------------------------------------------------- */
static void test_sampler_names(void **state) {
  (void)state;
  static const struct {
    const char *name, *argument;
    bool is_known, is_parent_based;
    double ratio;
  } cases[] = {
      {"", "", true, true, 1},
      {"always_on", "x", true, false, 1},
      {"always_off", "", true, false, 0},
      {"traceidratio", "0.25", true, false, 0.25},
      {"traceidratio", "", true, false, 1},
      {"parentbased_always_on", "", true, true, 1},
      {"parentbased_always_off", "", true, true, 0},
      {"parentbased_traceidratio", "0", true, true, 0},
      {"traceidratio", "1.5", false, true, 1},
      {"traceidratio", "-1", false, true, 1},
      {"traceidratio", "nan", false, true, 1},
      {"traceidratio", "0.5x", false, true, 1},
      {"jaeger_remote", "", false, true, 1},
      {"Always_On", "", false, true, 1},
      {"parentbased_", "", false, true, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lt_sampler sampler;
    assert_int_equal(lt_sampler_read(lt_str_of(cases[i].name), lt_str_of(cases[i].argument), &sampler),
                     cases[i].is_known);
    assert_int_equal(sampler.is_parent_based, cases[i].is_parent_based);
    assert_true(sampler.ratio > cases[i].ratio - 1e-9 && sampler.ratio < cases[i].ratio + 1e-9);
  }
}

static void test_sampler_ratio(void **state) {
  (void)state;
  const lt_sampler sampler = {.ratio = 0.25};
  unsigned taken = 0;
  for (unsigned i = 0; i < 4000; i++) {
    lt_trace_context root = lt_sampler_begin(&sampler, NULL);
    assert_true(lt_trace_context_is_set(&root) && !lt_trace_context_has_span(&root));
    assert_int_equal(root.is_sampled, lt_sampler_takes(&sampler, NULL, root.trace_id)); /* the id decides */
    taken += root.is_sampled;
  }
  assert_in_range(taken, 800, 1200);
  lt_trace_context none = lt_sampler_begin(NULL, NULL);
  assert_false(lt_trace_context_is_set(&none));
}

static void test_sampler_follows_parent(void **state) {
  (void)state;
  lt_trace_context on = read_parent(PARENT, ""), off = on;
  off.is_sampled = false;
  const lt_sampler follows = {.is_parent_based = true, .ratio = 0}, always = {.ratio = 1};
  assert_true(lt_sampler_begin(&follows, &on).is_sampled);
  assert_false(lt_sampler_begin(&follows, &off).is_sampled);
  assert_false(lt_sampler_begin(&follows, NULL).is_sampled);
  assert_true(lt_sampler_begin(&always, &off).is_sampled);
}

/* --- Addresses ---------------------------------------------------------------------------------------------------- */
static void test_addresses(void **state) {
  (void)state;
  static const struct {
    const char *url, *host;
    unsigned port;
  } cases[] = {
      {"http://127.0.0.1:4318/v1/traces", "127.0.0.1", 4318},
      {"https://a.example", "a.example", 443},
      {"HTTP://a.example/x:1?y#z", "a.example", 80},
      {"http://u:p@h:1/", "h", 1},
      {"http://[::1]:8080/x", "::1", 8080},
      {"https://[::1]", "::1", 443},
      {"http://a?b@c", "a", 80},
  };
  static const char *const bad[] = {
      "",           "http://",        "ftp://a",     "http://:1",     "http://a:", "http://a:0",
      "http://a:x", "http://a:65536", "http://[::1", "http://[::1]x", "//a",       "http://a:99999999999"};
  lt_str host;
  unsigned port;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_true(lt_server_address_read(lt_str_of(cases[i].url), &host, &port));
    assert_true(lt_str_eqc(host, cases[i].host));
    assert_int_equal(port, cases[i].port);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(lt_server_address_read(lt_str_of(bad[i]), &host, &port));
  }
}

/* --- Spans -------------------------------------------------------------------------------------------------------- */
static void put_span(lt_buf *out, lt_str text) {
  lt_otlp_writer w;
  lt_trace_context parent = read_parent(PARENT, "a=1"), self = parent;
  lt_trace_context link = parent;
  memset(self.span_id, 1, LT_SPAN_ID_BYTES);
  self.is_remote = link.is_sampled = false;
  const lt_otlp_span span = {.context = &self,
                             .parent = &parent,
                             .link = &link,
                             .name = LT_STR("GET /x"),
                             .kind = LT_SPAN_SERVER,
                             .begin_ns = 1700000000000000001u,
                             .end_ns = UINT64_MAX};
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "text", text);
  lt_otlp_put_text(&w, "empty", LT_STR_NULL);
  lt_otlp_put_int(&w, "int", INT64_MIN);
  lt_otlp_put_bool(&w, "bool", true);
  lt_otlp_put_list(&w, "list", LT_STR("x"));
  lt_otlp_begin_event(&w, "first", 1);
  lt_otlp_begin_event(&w, "second", 2);
  lt_otlp_put_int(&w, "n", 3);
  lt_otlp_end_span(&w, true, LT_STR("why"));
}

static void test_span_text(void **state) {
  (void)state;
  LT_AUTO_BUF(out, LT_KIB * 4);
  put_span(&out, LT_STR("a\"b\xff"));
  assert_int_equal(out.status, LT_OK);
  assert_true(lt_str_eqc(
      lt_buf_view(&out),
      "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"0101010101010101\",\"traceState\":\"a=1\","
      "\"parentSpanId\":\"b7ad6b7169203331\",\"links\":[{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":"
      "\"b7ad6b7169203331\",\"traceState\":\"a=1\",\"flags\":768}],\"flags\":769,\"name\":\"GET "
      "/x\",\"kind\":2,\"startTimeUnixNano\":"
      "\"1700000000000000001\",\"endTimeUnixNano\":\"18446744073709551615\",\"attributes\":[{\"key\":\"text\","
      "\"value\":"
      "{\"stringValue\":\"a\\\"b\xef\xbf\xbd\"}},{\"key\":\"int\",\"value\":{\"intValue\":\"-9223372036854775808\"}},"
      "{\"key\":\"bool\",\"value\":{\"boolValue\":true}},{\"key\":\"list\",\"value\":{\"arrayValue\":{\"values\":[{"
      "\"stringValue\":\"x\"}]}}}],\"events\":[{\"timeUnixNano\":\"1\",\"name\":\"first\",\"attributes\":[]},{"
      "\"timeUnixNano\":\"2\",\"name\":\"second\",\"attributes\":[{\"key\":\"n\",\"value\":{\"intValue\":\"3\"}}]}],"
      "\"status\":{\"code\":2,\"message\":\"why\"}}"));
}

/* A long text is cut in front of a character. */
static void test_span_is_cut(void **state) {
  (void)state;
  LT_AUTO_BUF(text, LT_MIB);
  LT_AUTO_BUF(out, LT_MIB);
  lt_buf_byte(&text, 'x');
  while (text.n < 2 * LT_TRACE_TEXT_BYTES) {
    lt_buf_addc(&text, "\xe2\x82\xac");
  }
  put_span(&out, lt_buf_view(&text));
  assert_int_equal(lt_json_check(lt_buf_view(&out), NULL), LT_OK);
  assert_true(out.n < LT_TRACE_TEXT_BYTES + LT_KIB);
  assert_int_equal(lt_str_find(lt_buf_view(&out), LT_STR("\xef\xbf\xbd"), 0), SIZE_MAX);
}

/* Without memory, or room, the buffer says so; with it, the request is whole. */
static void test_span_without_memory(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    lt_buf span, out;
    lt_buf_init(&span, LT_MIB);
    lt_buf_init(&out, LT_MIB);
    lt_mem_fail_at(n);
    put_span(&span, LT_STR("x"));
    lt_otlp_put_request(&out, LT_STR("[]"), lt_buf_view(&span));
    bool has_failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    bool is_whole = span.status == LT_OK && out.status == LT_OK;
    assert_true(is_whole == !has_failed);
    assert_true(!is_whole || lt_json_check(lt_buf_view(&out), NULL) == LT_OK);
    lt_buf_release(&span);
    lt_buf_release(&out);
    if (!has_failed) {
      assert_true(n > 0);
      break;
    }
  }
  LT_AUTO_BUF(small, 100);
  put_span(&small, LT_STR("x"));
  assert_int_equal(small.status, LT_E_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parent_comes_back),
      cmocka_unit_test(test_parent_of_other_versions),
      cmocka_unit_test(test_parent_cut_and_changed),
      cmocka_unit_test(test_state_is_bounded),
      cmocka_unit_test(test_children),
      cmocka_unit_test(test_sampler_names),
      cmocka_unit_test(test_sampler_ratio),
      cmocka_unit_test(test_sampler_follows_parent),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_span_text),
      cmocka_unit_test(test_span_is_cut),
      cmocka_unit_test(test_span_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
