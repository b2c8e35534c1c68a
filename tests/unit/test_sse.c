/* Server-sent events: the specification's examples, every cut, ceilings, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/sse.h"

/* All events as text: "event|data|id;". */
static void drain(lt_sse *sse, lt_buf *out) {
  lt_sse_event e;
  while (lt_sse_next(sse, &e)) {
    lt_buf_add(out, e.event);
    lt_buf_byte(out, '|');
    lt_buf_add(out, e.data);
    lt_buf_byte(out, '|');
    lt_buf_add(out, e.id);
    lt_buf_byte(out, ';');
  }
}

/* In pieces of `step` bytes, the first of `first`. */
static lt_status read_in(lt_str stream, size_t first, size_t step, size_t max, lt_buf *out, int64_t *ret_retry) {
  lt_sse sse;
  lt_sse_init(&sse, max);
  lt_status status = LT_OK;
  for (size_t at = 0; at < stream.n && status == LT_OK;) {
    size_t n = at == 0 ? first : step;
    status = lt_sse_add(&sse, lt_str_sub(stream, at, at + n));
    drain(&sse, out);
    at += n;
  }
  status = status == LT_OK ? lt_sse_add(&sse, LT_STR_NULL) : status;
  *ret_retry = sse.retry_ms;
  lt_sse_release(&sse);
  return status;
}

static void expect_with(lt_str stream, const char *want, int64_t want_retry) {
  for (size_t first = 1; first <= stream.n; first++) {
    for (size_t step = 1; step <= stream.n; step = step == 1 ? 3 : stream.n * step) {
      lt_buf out;
      int64_t retry;
      lt_buf_init(&out, 100000);
      assert_int_equal(read_in(stream, first, step, 1000, &out, &retry), LT_OK);
      assert_string_equal(out.p != NULL ? out.p : "", want);
      assert_int_equal(retry, want_retry);
      lt_buf_release(&out);
    }
  }
}

#define EXPECT(stream, want) expect_with(LT_STR(stream), want, -1)

static void test_examples(void **state) {
  (void)state;
  /* section 9.2.6 */
  EXPECT("data: YHOO\ndata: +2\ndata: 10\n\n", "|YHOO\n+2\n10|;");
  EXPECT(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
         "|first event|1;|second event|;| third event|;");
  EXPECT("data\n\ndata\ndata\n\ndata:", "||;|\n|;");
  EXPECT("data:test\n\ndata: test\n\n", "|test|;|test|;");
  EXPECT("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n", "add|73857293|;remove|2153|;");
}

static void test_lines(void **state) {
  (void)state;
  EXPECT("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", "|a\nb|;|c|;");
  EXPECT("data: a\rdata: b\r\rdata: c\r\r", "|a\nb|;|c|;");
  EXPECT("data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", "|a|;|b|;|c|;");
  EXPECT(
      "\xEF\xBB\xBF"
      "data: mark\n\n\xEF\xBB\xBF"
      "data: none\n\n",
      "|mark|;");
  EXPECT("\n\n\r\r\r\n\ndata: x\n\n", "|x|;");
  EXPECT("data: not ended\n", "");
  EXPECT("data: not ended", "");
}

static void test_fields(void **state) {
  (void)state;
  EXPECT("event: gone\n\ndata: x\n\n", "|x|;"); /* no data: no event, and its name is forgotten */
  EXPECT("id: 5\ndata: a\n\ndata: b\n\nid: 6\n\ndata: c\n\n", "|a|5;|b|5;|c|6;");
  EXPECT("unknown: 1\nDATA: 2\n data: 3\ndata : 4\ndata: 5\n\n", "|5|;");
  EXPECT("data: a:b: c\n\n", "|a:b: c|;");
  EXPECT("id: a\0b\ndata: x\n\n", "|x|;");
  expect_with(LT_STR("retry: 250\n\n"), "", 250);
  expect_with(LT_STR("retry: 250\nretry: 1x\nretry:\nretry: -1\n\n"), "", 250);
  expect_with(LT_STR("retry: 99999999999999999999999999\n\n"), "", -1);
}

static void test_nul(void **state) {
  (void)state;
  lt_sse sse;
  lt_sse_event e;
  lt_sse_init(&sse, 100);
  assert_int_equal(lt_sse_add(&sse, LT_STR("data: a\0b\n\n")), LT_OK);
  assert_true(lt_sse_next(&sse, &e));
  assert_true(lt_str_eq(e.data, LT_STR("a\0b")));
  lt_sse_release(&sse);
}

static lt_status status_of(lt_str stream, size_t step, size_t max) {
  lt_buf out;
  int64_t retry;
  lt_buf_init(&out, 100000);
  lt_status status = read_in(stream, step, step, max, &out, &retry);
  lt_buf_release(&out);
  return status;
}

static void test_ceiling(void **state) {
  (void)state;
  for (size_t step = 1; step < 40; step++) {
    /* one line, several lines, an id, and a line that never ends */
    assert_int_equal(status_of(LT_STR("data: 0123456789\n\n"), step, 20), LT_OK);
    assert_int_equal(status_of(LT_STR("data: 0123456789\n\n"), step, 9), LT_E_LIMIT);
    assert_int_equal(status_of(LT_STR("data: 01234\ndata: 01234\ndata: 01234\n\n"), step, 12), LT_E_LIMIT);
    assert_int_equal(status_of(LT_STR("data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n"), step, 8), LT_OK);
  }
  assert_int_equal(status_of(LT_STR("data: 0123456789012345678901234567890123456789"), 1, 9), LT_E_LIMIT);
}

/* A comment needs no memory, however long it is, and is counted. */
static void test_endless_comment(void **state) {
  (void)state;
  lt_sse sse;
  lt_sse_event e;
  lt_sse_init(&sse, 100);
  assert_int_equal(lt_sse_add(&sse, LT_STR("data: a\n\n:")), LT_OK);
  assert_true(lt_sse_next(&sse, &e));
  for (int i = 0; i < 1000; i++) {
    assert_false(lt_sse_next(&sse, &e));
    assert_int_equal(lt_sse_add(&sse, LT_STR(":data: x; data: y; ")), LT_OK);
  }
  assert_false(lt_sse_next(&sse, &e));
  assert_int_equal(sse.read, 9 + 19 * 1000);
  assert_true(sse.bytes.n < 30);
  assert_int_equal(lt_sse_add(&sse, LT_STR("\ndata: b\n\n")), LT_OK);
  assert_true(lt_sse_next(&sse, &e));
  assert_true(lt_str_eqc(e.data, "b"));
  lt_sse_release(&sse);
}

static void test_no_memory(void **state) {
  (void)state;
  lt_str stream = LT_STR(
      "event: e\nid: 7\ndata: some text that is longer than what fits at first, so that it must grow "
      "in the middle of it\ndata: more\n\n");
  for (long n = 0;; n++) {
    lt_mem_fail_at(n);
    lt_status status = status_of(stream, 16, 1000);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      break;
    }
    assert_true(status == LT_E_NOMEM || status == LT_OK /* it was the test's own buffer */);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples),        cmocka_unit_test(test_lines),
      cmocka_unit_test(test_fields),          cmocka_unit_test(test_nul),
      cmocka_unit_test(test_ceiling),         cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_endless_comment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
