/* Messages of the language server protocol out of a stream in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "runner/typecheck/lsp_frame.h"

#define BODY_MAX 64

/* Feeds the stream in pieces of `step` bytes (0: random ones): every body as "body|", then "<bad>" or nothing. */
static void expect_cut(lt_str stream, size_t step, const char *want) {
  lt_lsp_frame frame;
  LT_AUTO_BUF(out, LT_KIB);
  lt_lsp_frame_init(&frame, BODY_MAX);
  bool is_bad = false;
  for (size_t at = 0; at < stream.n && !is_bad;) {
    size_t n = step != 0 ? step : (size_t)(rand() % 7 + 1);
    lt_str piece = lt_str_sub(stream, at, at + n), body;
    at += n;
    lt_lsp_frame_got got;
    while ((got = lt_lsp_frame_next(&frame, &piece, &body)) == LT_LSP_FRAME_BODY) {
      lt_buf_add(&out, body);
      lt_buf_byte(&out, '|');
    }
    is_bad = got == LT_LSP_FRAME_BAD;
    assert_true(is_bad || piece.n == 0);
  }
  lt_buf_addc(&out, is_bad ? "<bad>" : "");
  lt_lsp_frame_release(&frame);
  assert_int_equal(out.n, strlen(want));
  assert_memory_equal(out.p != NULL ? out.p : "", want, out.n);
}

static void expect(const char *stream, const char *want) {
  static const size_t steps[] = {1, 2, 3, 5, 1000, 0, 0, 0};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    expect_cut(lt_str_of(stream), steps[i], want);
  }
}

static void test_messages(void **state) {
  (void)state;
  expect("", "");
  expect("Content-Length: 2\r\n\r\n{}", "{}|");
  expect("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n{\n}", "{}|{\n}|");
  expect("content-length:2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n[]", "[]|");
  expect("Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", "|1|");
  expect("Content-Length: 2\n\n{}", "{}|");
  expect("Content-Length: 5\r\n\r\n{}", "");
}

static void test_other_streams(void **state) {
  (void)state;
  expect("hello\n", "<bad>");
  expect("\r\n", "<bad>");
  expect("Content-Type: x\r\n\r\n", "<bad>");
  expect("Content-Length: \r\n", "<bad>");
  expect("Content-Length: -1\r\n", "<bad>");
  expect("Content-Length: 2x\r\n", "<bad>");
  expect("Content-Length: 65\r\n", "<bad>");
  expect("Content-Length: 99999999999999999999999999\r\n", "<bad>");
  expect("Content-Length: 1\r\n\r\n1oops\n", "1|<bad>");
}

static void test_a_line_without_an_end(void **state) {
  (void)state;
  char stream[LT_LSP_FRAME_HEADER_BYTES + 2];
  memset(stream, 'a', sizeof stream);
  stream[sizeof stream - 1] = '\0';
  expect(stream, "<bad>");
}

static void test_no_memory(void **state) {
  (void)state;
  lt_lsp_frame frame;
  lt_str bytes = LT_STR("Content-Length: 2\r\n\r\n{}"), body;
  lt_lsp_frame_init(&frame, BODY_MAX);
  lt_mem_fail_at(0);
  lt_lsp_frame_got got = lt_lsp_frame_next(&frame, &bytes, &body);
  lt_mem_fail_at(-1);
  assert_int_equal(got, LT_LSP_FRAME_BAD);
  lt_lsp_frame_release(&frame);
}

static void test_put(void **state) {
  (void)state;
  LT_AUTO_BUF(out, LT_KIB);
  lt_lsp_frame_put(&out, LT_STR("{\"a\":1}"));
  assert_string_equal(out.p, "Content-Length: 7\r\n\r\n{\"a\":1}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_other_streams),
      cmocka_unit_test(test_a_line_without_an_end),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_put),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
