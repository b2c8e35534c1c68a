/* Lines out of a stream in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/lines.h"

/* Takes what is ready, each as "line|"; "<over>|" and "<end>|" for the rest. */
static void drain(lt_lines *lines, lt_buf *out) {
  for (;;) {
    lt_str line;
    bool ready = lt_lines_ready(lines);
    lt_lines_got got = lt_lines_next(lines, &line);
    assert_int_equal(ready, got != LT_LINES_MORE);
    switch (got) {
      case LT_LINES_MORE:
        return;
      case LT_LINES_LINE:
        lt_buf_add(out, line);
        break;
      case LT_LINES_OVER:
        lt_buf_addc(out, "<over>");
        break;
      case LT_LINES_END:
        lt_buf_addc(out, "<end>|");
        return;
    }
    lt_buf_byte(out, '|');
  }
}

static void feed(lt_lines *lines, lt_str bytes) {
  while (bytes.n > 0) {
    size_t room;
    char *to = lt_lines_reserve(lines, &room);
    assert_non_null(to);
    size_t n = bytes.n < room ? bytes.n : room;
    memcpy(to, bytes.p, n);
    lt_lines_commit(lines, n);
    bytes = lt_str_sub(bytes, n, bytes.n);
  }
}

/* Feeds `input` in pieces of `step` bytes, 0: of random sizes; `lazy` takes nothing out before the end. */
static void expect_cut(lt_str input, size_t line_max, size_t step, bool lazy, const char *want, size_t want_n) {
  lt_lines lines;
  lt_buf out;
  lt_lines_init(&lines, line_max);
  lt_buf_init(&out, 4 * LT_MIB);
  for (size_t at = 0; at < input.n;) {
    size_t n = step != 0 ? step : (size_t)(rand() % 7 + 1);
    feed(&lines, lt_str_sub(input, at, at + n));
    at += n;
    if (!lazy) {
      drain(&lines, &out);
    }
  }
  lt_lines_end(&lines);
  drain(&lines, &out);
  assert_int_equal(out.status, LT_OK);
  assert_int_equal(out.n, want_n);
  assert_memory_equal(out.p, want, want_n);
  lt_buf_release(&out);
  lt_lines_release(&lines);
}

static void expect(lt_str input, size_t line_max, lt_str want) {
  expect_cut(input, line_max, input.n + 1, false, want.p, want.n);
  expect_cut(input, line_max, 1, false, want.p, want.n);
  for (int i = 0; i < 20; i++) {
    expect_cut(input, line_max, 0, false, want.p, want.n);
  }
}

static void cuts_lines(void **state) {
  (void)state;
  expect(LT_STR(""), 10, LT_STR("<end>|"));
  expect(LT_STR("\n"), 10, LT_STR("|<end>|"));
  expect(LT_STR("a\nbc\r\n\r\n\nd"), 10, LT_STR("a|bc|||d|<end>|"));
  expect(LT_STR("one\ntwo\n"), 10, LT_STR("one|two|<end>|"));
  expect(LT_STR("a\rb\r\r\n"), 10, LT_STR("a\rb\r|<end>|"));
  expect(LT_STR("\r"), 10, LT_STR("|<end>|"));
}

static void nul_bytes_are_data(void **state) {
  (void)state;
  expect(LT_STR("a\0b\n\0\n\0"), 10, LT_STR("a\0b|\0|\0|<end>|"));
}

static void long_lines_are_dropped_and_said_so_once(void **state) {
  (void)state;
  expect(LT_STR("12345\nok\n"), 5, LT_STR("12345|ok|<end>|"));
  expect(LT_STR("12345\r\nok\n"), 5, LT_STR("12345|ok|<end>|"));
  expect(LT_STR("123456\nok\n"), 5, LT_STR("<over>|ok|<end>|"));
  expect(LT_STR("123456\r\nok\n"), 5, LT_STR("<over>|ok|<end>|"));
  expect(LT_STR("x\n1234567890123\nok\n1234567\n"), 5, LT_STR("x|<over>|ok|<over>|<end>|"));
  expect(LT_STR("1234567890123"), 5, LT_STR("<over>|<end>|"));
  expect(LT_STR("123456"), 5, LT_STR("<over>|<end>|"));
  expect(LT_STR("12345"), 5, LT_STR("12345|<end>|"));
  expect(LT_STR("x\n\ny\n"), 0, LT_STR("<over>||<over>|<end>|"));
}

/* The report does not wait for a newline that may never come. */
static void a_flood_is_reported_before_it_ends(void **state) {
  (void)state;
  lt_lines lines;
  lt_str line;
  lt_lines_init(&lines, 100);
  for (int i = 0; i < 1000; i++) {
    feed(&lines, LT_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_int_equal(lt_lines_next(&lines, &line), i == 2 ? LT_LINES_OVER : LT_LINES_MORE);
    assert_true(lines.cap <= 4 * LT_PROC_READ_BYTES);
  }
  lt_lines_release(&lines);
}

static void many_lines_survive_moving(void **state) {
  (void)state;
  lt_buf input, want;
  lt_buf_init(&input, 4 * LT_MIB);
  lt_buf_init(&want, 4 * LT_MIB);
  for (int i = 0; i < 3000; i++) {
    for (int k = rand() % 400; k >= 0; k--) {
      lt_buf_byte(&input, (char)('a' + i % 26));
      lt_buf_byte(&want, (char)('a' + i % 26));
    }
    lt_buf_addc(&input, i % 3 == 0 ? "\r\n" : "\n");
    lt_buf_byte(&want, '|');
  }
  lt_buf_addc(&want, "<end>|");
  expect_cut(lt_buf_view(&input), 500, 60000, false, want.p, want.n);
  expect_cut(lt_buf_view(&input), 500, 997, false, want.p, want.n);
  expect_cut(lt_buf_view(&input), 500, 4096, true, want.p, want.n); /* nobody asks until the end */
  lt_buf_release(&input);
  lt_buf_release(&want);
}

/* 64 MiB in pieces of 4 KiB: a search from the start each time would be 500 GB of looking. */
static void a_long_line_is_searched_once_and_its_memory_given_back(void **state) {
  (void)state;
  lt_lines lines;
  lt_str line, piece;
  static char block[4096];
  memset(block, 'x', sizeof block);
  piece = lt_str_from(block, sizeof block);
  lt_lines_init(&lines, 64 * LT_MIB);
  for (size_t n = 0; n < 64 * LT_MIB; n += sizeof block) {
    feed(&lines, piece);
    assert_false(lt_lines_ready(&lines));
  }
  feed(&lines, LT_STR("\nshort\n"));
  assert_int_equal(lt_lines_next(&lines, &line), LT_LINES_LINE);
  assert_int_equal(line.n, 64 * LT_MIB);
  assert_int_equal(lt_lines_next(&lines, &line), LT_LINES_LINE);
  assert_true(lt_str_eqc(line, "short"));
  feed(&lines, LT_STR("next\n"));
  assert_true(lines.cap <= LT_PROC_LINES_KEEP_BYTES);
  lt_lines_release(&lines);
}

static void without_memory_nothing_is_lost(void **state) {
  (void)state;
  lt_lines lines;
  lt_str line;
  size_t room;
  lt_lines_init(&lines, LT_MIB);
  lt_mem_fail_at(0);
  assert_null(lt_lines_reserve(&lines, &room));
  feed(&lines, LT_STR("kept"));
  for (size_t n = 0; n < LT_PROC_READ_BYTES; n += 8) {
    feed(&lines, LT_STR("12345678"));
    if (lines.cap - lines.end < LT_PROC_READ_BYTES / 2) {
      break;
    }
  }
  lt_mem_fail_at(0);
  assert_null(lt_lines_reserve(&lines, &room));
  lt_mem_fail_at(-1);
  size_t before = lines.end;
  feed(&lines, LT_STR("\n"));
  assert_int_equal(lt_lines_next(&lines, &line), LT_LINES_LINE);
  assert_int_equal(line.n, before);
  assert_true(lt_str_starts(line, LT_STR("kept1234")));
  lt_lines_release(&lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cuts_lines),
      cmocka_unit_test(nul_bytes_are_data),
      cmocka_unit_test(long_lines_are_dropped_and_said_so_once),
      cmocka_unit_test(a_flood_is_reported_before_it_ends),
      cmocka_unit_test(many_lines_survive_moving),
      cmocka_unit_test(a_long_line_is_searched_once_and_its_memory_given_back),
      cmocka_unit_test(without_memory_nothing_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
